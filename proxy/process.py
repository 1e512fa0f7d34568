"""What every process of ours needs around its work: an event loop, a way to be asked to stop, a quiet collector."""

import asyncio
import gc
import signal
from collections.abc import Callable
from contextlib import suppress

YOUNG_OBJECTS = 20_000
"""New objects after which Python looks for garbage; its own 700 are a tenth of one request of an agent."""


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # not made for every platform; asyncio's own loop costs a tenth more per chunk
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def asked_to_stop() -> asyncio.Event:
    """Set by the first request to stop, which is polite; a second one is obeyed at once."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def ask(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, ask, number)
    return asked


def spare_the_collector() -> None:
    """What was made at the start stays, and need not be walked again and again; and the objects of one large request
    are no reason to look for garbage several times: together a quarter of what such a request costs."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, 10)
