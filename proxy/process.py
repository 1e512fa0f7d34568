"""What every process of the proxy needs: an event loop, a way to be asked to stop, and memory that is looked after in
good time."""

import asyncio
import errno
import gc
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

YOUNG_OBJECTS = 20_000
"""Python looks for garbage after this many new objects. Its default of 700 is a tenth of one request of an agent."""

NEVER_OLDER = 1_000_000
"""The threshold for looks at older objects while modules are imported: it is never reached."""

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""What `mallopt` calls them."""
LARGE_BYTES = 4 << 20
"""An allocation above this is made, and given back, by itself. orjson takes twelve times the length of a text to read
it: 3 MiB for the longest body that no thread reads."""
KEPT_FREE_BYTES = LARGE_BYTES
"""So much stays free at the end of the heap: what reading that body took, or the copies from which the end of a long
answer is made."""


ADVICE = {
    errno.EADDRINUSE: "Choose another port: --port, server.port.",
    errno.EACCES: "Choose a port from 1024 on: --port, server.port.",
}
"""What to do about an address that cannot be bound, by the error of the system. Any other error is about the host."""


class CannotStart(Exception):
    """Its words are for whoever starts the proxy: why it cannot, and what to do."""


class SettingsRefused(CannotStart):
    """The settings ask for what must not be, or cannot be here."""


class CannotListen(CannotStart):
    """The address is in use, or does not belong to this machine."""


class WorkersFailed(Exception):
    """Workers did not start, or did not end as they should."""


def cannot_listen(host: str, port: int, error: OSError) -> CannotListen:
    reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
    advice = ADVICE.get(error.errno or 0, "Choose an address of this machine: --host, server.host.")
    return CannotListen(f"Cannot listen on {host}:{port}: {reason}. {advice}")


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # not made for every platform; asyncio's own loop costs a tenth more per chunk
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def signals_to_stop() -> list[signal.Signals]:
    """A terminal that is closed sends SIGHUP; whoever wants the proxy to outlive it has it ignored, as `nohup` does."""
    signals = [signal.SIGTERM, signal.SIGINT]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    return signals


class Stop:
    """What whoever runs the process asks of it: first to come to its end, then to hurry. A third signal ends it."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.hurry: Callable[[], object] = lambda: None
        """Called when there is no more time. Whoever has something under way sets it."""


def asked_to_stop() -> Stop:
    loop = asyncio.get_running_loop()
    stop, signals = Stop(), signals_to_stop()

    def ask() -> None:
        if stop.asked.is_set():
            for number in signals:
                loop.remove_signal_handler(number)
            stop.hurry()
        stop.asked.set()

    for number in signals:
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, ask)
    return stop


@contextmanager
def importing() -> Iterator[None]:
    """Lets the collector look only once at what imports make, while it is young, because nearly all of it stays. The
    rest is a megabyte: a dataclass with slots is made twice, and the first class is part of reference cycles."""
    young, *others = gc.get_threshold()
    gc.set_threshold(young, NEVER_OLDER)
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(young, *others)


def spare_the_collector() -> None:
    """Freezes what was made at the start, so that the collector does not walk it again and again, and lets it run less
    often, because one large request would start it several times. Both save a quarter of the cost of such a request."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, 10)


def keep_what_is_free() -> None:
    """Lets the allocator keep some memory that is free. glibc gives back what lies free at the end of its heap, and
    takes it again for the next request or answer, page by page: up to an eighth of what a stream of 2,000 chunks costs,
    or a request of 200 KiB."""
    import ctypes

    with suppress(AttributeError, TypeError):  # another library than glibc; Windows
        libc = ctypes.CDLL(None)
        libc.mallopt(TRIM_THRESHOLD, KEPT_FREE_BYTES)
        libc.mallopt(MMAP_THRESHOLD, LARGE_BYTES)  # glibc no longer adapts it by itself
