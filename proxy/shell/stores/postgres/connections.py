"""The few connections of a process, each with a task of its own that works on them.

No request is ever inside a command: a driver that is told to give one up waits for the server to agree, which a frozen
server never does. Here a command that takes too long loses its connection, at once, and the next one gets a new one.
What is asked waits in one queue for whichever connection is free, and not longer than a command may take.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import asyncpg

from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.attempt import StepAttempt
from proxy.shell.stores.postgres.reasons import Remedy, is_in_doubt, reason, remedy_of
from proxy.shell.stores.protocol import NotAsked, StoreDown, StoreInDoubt
from proxy.shell.stores.sql.step import Ask

CONFLICTS: Final = 5
"""How often a step is tried again that others stood in the way of."""

RETURN_SECONDS: Final = 1.0
"""How long the proxy waits for a server that refuses connections: it may be starting again."""
PAUSE_SECONDS: Final = 0.1
CLOSE_SECONDS: Final = 1.0
OPEN_SECONDS: Final = 60.0
"""Time to make the tables, and to wait for others who make them at the same time."""

MOST_CHANGES: Final = 100
MOST_BYTES: Final = 1 << 20
"""Of one message to the server."""

STATEMENTS: Final = 200
"""Statements that each connection keeps prepared."""

Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class Command(Generic[Result]):
    carry: Callable[[StepAttempt], Coroutine[Any, Any, Result]]
    answer: "asyncio.Future[Result]"
    asked: float
    once: bool = False
    """Where it may have been done, it is not done again."""
    weight: int = 0
    changes: Sequence[Ask] = ()
    """All that it does, if that is changes by one statement: several such commands may go together."""
    result: Any = None
    """Of such."""


@dataclass(slots=True, eq=False)
class _Slot:
    connection: Any = None
    generation: int = 0
    timed_out: bool = False

    def drop(self) -> None:
        if self.connection is not None and not self.connection.is_closed():
            self.connection.terminate()
        self.connection = None


class ConnectionPool:
    def __init__(self, address: Address, limits: Limits) -> None:
        self.address = address
        self.limits = limits
        self._queue: deque[Command[Any]] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._lanes: list[_Slot] = []
        self._generation = 0
        self._users = 0
        self._away = ""
        """Why the last attempt to open it failed."""

    # ── from outside ──

    async def open(self, prepare: Callable[[Any], Awaitable[None]]) -> None:
        """Raises StoreUnreadable, or StoreDown. `prepare` gets a connection of its own."""
        try:
            await self.look(prepare)
        except StoreDown as failure:
            self._away = str(failure)
            raise
        self._away = ""
        self._users += 1
        if not self._tasks:
            self._begin()

    async def look(self, look: Callable[[Any], Awaitable[None]]) -> None:
        """Lends `look` a connection of its own, which is closed afterwards. Raises what `open` raises."""
        lane = _Slot()
        try:
            lane.connection = await self._connect()
            with _Limited(lane, OPEN_SECONDS):
                await look(lane.connection)
        except Exception as failure:
            raise reason(self.address, failure, opening=True) from failure
        finally:
            lane.drop()

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._lanes = [_Slot() for _ in range(self.limits.connections)]
        self._tasks = [loop.create_task(self._serve(lane), name="store connection") for lane in self._lanes]

    async def close(self) -> None:
        """Whoever opened them closes them; the last one ends them, after what waits was done."""
        self._users -= 1
        if self._users > 0:
            return
        if waiting := [command.answer for command in self._queue]:
            await asyncio.wait(waiting, timeout=CLOSE_SECONDS)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks, self._idle = [], []
        for lane in self._lanes:
            with suppress(Exception), _Limited(lane, CLOSE_SECONDS):
                if lane.connection is not None:
                    await lane.connection.close()
            lane.drop()

    def do(
        self, carry: Callable[[StepAttempt], Coroutine[Any, Any, Result]], *, once: bool = False
    ) -> "asyncio.Future[Result]":
        return self._asked(Command(carry, *_now(), once=once))

    def change(self, changes: Sequence[Ask], weight: int, result: Result) -> "asyncio.Future[Result]":
        """Makes all of the changes or none. They are changes by one statement."""
        command: Command[Any] = Command(lambda attempt: attempt.changed(changes), *_now())
        command.weight, command.changes, command.result = weight, changes, result
        return self._asked(command)

    def _asked(self, command: Command[Result]) -> "asyncio.Future[Result]":
        if not self._tasks:
            command.answer.set_exception(NotAsked(self._away or f"{self.address.shown} is not open"))
            return command.answer
        self._queue.append(command)
        while self._idle:
            waiting = self._idle.pop()  # the one that worked last: few connections are better than many
            if not waiting.done():
                waiting.set_result(None)
                break
        return command.answer

    # ── in their tasks ──

    async def _serve(self, lane: _Slot) -> None:
        loop = asyncio.get_running_loop()
        was_busy = False
        while True:
            if not self._queue:
                waiting = loop.create_future()
                self._idle.append(waiting)
                await waiting
                was_busy = False
                continue
            group = self._next()
            late = was_busy and loop.time() - group[0].asked > self.limits.seconds
            was_busy = True
            if late:
                failure = NotAsked(f"no connection to {self.address.shown} was free in time")
                _answer(group, failure)
            elif not await self._do_all(lane, group):
                for command in group:
                    await self._do_all(lane, [command])

    def _next(self) -> list[Command[Any]]:
        """The next command, and those behind it that go together with it."""
        group = [first := self._queue.popleft()]
        changes, weight = len(first.changes), first.weight
        while (
            first.changes
            and self._queue
            and (following := self._queue[0]).changes
            and following.changes[0][0] == first.changes[0][0]
            and (changes := changes + len(following.changes)) <= MOST_CHANGES
            and (weight := weight + following.weight) <= MOST_BYTES
        ):
            group.append(self._queue.popleft())
        return group

    async def _do_all(self, lane: _Slot, group: list[Command[Any]]) -> bool:
        """Carries out the commands together. False: they cannot be done together, but perhaps each by itself."""
        carry = group[0].carry
        if len(group) > 1:
            changes = [change for command in group for change in command.changes]

            async def carry(attempt: StepAttempt) -> None:
                await attempt.changed(changes)

        try:
            result = await self._done(lane, carry, group[0].once)
        except Exception as failure:
            cause = failure.__cause__ or failure
            if len(group) > 1 and not lane.timed_out and remedy_of(cause) is Remedy.NONE:
                return False
            _answer(group, failure)
        except BaseException:
            _answer(group, StoreDown("the store is closed"))
            raise
        else:
            for command in group:
                if not command.answer.done():  # its caller was cancelled
                    command.answer.set_result(command.result if command.changes else result)
        return True

    async def _done(
        self, lane: _Slot, carry: Callable[[StepAttempt], Coroutine[Any, Any, Any]], once: bool
    ) -> Any:
        conflicts, lost, in_doubt = 0, False, False
        while True:
            try:
                connection = await self._connected(lane)
            except NotAsked as failure:
                if in_doubt:  # by what was asked before
                    raise StoreInDoubt(str(failure)) from failure
                raise
            attempt = StepAttempt(connection)
            try:
                with _Limited(lane, self.limits.seconds):
                    return await carry(attempt)
            except Exception as failure:
                remedy = Remedy.RECONNECT if lane.timed_out else remedy_of(failure)
                in_doubt = in_doubt or (attempt.in_doubt and is_in_doubt(failure))
                await self._recover(lane, remedy)
                if remedy is Remedy.AGAIN and conflicts < CONFLICTS:
                    conflicts += 1
                elif (
                    remedy in (Remedy.RECONNECT, Remedy.RECONNECT_ALL)
                    and not (lost or lane.timed_out)
                    and not (in_doubt and once)
                ):
                    lost = True
                else:
                    told = self._reason(lane, failure)
                    if in_doubt and isinstance(told, StoreDown):
                        raise StoreInDoubt(str(told)) from failure
                    raise told from failure

    def _reason(self, lane: _Slot, failure: Exception) -> BaseException:
        if lane.timed_out:
            return NotAsked(f"{self.address.shown} did not answer within {self.limits.seconds:g} s")
        return reason(self.address, failure)

    async def _recover(self, lane: _Slot, remedy: Remedy) -> None:
        """What was begun is undone, or the connection is given up."""
        if remedy is Remedy.RECONNECT_ALL:
            self._generation += 1
        if remedy in (Remedy.NONE, Remedy.AGAIN) and lane.connection.is_in_transaction():
            with suppress(Exception), _Limited(lane, self.limits.seconds):
                await lane.connection.execute("rollback")
                return
        if remedy is not Remedy.NONE or lane.connection.is_closed():
            lane.drop()

    async def _connected(self, lane: _Slot) -> Any:
        lane.timed_out = False
        if lane.generation != self._generation:
            lane.drop()
        if lane.connection is None or lane.connection.is_closed():
            lane.generation = self._generation
            loop = asyncio.get_running_loop()
            last = loop.time() + min(RETURN_SECONDS, self.limits.seconds)
            while True:
                try:
                    lane.connection = await self._connect()
                    break
                except Exception as failure:
                    told = reason(self.address, failure)
                    if not isinstance(told, StoreDown) or loop.time() > last:
                        raise NotAsked(str(told)) from failure
                await asyncio.sleep(PAUSE_SECONDS)
        return lane.connection

    async def _connect(self) -> Any:
        return await asyncpg.connect(
            self.address.url,
            timeout=self.limits.seconds,
            statement_cache_size=STATEMENTS if self.limits.prepared else 0,
            max_cached_statement_lifetime=0,
        )


class _Limited:
    """What takes longer loses its connection, unless it was this process that stood still meanwhile."""

    def __init__(self, lane: _Slot, seconds: float) -> None:
        self._lane = lane
        self._seconds = seconds

    def __enter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._begin()

    def _begin(self) -> None:
        self._due = self._loop.time() + self._seconds
        self._timer = self._loop.call_at(self._due, self._end)

    def _end(self) -> None:
        if self._loop.time() - self._due > self._seconds:
            self._begin()
        else:
            self._lane.timed_out = True
            self._lane.connection.terminate()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _now() -> tuple["asyncio.Future[Any]", float]:
    """The answer to a command that is asked now, and when that is."""
    loop = asyncio.get_running_loop()
    return loop.create_future(), loop.time()


def _answer(commands: Sequence[Command[Any]], failure: BaseException) -> None:
    for command in commands:
        if not command.answer.done():
            command.answer.set_exception(failure)
