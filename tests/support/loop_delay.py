"""How long the event loop was held at a time, by the processor's clock: the rest of the machine does not count."""

import asyncio
import gc
import http.client
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from proxy.core import jsontext

TICK_SECONDS = 0.001


class LoopDelay:
    def __init__(self) -> None:
        self.longest = 0.0
        self._loop = asyncio.get_running_loop()
        self._last = time.thread_time()
        self._timer = self._loop.call_soon(self._tick)

    def _tick(self) -> None:
        now = time.thread_time()
        self.longest = max(self.longest, now - self._last)
        self._last = now
        self._timer = self._loop.call_later(TICK_SECONDS, self._tick)

    def stop(self) -> None:
        self._tick()
        self._timer.cancel()


@asynccontextmanager
async def watching() -> AsyncIterator[LoopDelay]:
    gc.collect()  # what the tests before have left is not this one's; all that was imported is frozen (see conftest)
    watch = LoopDelay()
    try:
        yield watch
    finally:
        watch.stop()


async def post_aside(url: str, body: bytes, **headers: str) -> tuple[int, dict[str, object]]:
    """Status and answer. The client works in a thread, so that only the proxy's work is watched."""
    return await asyncio.to_thread(_post, urlsplit(url), body, headers)


def _post(url: object, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)  # type: ignore[attr-defined]
    try:
        told = {"Content-Type": "application/json"} | headers
        connection.request("POST", url.path, body, told)  # type: ignore[attr-defined]
        response = connection.getresponse()
        return response.status, jsontext.loads(response.read())
    finally:
        connection.close()
