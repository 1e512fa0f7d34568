"""All that is under way in this process, and how it comes to its end."""

import asyncio
from operator import attrgetter

from proxy.shell.in_flight import InFlight
from proxy.shell.watching.watch import Watch

CLOSING_SECONDS = 3.0
"""For interrupted streams to tell their clients why."""


class UnderWay:
    def __init__(self) -> None:
        self._requests: set[InFlight] = set()
        self._idle: asyncio.Event | None = None
        """Only while somebody waits for the end of all."""
        self._patience: asyncio.Timeout | None = None
        """While they may go on."""
        self._hurries = False

    def watches(self) -> list[Watch]:
        """Of those requests that are watched, in the order in which they began."""
        live = [request.seen() for request in self._requests if request.attempts is not None]
        return sorted(live, key=attrgetter("began"))

    def add(self, in_flight: InFlight) -> None:
        self._requests.add(in_flight)

    def ended(self, in_flight: InFlight) -> None:
        self._requests.discard(in_flight)
        if self._idle is not None and not self._requests:
            self._idle.set()

    async def drain(self, seconds: float) -> None:
        """Lets what is under way come to its end. What does not in time is told why it ends (F74), and whoever does
        not take even that is cut off."""
        self._idle = asyncio.Event()
        if not self._requests:
            return
        for patience, end in (
            (0 if self._hurries else seconds, InFlight.stop),
            (CLOSING_SECONDS, InFlight.cut),
        ):
            try:
                async with asyncio.timeout(patience) as limit:
                    self._patience = limit if end is InFlight.stop else None
                    await self._idle.wait()
            except TimeoutError:
                for in_flight in list(self._requests):
                    end(in_flight)

    def hurry(self) -> None:
        """What is under way has no more time."""
        self._hurries = True
        if self._patience is not None:
            self._patience.reschedule(asyncio.get_running_loop().time())
