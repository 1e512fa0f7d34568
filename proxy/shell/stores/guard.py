"""A limit on every wait for a store, and a breaker: a store that is down must hold up nobody.

No request is ever inside a command. Each command goes on by itself, in a thread of its engine or in a task, and
requests wait for its answer, as long as they may; a request that gives up or is cancelled leaves the command alone, for
one that is broken off may take its connection with it, or be done all the same. Nothing of it may show afterwards: what
was given up is undone when it is done after all, unless it is asked for again meanwhile.

After three failures in a row the store is asked once a second, one command at a time, and all others hear at once that
it is down. Reads and writes have a breaker each: a full disk can be read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from proxy.shell.stores.protocol import NotAsked, Pending, StoreDown, StoreInDoubt, StoreLate

FAILURES: Final = 3
PROBE_SECONDS: Final = 1.0
MOST_WAITING: Final = 1000
"""Commands that have been begun and not ended, of one kind. More would only wait longer."""
QUIET_SECONDS: Final = 60.0
"""An outage is told once in this time, however often the store comes and goes."""
UNDO_TRIES: Final = 600
"""Attempts, one a second, for as long as the ends of background work are tried."""
UNDONE_IN_DOUBT: Final = 5
"""How often a write in doubt is undone, because a server that comes back may still carry it out later."""

Result = TypeVar("Result")
Command = Callable[[], Pending[Result]]


class GuardWatcher(Protocol):
    """Counts what the store does, and tells the log."""

    def took(self, op: str, seconds: float) -> None: ...

    def failed(self, op: str, reason: str) -> None: ...

    def went_down(self, reason: str) -> None:
        """Called once for each outage, not for each failure."""

    def came_back(self, seconds: float) -> None: ...


@dataclass(slots=True)
class _Lane:
    """Commands of one kind."""

    failures: int = 0
    down_since: float = 0.0
    next_probe: float = 0.0
    running: dict["asyncio.Future[Any]", float] = field(default_factory=dict)
    """Commands that run, each with the time at which it was begun."""

    @property
    def is_up(self) -> bool:
        return self.failures < FAILURES


class Guard:
    def __init__(
        self,
        wait_seconds: float,
        steady: Callable[[], float],
        watcher: GuardWatcher,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._wait_seconds = wait_seconds
        self._steady = steady
        self._watcher = watcher
        self._sleep = sleep
        self._reads, self._writes = _Lane(), _Lane()
        self._given_up: dict[Hashable, asyncio.Future[Any]] = {}
        self._undoing: dict[Hashable, asyncio.Task[None]] = {}
        self._quiet_until = 0.0
        self._told = False

    @property
    def is_up(self) -> bool:
        return self._reads.is_up and self._writes.is_up

    @property
    def waiting_seconds(self) -> float:
        """How long the oldest command has been waited for."""
        begun = [*self._reads.running.values(), *self._writes.running.values()]
        return self._steady() - min(begun) if begun else 0.0

    async def read(self, op: str, command: Command[Result]) -> Result:
        return await self._wait(op, self._reads, self._begin(op, self._reads, command))

    async def write(
        self,
        op: str,
        command: Command[Result],
        key: Hashable = None,
        undo: Callable[[Result], Coroutine[Any, Any, bool]] | None = None,
        done: Result | None = None,
    ) -> Result:
        """`undo` is called with the result of what was done after it had been given up, until it says True; with
        `done`, if it may have been done, and nobody knows. The same `key` means the same command."""
        lane = self._writes
        if (undoing := self._undoing.get(key)) is not None:
            await asyncio.wait({undoing}, timeout=self._wait_seconds)
            if not undoing.done():
                raise StoreDown("the same was given up, and is still being undone")
        answer = self._given_up.pop(key, None)
        if answer is None or answer.done():
            answer = self._begin(op, lane, command)
        try:
            return await self._wait(op, lane, answer)
        except StoreDown as failure:
            if undo is not None and (not answer.done() or isinstance(failure, StoreInDoubt)):
                self._give_up(key, answer, undo, done)
            raise

    def _begin(self, op: str, lane: _Lane, command: Command[Result]) -> "asyncio.Future[Result]":
        now = self._steady()
        if not lane.is_up:
            if lane.running or now < lane.next_probe:
                raise NotAsked("the store is down")
            lane.next_probe = now + PROBE_SECONDS
        if len(lane.running) >= MOST_WAITING:
            raise NotAsked("too many wait for the store")
        answer = command()
        if not isinstance(answer, asyncio.Future):
            answer = asyncio.get_running_loop().create_task(answer, name=f"store {op}")
        lane.running[answer] = now
        answer.add_done_callback(lambda answer: self._ended(op, lane, answer))
        return answer

    async def _wait(self, op: str, lane: _Lane, answer: "asyncio.Future[Result]") -> Result:
        if not answer.done():
            await _ended_or_late(answer, self._wait_seconds)
        if not answer.done():
            self._failed(op, lane, f"no answer within {self._wait_seconds:g} s")
            raise StoreLate(f"the store did not answer within {self._wait_seconds:g} s", answer)
        return answer.result()

    def _ended(self, op: str, lane: _Lane, answer: "asyncio.Future[Any]") -> None:
        began = lane.running.pop(answer)
        failure = None if answer.cancelled() else answer.exception()
        if isinstance(failure, StoreDown):
            self._failed(op, lane, str(failure))
        elif not answer.cancelled():
            self._watcher.took(op, self._steady() - began)
            self._succeeded(lane)

    def _failed(self, op: str, lane: _Lane, reason: str) -> None:
        self._watcher.failed(op, reason)
        was_up = self.is_up
        if lane.failures == 0:
            lane.down_since = self._steady()
        lane.failures += 1
        lane.next_probe = self._steady() + PROBE_SECONDS
        if was_up and not self.is_up and self._steady() >= self._quiet_until:
            self._quiet_until = self._steady() + QUIET_SECONDS
            self._told = True
            self._watcher.went_down(reason)

    def _succeeded(self, lane: _Lane) -> None:
        if lane.failures == 0:
            return
        was_up = self.is_up
        lane.failures = 0
        if not was_up and self.is_up and self._told:
            self._told = False
            self._watcher.came_back(self._steady() - lane.down_since)

    def _give_up(
        self,
        key: Hashable,
        answer: "asyncio.Future[Result]",
        undo: Callable[[Result], Coroutine[Any, Any, bool]],
        done: Result | None,
    ) -> None:
        self._given_up[key] = answer

        def ended(answer: "asyncio.Future[Result]") -> None:
            if self._given_up.get(key) is not answer:
                return  # somebody has asked for it again
            del self._given_up[key]
            failure = None if answer.cancelled() else answer.exception()
            in_doubt = isinstance(failure, StoreInDoubt) and done is not None
            if in_doubt or not (answer.cancelled() or failure):
                result = done if in_doubt else answer.result()
                undoing = asyncio.get_running_loop().create_task(self._undo(result, undo, in_doubt))
                self._undoing[key] = undoing
                undoing.add_done_callback(lambda _: self._undoing.pop(key))

        answer.add_done_callback(ended)

    async def _undo(
        self, result: Any, undo: Callable[[Any], Coroutine[Any, Any, bool]], in_doubt: bool
    ) -> None:
        """In doubt it may still be on its way when it is undone: so it is undone several times."""
        times = UNDONE_IN_DOUBT if in_doubt else 1
        for _ in range(UNDO_TRIES):
            with suppress(StoreDown):
                times -= await undo(result)
            if not times:
                return
            await self._sleep(PROBE_SECONDS)

    async def close(self) -> None:
        """Lets what runs come to its end, as long as one may wait."""
        running = {*self._reads.running, *self._writes.running, *self._undoing.values()}
        if running:
            await asyncio.wait(running, timeout=self._wait_seconds)
        for command in running:
            command.cancel()


async def _ended_or_late(answer: "asyncio.Future[Any]", seconds: float) -> None:
    """Does what `asyncio.wait` does for any number of them, at a third of its cost: each save waits here."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def end(_: object = None) -> None:
        if not over.done():
            over.set_result(None)

    answer.add_done_callback(end)
    timer = loop.call_later(seconds, end)
    try:
        await over
    finally:
        timer.cancel()
        answer.remove_done_callback(end)
