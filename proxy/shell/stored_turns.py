"""The store for one turn at a time: the history that a request names, the lock of its conversation, and its record."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from proxy.core.errors import Fault
from proxy.core.ids import may_be_conversation
from proxy.core.ledger import Ledger
from proxy.core.policy.shares import Loan
from proxy.core.stored import faults
from proxy.core.stored.conversation import Entry
from proxy.core.stored.histories import entries_of, history_of, history_of_conversation
from proxy.core.stored.named import Known, Named
from proxy.core.stored.record import Record
from proxy.core.surfaces.surface import Stored
from proxy.shell.offload.threads import LARGE_BYTES
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.remembering.memos import Memos
from proxy.shell.stores.failures import told_as_faults
from proxy.shell.stores.protocol import (
    MOST_ENTRIES,
    Locked,
    Outcome,
    ParentGone,
    Records,
    RecordUnreadable,
    StoreDown,
)
from proxy.shell.turn_store import Background, BackgroundRun, Owning

MAX_PARENTS = 1000
RETRY_SECONDS = 1.0
"""Between two attempts to give back a lock while the store is away."""

DOWN = (
    "The response could not be stored, and cannot be continued by its id: the store did not answer in time."
)
LOST = "The response could not be stored: another one has taken over its conversation."
TOO_LARGE = "The response is too large to be stored, and cannot be continued by its id."

Unlock = Callable[[], Coroutine[Any, Any, None]]


@dataclass(slots=True, frozen=True)
class StoreLimits:
    history_bytes: int
    """Of what a request continues."""
    record_bytes: int


class StoredTurns:
    def __init__(
        self,
        records: Records | None,
        limits: StoreLimits,
        worker: str,
        tasks: Tasks,
        metrics: Metrics,
        log: Log,
        memos: Memos,
        background: Background | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`records`: None if storing is switched off. `worker`: names this process in locks. `background`: None if
        nothing is done there."""
        self.records = records
        self.limits = limits
        self.worker = worker
        self.tasks = tasks
        self.metrics = metrics
        self.log = log
        self.memos = memos
        self.background = background
        self.sleep = sleep

    def turn(self, tenant: str, loan: Loan) -> "StoredTurn":
        """`loan`: of the memory for the request, and for what is loaded."""
        return StoredTurn(self, tenant, loan)


class StoredTurn:
    __slots__ = ("_loan", "_locked", "_tenant", "_turns")

    remembers = False

    def __init__(self, turns: StoredTurns, tenant: str, loan: Loan) -> None:
        self._turns = turns
        self._tenant = tenant
        self._loan = loan
        self._locked: Named | None = None

    async def load(self, named: Named, ledger: Ledger) -> Known:
        if named.memos:
            return Known(named, memos=await self.recall(named.memos) or {})
        records = self._turns.records
        if records is None:
            raise _nothing_kept(named)
        with told_as_faults():
            history = await self._history(records, named, ledger)
            references = await records.items(self._tenant, named.references) if named.references else {}
        size = len(history) + sum(map(len, references.values()))
        if size > self._turns.limits.history_bytes:
            raise faults.history_too_large(self._turns.limits.history_bytes)
        self._loan.take(size)
        ledger.work.takes_long |= size > LARGE_BYTES
        return Known(named, history, references)

    async def _history(self, records: Records, named: Named, ledger: Ledger) -> bytes:
        if named.conversation is not None:
            return history_of_conversation(await self._entries(records, named, named.conversation))
        if named.previous is None:
            return b"[]"
        chain = await records.chain(self._tenant, named.previous, MAX_PARENTS)
        if not chain:
            raise faults.previous_not_found(named.previous)
        if not chain[-1].is_final:
            raise faults.previous_not_completed(named.previous)
        return history_of(chain, ledger)

    async def _entries(self, records: Records, named: Named, conversation: str) -> Sequence[Entry]:
        if not may_be_conversation(conversation):
            raise faults.conversation_not_found(conversation)
        if not named.stores:
            entries = await records.entries(self._tenant, conversation)
            if entries is None:
                raise faults.conversation_not_found(conversation)
            return entries
        begun = await records.lock(self._tenant, conversation, self._turns.worker, named.response)
        if begun is None:
            raise faults.conversation_not_found(conversation)
        if isinstance(begun, Locked):
            raise faults.conversation_locked()
        self._locked = named
        if len(begun.entries) >= MOST_ENTRIES:
            raise faults.conversation_is_full(MOST_ENTRIES)
        return begun.entries

    async def begin(self, record: Record, owning: Owning) -> BackgroundRun:
        background = self._turns.background
        assert background is not None, "it is not offered otherwise"
        run = await background.begin(self._tenant, record, owning, self._loan)
        self._locked = None  # it is the run's now
        return run

    async def save(self, record: Record, owning: Owning) -> str | None:
        try:
            return await self._save(record)
        except ParentGone:
            return await self._save(owning(record))

    async def _save(self, record: Record) -> str | None:
        records = self._turns.records
        assert records is not None, "whoever stores nothing makes no records"
        if record.size > self._turns.limits.record_bytes:
            return self._not_stored(record, "too_large", TOO_LARGE)
        worker = self._turns.worker if self._locked else ""
        try:
            entries = entries_of(record) if record.conversation else ()
            outcome = await records.save(self._tenant, record, entries, worker)
        except StoreDown:
            return self._not_stored(record, "store_down", DOWN)
        except RecordUnreadable:  # an item of its conversation, which lies in another response
            return self._not_stored(record, "unreadable", faults.UNREADABLE)
        if outcome is Outcome.LOST:
            return self._not_stored(record, "lock_lost", LOST)
        self._locked = None
        return None

    def _not_stored(self, record: Record, reason: str, remark: str) -> str:
        self._turns.metrics.count("not_stored", reason)
        self._turns.log.warning("response_not_stored", response_id=record.id, reason=reason)
        return remark

    def save_later(self, record: Record, owning: Owning) -> None:
        turn, self._locked = self._copy(), None
        self._turns.tasks.start(turn.save_and_close(record, owning), "save")

    async def save_and_close(self, record: Record, owning: Owning) -> None:
        await self.save(record, owning)
        self.close()

    def remember(self, stored: Callable[[], Stored | None]) -> None:
        """Nothing but the store remembers what was said over HTTP."""

    async def recall(self, keys: Sequence[str]) -> Mapping[str, bytes] | None:
        return await self._turns.memos.recall(self._tenant, keys)

    async def share(self, memos: Mapping[str, bytes]) -> None:
        await self._turns.memos.share(self._tenant, memos)

    async def give_up(self) -> None:
        if (unlock := self._unlock()) is not None:
            with suppress(StoreDown):  # then `close` goes on with it
                await unlock()
                self._locked = None

    def close(self) -> None:
        unlock, self._locked = self._unlock(), None
        if unlock is not None:
            self._turns.tasks.start(self._until_done(unlock), "unlock")

    def _unlock(self) -> Unlock | None:
        records, named = self._turns.records, self._locked
        if records is None or named is None or named.conversation is None:
            return None
        return partial(records.unlock, self._tenant, named.conversation, named.response)

    async def _until_done(self, unlock: Unlock) -> None:
        """The lock has the lease of this process, which may live for long: nobody else would ever end it."""
        told = False
        while True:
            try:
                return await unlock()
            except StoreDown as error:
                if not told:
                    self._turns.log.warning("conversation_not_unlocked", kind=type(error).__name__)
                told = True
                await self._turns.sleep(RETRY_SECONDS)

    def _copy(self) -> "StoredTurn":
        turn = StoredTurn(self._turns, self._tenant, self._loan)
        turn._locked = self._locked
        return turn


def _nothing_kept(named: Named) -> Fault:
    if named.previous is not None:
        return faults.nothing_is_kept(named.previous)
    return faults.no_item_is_kept(named.references[0])
