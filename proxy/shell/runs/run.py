"""One run: its record from its beginning to its end, and its log."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Protocol

from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.core.policy.shares import Loan
from proxy.core.stored import endings, faults
from proxy.core.stored.answers import in_progress, response_object
from proxy.core.stored.histories import entries_of
from proxy.core.stored.record import Record
from proxy.core.stored.so_far import OutputSoFar
from proxy.shell.destination import Destination
from proxy.shell.runs.followers import Followers
from proxy.shell.runs.following import follow
from proxy.shell.runs.log_channel import LogChannel
from proxy.shell.runs.log_writer import LogWriter, RunLog
from proxy.shell.stores.log_ends import events_of
from proxy.shell.stores.protocol import Key, Live, Outcome, Records, RecordUnreadable, StoreDown
from proxy.shell.turn_store import Owning

DOWN: Final = "The end of the response could not be stored: the store did not answer for too long."
TOO_LARGE: Final = "The response is too large to be stored."
FAILED: Final = "The proxy failed on this response."
TRIES: Final = 600
RETRY_SECONDS: Final = 1.0
START_TRIES: Final = 3
SETTLE_SECONDS: Final = 5.0
"""How long a run may take to end when its process ends."""


class RunLeft(ConnectionError):
    """Somebody else has ended the run, so nobody needs the rest of the work."""


class Left(StrEnum):
    """Why a run is left before its end."""

    ENDED_ELSEWHERE = "ended_elsewhere"
    STOPPED = "stopped"


class Owner(Protocol):
    """Has the runs of a process."""

    def asked(self, run: "Run") -> None:
        """It is in progress."""

    async def lost(self, run: "Run") -> None:
        """It came to its end when somebody else had ended it."""

    def over(self, run: "Run") -> None:
        """Nothing is left of it here."""

    async def final(self, key: Key) -> Record | None:
        """The record, if it has ended."""


@dataclass(slots=True, frozen=True)
class RunTools:
    """What all runs of a process share."""

    owner: Owner
    records: Records
    live: Live
    worker: str
    writer: LogWriter
    followers: Followers
    record_bytes: int
    sleep: Callable[[float], Awaitable[None]]


class Run:
    def __init__(self, key: Key, record: Record, loan: Loan, tools: RunTools) -> None:
        self.key = key
        self.record = record
        self.log = RunLog(key)
        self.channel = LogChannel(key.id, self._write, self._end_log, self._stop)
        self.in_progress = False
        self.left: Left | None = None
        self._ended = False
        self._kept = True
        """Did the store take its end?"""
        self._loan = loan
        self.owner = loan.owner
        self._task: asyncio.Task[None] | None = None
        self._tools = tools

    # ── from its beginning ──

    def go(self, work: Coroutine[Any, Any, Any]) -> None:
        self._task = asyncio.get_running_loop().create_task(self._go(work), name="run")

    async def _go(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            # However the work failed, what is not ended is settled here.
            with suppress(asyncio.CancelledError, ConnectionError, Fault):
                await work
            if not (self._ended or self.left is Left.ENDED_ELSEWHERE):
                with suppress(TimeoutError):
                    async with asyncio.timeout(SETTLE_SECONDS):
                        await self._settle()
        finally:
            self._over()

    def _over(self) -> None:
        self._loan.end()
        self._tools.owner.over(self)
        del self.channel  # each holds the other, and what is kept: only the collector would free them

    async def show(self, channel: Destination) -> None:
        record = self.record
        if not record.streamed:
            await channel.answer(jsontext.loads(response_object(record)))
            return
        followers = self._tools.followers
        follower = followers.attach(self.key, 0)
        await follow(followers, follower, channel, lambda: self._tools.owner.final(self.key))

    async def asking(self) -> None:
        if self.in_progress:
            return
        begun = in_progress(self.record)
        if await self._started(begun) is Outcome.LOST:
            self.left = Left.ENDED_ELSEWHERE
            raise RunLeft(self.key.id)
        self.record = begun
        self.in_progress = True
        self._tools.owner.asked(self)
        self.channel.release()

    async def _started(self, begun: Record) -> Outcome:
        tools, left = self._tools, START_TRIES
        while True:
            try:
                return await tools.records.start(self.key.tenant, self.key.id, tools.worker, begun.answer)
            except RecordUnreadable as failure:
                raise faults.unreadable() from failure
            except StoreDown as failure:
                left -= 1
                if not left:
                    raise faults.store_is_down() from failure
            await tools.sleep(RETRY_SECONDS)

    # ── to its end ──

    def abandon(self) -> None:
        """Lets go of a run that has not begun."""
        self._over()

    def leave(self, why: Left) -> None:
        """Ends its task, whatever that does."""
        task = self._task
        if task is None or task is asyncio.current_task() or self._ended or self.left is not None:
            return
        self.left = why
        # A task that is cancelled before its first step would not even clear up.
        task.get_loop().call_soon(task.cancel)

    def _stop(self) -> None:
        self.leave(Left.STOPPED)

    async def ended(self) -> None:
        """Waits for its task."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def save(self, record: Record, owning: Owning) -> str | None:
        """First the rest of the events, then the record, then the last event: the log never has an end that the record
        has not. What it continues is held since it was begun, or is in it."""
        record = replace(record, parent=self.record.parent, input=self.record.input)
        self.channel.rest()
        await self._tools.writer.drain(self.log)
        if self.log.over:
            self.left = Left.ENDED_ELSEWHERE
            raise RunLeft(self.key.id)
        remark = None
        if record.size > self._tools.record_bytes:
            remark, record = TOO_LARGE, endings.failed(self.record, "storage_error", TOO_LARGE)
        return await self._finished(record) or remark

    async def _finished(self, record: Record) -> str | None:
        tools = self._tools
        entries = entries_of(record) if record.conversation is not None else ()
        # Else somebody would close the log behind the part of it that is kept.
        kept = replace(record, streamed=None) if self.log.is_partly_kept else record
        remark = None
        for _ in range(TRIES):
            try:
                outcome = await tools.records.finish(self.key.tenant, kept, tools.worker, entries)
            except StoreDown:
                await tools.sleep(RETRY_SECONDS)
                continue
            except RecordUnreadable:  # an item of its conversation, which lies in another response
                remark, entries = faults.UNREADABLE, ()
                record = endings.failed(record, "storage_error", faults.UNREADABLE)
                kept = replace(record, streamed=kept.streamed)
                continue
            if outcome is Outcome.LOST:
                self.left = Left.ENDED_ELSEWHERE
                await tools.owner.lost(self)
                raise RunLeft(self.key.id)
            self.record, self._ended = record, True
            return remark
        self.record, self._ended, self._kept = endings.failed(record, "storage_error", DOWN), True, False
        return DOWN

    async def _settle(self) -> None:
        """Ends what has not come to an end by itself."""
        record = self.record
        self.channel.drop()
        await self._tools.writer.drain(self.log)
        with suppress(StoreDown):
            if record.streamed:
                so_far = OutputSoFar(await events_of(self._tools.live, self.key))
                record = replace(record, output=so_far.finished())
        if self.left is Left.STOPPED:
            record = endings.stopped(record)
        else:
            record = endings.failed(record, "server_error", FAILED)
        with suppress(RunLeft):
            await self._finished(record)
            await self._end_log(())

    # ── its log ──

    def _write(self, events: Sequence[bytes]) -> None:
        if self.record.streamed:
            self._tools.writer.write(self.log, events)

    async def _end_log(self, events: Sequence[bytes]) -> None:
        if not self.record.streamed:
            return
        tools, log = self._tools, self.log
        tools.writer.write(log, events)
        await tools.writer.drain(log)
        event = endings.terminal_event(self.record, log.next)
        if self._kept and not log.gone:
            with suppress(StoreDown):
                await tools.live.end(self.key, log.next, event)
        tools.followers.appended(self.key, log.next, [event], ended=True)
