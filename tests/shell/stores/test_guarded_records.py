"""Records behind a guard: the same answers, and nothing left of what was given up."""

import asyncio
import inspect
from collections.abc import AsyncIterator

import pytest

from proxy.shell.stores.guard import Guard
from proxy.shell.stores.guarded_records import GuardedRecords
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.opening import Opening
from proxy.shell.stores.protocol import Began, Outcome, Records, Size, StoreDown, StoreInDoubt
from tests.support.guarded_stores import SHORT, GuardNotes, Slow
from tests.support.stores import Settings, Terms, ids_of, record, run, talk


@pytest.fixture
def terms() -> Terms:
    return Terms()


@pytest.fixture
def inner(terms: Terms) -> MemoryRecords:
    return MemoryRecords(terms.clock, Settings(terms), terms.may_bury)  # type: ignore[arg-type]


@pytest.fixture
def slow(inner: MemoryRecords) -> Slow:
    return Slow(inner)


@pytest.fixture
async def guarded(slow: Slow, terms: Terms) -> AsyncIterator[GuardedRecords]:
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)

    guard = Guard(SHORT, lambda: terms.steady, GuardNotes(), sleep)
    guarded = GuardedRecords(slow, guard, Opening(slow.open, print))  # type: ignore[arg-type]
    await guarded.open()
    yield guarded
    await guarded.close()


async def settle_down() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_save_that_comes_too_late_is_deleted(
    guarded: GuardedRecords, slow: Slow, inner: MemoryRecords
) -> None:
    """U02, and with a conversation: no items half added (U47)."""
    made = talk()
    await guarded.create("t", made)
    kept = record(conversation=made)
    await guarded.lock("t", made.id, "w", kept.id)
    slow.may.clear()
    with pytest.raises(StoreDown):
        await guarded.save("t", kept, ids_of(kept), "w")
    slow.may.set()
    await settle_down()
    assert await inner.get("t", kept.id) is None
    assert await inner.entries("t", made.id) == []
    assert await inner.conversation("t", made.id) == (made, None)


async def test_a_conversation_that_comes_too_late_is_deleted_with_its_items(
    guarded: GuardedRecords, slow: Slow, inner: MemoryRecords
) -> None:
    """U07: nobody knows its id."""
    made, items = talk(), record(inputs=2, outputs=0)
    slow.may.clear()
    with pytest.raises(StoreDown):
        await guarded.create("t", made, items)
    slow.may.set()
    await settle_down()
    assert await inner.conversation("t", made.id) is None
    assert await inner.items("t", ids_of(items)) == {}
    assert (await inner.size()).bytes == 0


async def test_what_is_undone_waits_for_who_works_on_the_conversation(
    guarded: GuardedRecords, slow: Slow, inner: MemoryRecords
) -> None:
    made = talk()
    await guarded.create("t", made)
    kept = record(conversation=made)
    await guarded.lock("t", made.id, "w", kept.id)
    slow.may.clear()
    with pytest.raises(StoreDown):
        await guarded.save("t", kept, ids_of(kept), "w")
    assert await inner.save("t", kept, ids_of(kept), "w") is Outcome.DONE
    await inner.lock("t", made.id, "v", "resp_2")
    slow.may.set()
    await settle_down()
    assert await inner.get("t", kept.id) == kept
    await inner.unlock("t", made.id, "resp_2")
    await settle_down()
    assert await inner.get("t", kept.id) is None
    assert await inner.entries("t", made.id) == []


async def test_a_save_that_is_repeated_is_kept(
    guarded: GuardedRecords, slow: Slow, inner: MemoryRecords
) -> None:
    """U07."""
    kept = record()
    slow.may.clear()
    with pytest.raises(StoreDown):
        await guarded.save("t", kept)
    again = asyncio.ensure_future(guarded.save("t", kept))  # noqa: TID251 - held here
    await asyncio.sleep(0)
    slow.may.set()
    assert await again is Outcome.DONE
    await settle_down()
    assert await inner.get("t", kept.id) == kept


async def test_work_that_began_too_late_never_was(
    guarded: GuardedRecords, slow: Slow, inner: MemoryRecords
) -> None:
    """U25: its lock is free, and nobody has to end it."""
    made = talk()
    await guarded.create("t", made)
    work = run(conversation=made)
    slow.may.clear()
    for command in (guarded.begin("t", work, "w"), guarded.lock("t", made.id, "w", "resp_2")):
        with pytest.raises(StoreDown):
            await command
    slow.may.set()
    await settle_down()
    assert await inner.get("t", work.id) is None
    assert await inner.runs("w") == []
    assert await inner.conversation("t", made.id) == (made, None)
    assert isinstance(await guarded.begin("t", run(conversation=made), "w"), Began)


async def test_what_was_done_unheard_is_undone(
    guarded: GuardedRecords, slow: Slow, inner: MemoryRecords
) -> None:
    """U18, U20, D12: whoever was told that it is not kept does not find it later."""
    made = talk()
    await guarded.create("t", made)
    kept, work = record(conversation=made), run(conversation=made)
    await guarded.lock("t", made.id, "w", kept.id)
    slow.unheard = {"save", "begin", "lock"}
    commands = (
        guarded.save("t", kept, ids_of(kept), "w"),
        guarded.begin("t", work, "w"),
        guarded.lock("t", made.id, "w", "resp_2"),
    )
    for command in commands:
        with pytest.raises(StoreInDoubt):
            await command
        await settle_down()
    assert await inner.get("t", kept.id) is await inner.get("t", work.id) is None
    assert await inner.runs("w") == []
    assert await inner.entries("t", made.id) == []
    assert await inner.conversation("t", made.id) == (made, None)


async def test_every_method_ends_in_time_and_works_afterwards(guarded: GuardedRecords, slow: Slow) -> None:
    """U19, T86, for each method of the protocol."""
    methods = {name for name in vars(Records) if not name.startswith("_")} - {"open", "close"}
    slow.may.clear()
    for name in sorted(methods):
        method = getattr(guarded, name)
        required = [
            parameter
            for parameter in inspect.signature(method).parameters.values()
            if parameter.default is inspect.Parameter.empty
        ]
        arguments = [record() if parameter.name == "record" else 1 for parameter in required]
        if name == "create":
            arguments = ["t", talk()]
        with pytest.raises(StoreDown):
            await method(*arguments)
    slow.may.set()


async def test_what_the_engine_says_is_passed_on(guarded: GuardedRecords, terms: Terms) -> None:
    """In its order, with all arguments: the whole of a small life."""
    made, work, kept = talk(), run(), record()
    await guarded.create("t", made)
    assert await guarded.begin("t", work, "w") == Began(())
    assert await guarded.start("t", work.id, "w", b'{"a":1}') is Outcome.DONE
    assert (await guarded.get("t", work.id)).answer == b'{"a":1}'
    assert await guarded.save("t", kept) is Outcome.DONE
    assert await guarded.chain("t", kept.id, 5) == [kept]
    assert set(await guarded.items("t", ids_of(kept))) == set(ids_of(kept))
    assert await guarded.size() == Size(2, 1, 1, (await guarded.size()).bytes)
    terms.steady += 45
    assert await guarded.settle(5) == [("t", work.id)]
    assert await guarded.cancelled("w") == [("t", work.id)]
    await guarded.leave("w")
    assert await guarded.delete("t", kept.id) is True
    assert await guarded.forget("t") == 2
