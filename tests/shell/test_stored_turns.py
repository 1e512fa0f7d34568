"""The store for one turn: what goes wrong besides a store that is down, which `tests/state` has over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import ClientFault, TooLarge
from proxy.core.ledger import Ledger
from proxy.core.policy.shares import Loan, Shares
from proxy.core.stored.conversation import Conversation
from proxy.core.stored.faults import UNREADABLE
from proxy.core.stored.named import Known, Named
from proxy.core.stored.record import Record, Status
from proxy.shell import stored_turns as module
from proxy.shell.ops.logs import make_log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.remembering.memos import Memos
from proxy.shell.stored_turns import StoredTurn, StoredTurns, StoreLimits
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.protocol import Locked, RecordUnreadable, StoreDown
from tests.support.proxies import LogLines
from tests.support.stores import MINT, Terms, item

TENANT = "ann"
CONVERSATION = MINT.conversation()


@pytest.fixture
async def records() -> AsyncIterator[MemoryRecords]:
    terms = Terms()
    records = MemoryRecords(terms.clock, terms.keeping)
    await records.open()
    await records.create(TENANT, Conversation(CONVERSATION, 1))
    yield records
    await records.close()


@pytest.fixture
def log() -> LogLines:
    return LogLines()


@pytest.fixture
def tasks(log: LogLines) -> Tasks:
    return Tasks(make_log("info", "json", stream=log.stream))


@pytest.fixture
def turns(records: MemoryRecords, tasks: Tasks, log: LogLines) -> StoredTurns:
    logger = make_log("info", "json", stream=log.stream)
    metrics = Metrics({}, ())
    memos = Memos(MemoryLive(Terms().clock), tasks, metrics)
    return StoredTurns(records, StoreLimits(1 << 20, 1 << 20), "w", tasks, metrics, logger, memos)


def free() -> Loan:
    """There is memory for everything."""
    return Loan(Shares(1 << 30), "ann")


def named() -> Named:
    return Named(conversation=CONVERSATION, response=MINT.response(), stores=True)


async def locked(turns: StoredTurns, wanted: Named) -> StoredTurn:
    turn = turns.turn(TENANT, free())
    await turn.load(wanted, Ledger())
    return turn


def record(wanted: Named) -> Record:
    item = {"id": MINT.items_of(wanted.response).input("msg", 0), "type": "message", "content": []}
    return Record(
        wanted.response, Status.COMPLETED, 1, "m", conversation=CONVERSATION, input=jsontext.dumps([item])
    )


def as_it_is(record: Record) -> Record:
    """It continues nothing."""
    return record


async def test_a_lock_that_was_lost_keeps_nothing(
    turns: StoredTurns, records: MemoryRecords, log: LogLines
) -> None:
    """Its lease was over, and another turn has taken the conversation."""
    wanted = named()
    turn = await locked(turns, wanted)
    await records.unlock(TENANT, CONVERSATION, wanted.response)
    assert await turn.save(record(wanted), as_it_is) == module.LOST
    assert await records.get(TENANT, wanted.response) is None
    assert log.named("response_not_stored")[0]["reason"] == "lock_lost"


async def test_a_turn_that_keeps_nothing_gives_the_lock_back(
    turns: StoredTurns, records: MemoryRecords, tasks: Tasks
) -> None:
    turn = await locked(turns, named())
    assert isinstance(await records.lock(TENANT, CONVERSATION, "w", "resp_2"), Locked)
    turn.close()
    turn.close()
    await tasks.finish(1)
    assert not isinstance(await records.lock(TENANT, CONVERSATION, "w", "resp_2"), Locked)


async def test_a_lock_that_cannot_be_given_back_is_given_back_when_the_store_is_there_again(
    turns: StoredTurns, records: MemoryRecords, tasks: Tasks, log: LogLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T79: it has the lease of this process, which goes on. The log says it once."""
    turn = await locked(turns, named())
    unlock, outage = records.unlock, iter(range(3))

    async def down(*args: Any) -> None:
        if next(outage, None) is not None:
            raise StoreDown("gone")
        await unlock(*args)

    async def at_once(seconds: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(records, "unlock", down)
    turns.sleep = at_once
    turn.close()
    await tasks.finish(1)
    assert [line["kind"] for line in log.named("conversation_not_unlocked")] == ["StoreDown"]
    assert not isinstance(await records.lock(TENANT, CONVERSATION, "w", "resp_2"), Locked)


async def test_a_full_conversation_is_refused_before_the_backend_is_asked(
    turns: StoredTurns, records: MemoryRecords, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = named()
    turn = await locked(turns, wanted)
    assert await turn.save(record(wanted), as_it_is) is None
    monkeypatch.setattr(module, "MOST_ENTRIES", 1)
    full = turns.turn(TENANT, free())
    with pytest.raises(ClientFault, match="holds 1 items"):
        await full.load(named(), Ledger())
    full.close()
    await tasks.finish(1)
    assert not isinstance(await records.lock(TENANT, CONVERSATION, "w", "resp_2"), Locked)


async def test_what_nobody_waits_for_is_saved_all_the_same(
    turns: StoredTurns, records: MemoryRecords, tasks: Tasks
) -> None:
    wanted = named()
    turn = await locked(turns, wanted)
    turn.save_later(replace(record(wanted), status=Status.CANCELLED), as_it_is)
    turn.close()
    await tasks.finish(1)
    kept = await records.get(TENANT, wanted.response)
    assert kept is not None
    assert kept.status is Status.CANCELLED
    entries = await records.entries(TENANT, CONVERSATION)
    assert entries is not None
    assert list(entries) == []


async def test_a_long_history_is_dear_to_read(turns: StoredTurns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE_BYTES", 10)
    wanted = named()
    turn = await locked(turns, wanted)
    await turn.save(record(wanted), as_it_is)
    ledger = Ledger()
    known = await turns.turn(TENANT, free()).load(Named(previous=wanted.response), ledger)
    with pytest.raises(TooLarge):
        await turns.turn(TENANT, Loan(Shares(2), "ann")).load(Named(previous=wanted.response), Ledger())
    assert len(known.history) > 2
    assert ledger.work.takes_long


async def test_u57_memos_are_the_tenants_own(turns: StoredTurns) -> None:
    """Who names some names nothing else, and is refused nothing."""
    await turns.turn(TENANT, free()).share({"a": b"1"})
    wanted = Named(memos=["a", "b"])
    assert await turns.turn(TENANT, free()).load(wanted, Ledger()) == Known(wanted, memos={"a": b"1"})
    assert await turns.turn("bob", free()).load(wanted, Ledger()) == Known(wanted)
    assert await turns.turn("bob", free()).recall(["a"]) == {}


async def test_u48_what_continues_something_that_is_gone_is_kept_with_its_history(
    turns: StoredTurns, records: MemoryRecords
) -> None:
    orphan = Record(MINT.response(), Status.COMPLETED, 1, "m", parent=MINT.response(), input=b"[]")

    def owning(record: Record) -> Record:
        return replace(record, parent=None, input=jsontext.dumps([item("old")]))

    turn = turns.turn(TENANT, free())
    assert await turn.save(orphan, owning) is None
    assert await records.get(TENANT, orphan.id) == owning(orphan)
    huge = replace(orphan, id=MINT.response())
    told = await turn.save(
        huge, lambda record: replace(record, parent=None, input=b"[%b]" % (b"1" * (1 << 20)))
    )
    assert told == module.TOO_LARGE
    assert await records.get(TENANT, huge.id) is None


async def test_what_refers_to_what_cannot_be_read_is_answered_and_not_stored(
    turns: StoredTurns, records: MemoryRecords, log: LogLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """U61: an item of its conversation, which another response keeps."""
    wanted = named()
    turn = await locked(turns, wanted)

    async def save(*_: Any) -> None:
        raise RecordUnreadable("resp_1 is damaged")

    monkeypatch.setattr(records, "save", save)
    assert await turn.save(record(wanted), lambda record: record) == UNREADABLE
    assert log.named("response_not_stored")[0]["reason"] == "unreadable"
    turn.close()
    await turns.tasks.close()
