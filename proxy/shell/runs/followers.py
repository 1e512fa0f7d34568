"""Those who follow the events of runs, wherever these work.

A follower that keeps up with a run of this process is fed with what has just been kept. Everybody else reads: all logs
that are followed in one statement, again and again while there may be more. What waits for one follower is bounded;
beyond it he reads what he has missed when he comes to it, and if it is not there any more, he is cut off, and may come
back.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from proxy.shell.runs.log_writer import RunLog
from proxy.shell.stores.log_ends import READ_BYTES
from proxy.shell.stores.protocol import Cursor, Key, Live, LogExcerpt, StoreDown

POLL_SECONDS: Final = 0.2
SLOW_POLL_SECONDS: Final = 0.5
EMPTY_ROUNDS: Final = 10
"""Rounds without an event, after which a log is polled more slowly."""
MOST_WAITING_BYTES: Final = 1 << 20
"""Bytes that may wait for one follower."""
ALL_WAITING_BYTES: Final = 64 << 20
"""Bytes that may wait for all followers together: where there are many, each has less."""


class Follower:
    def __init__(self, key: Key, next: int, hungers: Callable[["Follower"], None]) -> None:
        self.key = key
        self.next = next
        """The number of the first event that has not reached it."""
        self.ended = False
        self.lost = False
        """What comes next is not there any more."""
        self.rounds = -1
        """How often in a row there was nothing; -1 before the first time."""
        self._events: list[bytes] = []
        self.weight = 0
        """Of what waits for it."""
        self._hungers = hungers
        self._came = asyncio.Event()

    @property
    def is_hungry(self) -> bool:
        return not (self._events or self.ended or self.lost)

    def take(self, events: Sequence[bytes], *, ended: bool = False) -> None:
        self._events += events
        self.weight += sum(map(len, events))
        self.next += len(events)
        self.ended = ended
        self.rounds = 0
        self._came.set()

    def lose(self) -> None:
        self.lost = True
        self._came.set()

    async def more(self) -> list[bytes]:
        """Waits for events. None of them: there will be no more, `ended` or `lost`."""
        if self.is_hungry:
            self._came.clear()
            self._hungers(self)
            await self._came.wait()
        events, self._events, self.weight = self._events, [], 0
        return events


async def pause(ends: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await ends.wait()


class Followers:
    def __init__(
        self,
        live: Live,
        logs: Mapping[Key, RunLog],
        pause: Callable[[asyncio.Event, float], Awaitable[None]] = pause,
    ) -> None:
        """`logs`: of the runs of this process."""
        self._live = live
        self._logs = logs
        self._pause = pause
        self._all: defaultdict[Key, list[Follower]] = defaultdict(list)
        self._count = 0
        self._wants, self._urgent = asyncio.Event(), asyncio.Event()

    def attach(self, key: Key, next: int) -> Follower:
        follower = Follower(key, next, self._hungers)
        self._all[key].append(follower)
        self._count += 1
        return follower

    def detach(self, follower: Follower) -> None:
        self._all[follower.key].remove(follower)
        self._count -= 1
        if not self._all[follower.key]:
            del self._all[follower.key]

    def _hungers(self, follower: Follower) -> None:
        if self._must_read(follower):
            self._wants.set()
            if follower.rounds < 0 or follower.key in self._logs:
                self._urgent.set()

    def left(self, key: Key) -> None:
        """It is not this process any more that ends this log."""
        if key in self._all:
            self._wants.set()
            self._urgent.set()

    def appended(self, key: Key, first: int, events: Sequence[bytes], *, ended: bool = False) -> None:
        most = min(MOST_WAITING_BYTES, ALL_WAITING_BYTES // max(1, self._count))
        for follower in self._all.get(key, ()):
            if follower.ended or follower.next < first or (follower.weight >= most and not ended):
                continue
            new = events[follower.next - first :]
            if new or ended:
                follower.take(new, ended=ended)

    async def run(self) -> None:
        """For ever; no error ends it."""
        while True:
            await self._wants.wait()
            self._wants.clear()
            while waiting := self._reading():
                self._urgent.clear()
                try:
                    found = await self._read(waiting)
                except StoreDown:
                    found = False
                if not found:
                    # Whoever comes meanwhile, or has fallen behind a run of this process, does not wait for it.
                    rounds = min(follower.rounds for follower in waiting)
                    await self._pause(
                        self._urgent, POLL_SECONDS if rounds < EMPTY_ROUNDS else SLOW_POLL_SECONDS
                    )

    def _reading(self) -> list[Follower]:
        """The followers that have to read, because nobody feeds them."""
        return [follower for all in self._all.values() for follower in all if self._must_read(follower)]

    def _must_read(self, follower: Follower) -> bool:
        log = self._logs.get(follower.key)
        return follower.is_hungry and (log is None or follower.next < log.next)

    async def _read(self, waiting: Sequence[Follower]) -> bool:
        """Did anybody get anything?"""
        cursors = {Cursor(follower.key, follower.next) for follower in waiting}
        replays = await self._live.read(list(cursors), READ_BYTES)
        found = False
        for follower in waiting:
            replay = replays.get(Cursor(follower.key, follower.next), NOTHING)
            if not follower.is_hungry or replay is NOTHING:
                continue  # it was fed meanwhile
            if replay is None:
                follower.lose()
            elif replay.events or replay.ended:
                follower.take(replay.events, ended=replay.ended)
                found = True
            else:
                follower.rounds += 1
        return found


NOTHING: Final = LogExcerpt((), ended=False)
