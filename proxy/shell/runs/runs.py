"""The runs of this process: places for so many, their tasks, and what others have done to them meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

from proxy.core.policy.shares import Loan, Shares
from proxy.core.stored import endings, faults
from proxy.core.stored.record import Record, Status
from proxy.shell.destination import Destination
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.runs.followers import Follower, Followers
from proxy.shell.runs.following import follow
from proxy.shell.runs.log_writer import LogWriter, RunLog
from proxy.shell.runs.run import Left, Run, RunTools
from proxy.shell.stores.failures import told_as_faults
from proxy.shell.stores.log_ends import close_log, events_of
from proxy.shell.stores.protocol import (
    Began,
    Cursor,
    Key,
    Live,
    Locked,
    ParentGone,
    Records,
    RecordUnreadable,
    StoreDown,
)
from proxy.shell.turn_store import Owning

HEAR_SECONDS: Final = 0.5
COMPARE_SECONDS: Final = 60.0
QUIET_ROUNDS: Final = 240
"""Rounds without a run, after which the store is no longer asked what became of the last ones."""
ALL_TOGETHER: Final = 2
"""All owners together have this many times the places of one, so that there is always something for the next."""


class Runs:
    def __init__(
        self,
        *,
        records: Records,
        live: Live,
        worker: str,
        places: int,
        record_bytes: int,
        metrics: Metrics,
        log: Log,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`places`: for one owner. `record_bytes`: of one that can be kept."""
        self._records = records
        self._live = live
        self._worker = worker
        self._places = Shares(ALL_TOGETHER * places)
        self._metrics = metrics
        self._log = log
        self._sleep = sleep
        self._runs: dict[Key, Run] = {}
        self._logs: dict[Key, RunLog] = {}
        self._owning = asyncio.Event()
        self._followers = Followers(live, self._logs)
        self._writer = LogWriter(live, self._followers, self._ended_elsewhere, sleep)
        self._tasks = Tasks(log)
        self._tools = RunTools(
            self, records, live, worker, self._writer, self._followers, record_bytes, sleep
        )

    def start(self) -> None:
        self._tasks.start(self._writer.run(), "run logs")
        self._tasks.start(self._followers.run(), "followers")
        self._tasks.start(self._hear(), "cancelled runs")
        self._tasks.start(self._compare(), "unknown runs")

    async def close(self) -> None:
        """Ends what is still under way."""
        runs = list(self._runs.values())
        for run in runs:
            run.leave(Left.STOPPED)
        for run in runs:
            await run.ended()
        await self._tasks.close()

    # ── beginning ──

    async def begin(self, tenant: str, record: Record, owning: Owning, loan: Loan) -> Run:
        self._check_size(record)
        if not self._places.take(loan.owner):
            raise faults.too_much_in_the_background()
        key = Key(tenant, record.id)
        run = Run(key, record, loan.passed_on(), self._tools)
        self._runs[key], self._logs[key] = run, run.log
        self._metrics.count("runs", Status.QUEUED)
        try:
            with told_as_faults():
                begun = await self._begun(run, owning)
            if begun is None:
                raise faults.conversation_not_found(record.conversation or "")
            if isinstance(begun, Locked):
                raise faults.conversation_locked()
        except BaseException:
            run.abandon()
            raise
        self._owning.set()
        return run

    async def _begun(self, run: Run, owning: Owning) -> Began | Locked | None:
        try:
            return await self._records.begin(run.key.tenant, run.record, self._worker)
        except ParentGone:
            run.record = owning(run.record)
            self._check_size(run.record)
            return await self._records.begin(run.key.tenant, run.record, self._worker)

    def _check_size(self, record: Record) -> None:
        if len(record.input) + len(record.answer) > self._tools.record_bytes:
            raise faults.too_large_for_the_background(self._tools.record_bytes)

    # ── as runs tell it ──

    def asked(self, run: Run) -> None:
        self._metrics.count("runs", Status.QUEUED, by=-1)
        self._metrics.count("runs", Status.IN_PROGRESS)

    async def lost(self, run: Run) -> None:
        with suppress(StoreDown, RecordUnreadable):
            record = await self._records.get(*run.key)
            if record is not None and record.status is Status.CANCELLED:
                return
        self._metrics.count("not_stored", "ended_elsewhere")
        self._log.warning("run_result_dropped", response_id=run.key.id)

    def over(self, run: Run) -> None:
        del self._runs[run.key], self._logs[run.key]
        self._places.give_back(run.owner)
        self._metrics.count("runs", Status.IN_PROGRESS if run.in_progress else Status.QUEUED, by=-1)
        self._followers.left(run.key)

    def _ended_elsewhere(self, key: Key) -> None:
        if (run := self._runs.get(key)) is not None:
            run.leave(Left.ENDED_ELSEWHERE)

    # ── what others have done ──

    async def _hear(self) -> None:
        """Asks which runs somebody else has ended, while there are any."""
        quiet = 0
        while True:
            await self._owning.wait()
            await self._sleep(HEAR_SECONDS)
            with suppress(StoreDown):
                for key in await self._records.cancelled(self._worker):
                    if key in self._runs:
                        self._ended_elsewhere(key)
                    else:
                        await self._heard(key)
            quiet = 0 if self._runs else quiet + 1
            if quiet > QUIET_ROUNDS:
                quiet = 0
                self._owning.clear()

    async def _heard(self, key: Key) -> None:
        """Ends the run that somebody else has ended, so that the store need not tell of it again."""
        record = None
        with suppress(RecordUnreadable):
            record = await self._records.get(*key)
        record = record or Record(key.id, Status.CANCELLED, 0, "")
        await self._records.finish(key.tenant, record, self._worker)

    async def _compare(self) -> None:
        """Ends what the store believes to be under way here and is not: a beginning that may never have been
        acknowledged."""
        while True:
            await self._sleep(COMPARE_SECONDS)
            with suppress(StoreDown):
                for key in await self._records.runs(self._worker):
                    if key not in self._runs:
                        with suppress(RecordUnreadable):  # it ends with this process
                            await self._end_unknown(key)

    async def _end_unknown(self, key: Key) -> None:
        record = await self._records.get(*key)
        if record is None or record.is_final:
            return
        record = endings.orphaned(record)
        await self._records.finish(key.tenant, record, self._worker)
        await self._close(key, record)
        self._metrics.count("runs_lost")
        self._log.warning("run_lost", response_id=key.id)

    # ── for clients ──

    async def said(self, tenant: str, record: Record) -> Sequence[bytes]:
        """The events so far of what is not final; nothing where none are kept, or where they are is away."""
        if record.is_final or not record.streamed:
            return ()
        with suppress(StoreDown):
            return await events_of(self._live, Key(tenant, record.id))
        return ()

    async def cancel(
        self, tenant: str, record: Record, cut: Callable[[Sequence[bytes]], Awaitable[bytes]]
    ) -> Record | None:
        """The record as it is then, by this or by another end. `cut`: reads the output up to now out of the events."""
        key = Key(tenant, record.id)
        output = None
        if record.streamed:
            with suppress(StoreDown):  # the events may vanish, the response may not
                await self._live.shut(key)
                output = await cut(await events_of(self._live, key))
        ended = await self._records.cancel(tenant, endings.cancelled(record, output))
        if ended is not None:
            await self._close(key, ended)
        self._ended_elsewhere(key)
        return ended

    async def forget(self, tenant: str, id: str) -> None:
        """The response is deleted, and so are its events."""
        with suppress(StoreDown):
            await self._live.drop(Key(tenant, id))

    async def follower(self, tenant: str, record: Record, after: int) -> Follower:
        """Raises the fault that says why it cannot be followed."""
        key = Key(tenant, record.id)
        log = self._logs.get(key)
        if log is None:
            if record.is_final:
                await self._close(key, record)
            cursor = Cursor(key, after + 1)
            if (await self._live.read([cursor], 1))[cursor] is None:
                raise faults.events_are_gone()
        elif log.gone:
            raise faults.events_are_gone()
        return self._followers.attach(key, after + 1)

    async def tell(self, follower: Follower, channel: Destination) -> None:
        await follow(self._followers, follower, channel, lambda: self.final(follower.key))

    async def final(self, key: Key) -> Record | None:
        if key in self._runs:
            return None
        with suppress(StoreDown, RecordUnreadable):
            record = await self._records.get(*key)
            if record is not None and record.is_final:
                await self._close(key, record)
                return record
        return None

    async def _close(self, key: Key, record: Record) -> None:
        if record.streamed:
            with suppress(StoreDown):
                await close_log(self._live, key, record)
