"""What every process of the proxy needs: an event loop, a way to be asked to stop, a quiet garbage collector."""

import asyncio
import gc
import signal
from collections.abc import Callable
from contextlib import suppress

YOUNG_OBJECTS = 20_000
"""Python looks for garbage after this many new objects. Its default of 700 is a tenth of one request of an agent."""


class CannotStart(Exception):
    """Its words are for whoever starts the proxy: why it cannot, and what to do."""


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # not made for every platform; asyncio's own loop costs a tenth more per chunk
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def asked_to_stop() -> asyncio.Event:
    """Returns an event that the first signal sets. A second signal ends the process at once."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def ask(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, ask, number)
    return stop


def spare_the_collector() -> None:
    """Freezes what was made at the start, so that the collector does not walk it again and again, and lets it run less
    often, because one large request would start it several times. Both save a quarter of the cost of such a request."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, 10)
