"""Responses in every engine: saved once, read by their tenant alone, continued, deleted, held by what needs them."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.stored.record import Record, Status
from proxy.shell.stores.protocol import Began, Outcome, ParentGone, RecordUnreadable, Size
from tests.support.stores import Terms, ids_of, record, run

DAY = 86_400


async def chain_of(records: Any, length: int) -> list[Record]:
    made: list[Record] = []
    for _ in range(length):
        made.append(record(parent=made[-1] if made else None))
        await records.save("t", made[-1])
    return made


async def test_what_was_saved_is_read_by_its_tenant_alone(records: Any) -> None:
    """U03, U07, U50, T01, T06."""
    [parent] = await chain_of(records, 1)
    kept = record(parent=parent, streamed=True, background=True)
    assert await records.save("t", kept) is Outcome.DONE
    assert await records.save("t", replace(kept, answer=b"{}")) is Outcome.DONE, "once more changes nothing"
    for _ in range(2):
        assert await records.get("t", kept.id) == kept
        assert await records.get("other", kept.id) is None
    assert await records.get("t", kept.id.replace("resp", "msg")) is None
    assert await records.items("other", ids_of(kept)) == {}
    assert await records.delete("other", kept.id) is None
    assert await records.cancel("other", replace(kept, status=Status.CANCELLED)) is None
    assert await records.chain("other", kept.id, 10) is None
    assert await records.get("t", kept.id) == kept


@pytest.mark.parametrize("length", [1, 50, 1000])
async def test_a_chain_comes_whole_and_oldest_first(records: Any, length: int) -> None:
    """T04, T27, U49."""
    made = await chain_of(records, length)
    for _ in range(2):
        assert await records.chain("t", made[-1].id, length) == made
    if length > 1:
        with pytest.raises(RecordUnreadable, match="continues more than"):
            await records.chain("t", made[-1].id, length - 1)
        assert await records.chain("t", made[0].id, 1) == made[:1]


async def test_a_chain_never_begins_with_a_hole(records: Any) -> None:
    """U48, U49: whose parent is not there at all is not kept, at its end or its begin, and neither is a loop."""
    [parent] = await chain_of(records, 1)
    await records.delete("t", parent.id)
    loop = record()
    made = [record(parent=parent), record(parent=record()), replace(loop, parent=loop.id), run(parent=parent)]
    for orphan in made[:-1]:
        with pytest.raises(ParentGone):
            await records.save("t", orphan)
    with pytest.raises(ParentGone):
        await records.begin("t", made[-1], "w")
    for orphan in made:
        assert await records.get("t", orphan.id) is None
    assert (await records.size()).responses == 0
    assert await records.runs("w") == []


async def test_a_deleted_parent_that_is_still_needed_can_be_continued_by_who_has_begun(records: Any) -> None:
    """U48, T37: another child holds it."""
    parent, child = await chain_of(records, 2)
    await records.delete("t", parent.id)
    late, work = record(parent=parent), run(parent=parent)
    assert await records.save("t", late) is Outcome.DONE
    assert await records.begin("t", work, "w") == Began(())
    await records.delete("t", child.id)
    for id in (late.id, work.id):
        chain = await records.chain("t", id, 9)
        assert [each.id for each in chain] == [parent.id, id]


async def test_a_child_owns_its_history(records: Any, terms: Terms) -> None:
    """U48, T30, T35, T37: deleted and expired ancestors are read in a chain, and go with the last that needs them."""
    a, b, c = await chain_of(records, 3)
    fork = record(parent=b)
    await records.save("t", fork)
    assert await records.delete("t", a.id) is True
    assert await records.delete("t", b.id) is True
    assert await records.get("t", a.id) is await records.chain("t", b.id, 9) is None
    assert await records.delete("t", a.id) is None
    emptied = [replace(a, answer=b""), replace(b, answer=b"")]
    assert await records.chain("t", c.id, 9) == [*emptied, c]
    assert set(await records.items("t", ids_of(a) + ids_of(b))) == {*ids_of(a), *ids_of(b)}
    assert await records.delete("t", c.id) is True
    assert await records.chain("t", fork.id, 9) == [*emptied, fork]
    assert await records.items("t", ids_of(c)) == {}
    terms.date += 30 * DAY
    assert await records.get("t", fork.id) is None
    assert await records.items("t", ids_of(a)) == {}, "what holds it has expired, though nobody swept"
    assert sum(await records.sweep(50)) == 1
    assert (await records.size()).responses == 0


@pytest.mark.parametrize("how", ["deleted", "expired"])
async def test_t99_a_chain_that_ends_while_it_is_read_is_read_whole_or_not_at_all(
    records: Any, terms: Terms, how: str
) -> None:
    """Nothing between: neither a part of it, nor an error."""
    for _ in range(5):
        made = await chain_of(records, 20)
        reads = [asyncio.ensure_future(records.chain("t", made[-1].id, 99)) for _ in range(3)]  # noqa: TID251
        going: list[Any] = [records.delete("t", each.id) for each in made]
        if how == "expired":
            for coroutine in going:
                coroutine.close()
            terms.date += 31 * DAY
            going = [records.sweep(50) for _ in range(3)]
        for step in going:
            reads.append(asyncio.ensure_future(records.chain("t", made[-1].id, 99)))  # noqa: TID251 - held here
            await step
        whole = [each.id for each in made]
        found = await asyncio.gather(*reads)
        assert all(chain is None or [each.id for each in chain] == whole for chain in found)
        assert await records.chain("t", made[-1].id, 99) is None


async def test_nothing_is_left_of_what_was_deleted(records: Any) -> None:
    before = (await records.size()).bytes
    made = await chain_of(records, 20)
    for kept in made:
        await records.delete("t", kept.id)
    assert await records.size() == Size(0, 0, 0, before)


async def test_items_are_found_by_their_ids(records: Any) -> None:
    """T28, T29, T31; and an item that a client named itself belongs to whom it came with first."""
    first = record(foreign=("mine", "ours"), text="first")
    second = record(foreign=("mine", ids_of(first)[0]), text="second")
    await records.save("t", first)
    await records.save("t", second)

    async def text(id: str) -> str | None:
        found = await records.items("t", [id])
        return jsontext.loads(found[id])["content"][0]["text"] if found else None

    assert await text("mine") == "first mine"
    assert await text(ids_of(first)[0]) == "first in 0"
    assert set(await records.items("t", [*ids_of(second), "unknown", first.id, ""])) == set(ids_of(second))
    await records.delete("t", first.id)
    assert await text("mine") == "second mine"
    assert await text(ids_of(first)[0]) == f"second {ids_of(first)[0]}"
    assert await text("ours") is None


async def test_work_that_was_not_to_be_stored_can_be_read_for_ten_minutes(records: Any, terms: Terms) -> None:
    """T47."""
    brief = run(lasting=False)
    await records.begin("t", brief, "w")
    assert await records.chain("t", brief.id, 9) is None
    ended = replace(brief, status=Status.COMPLETED)
    assert await records.finish("t", ended, "w") is Outcome.DONE
    assert await records.get("t", brief.id) == ended
    assert await records.items("t", ids_of(brief)) == {}
    terms.date += 599
    assert await records.get("t", brief.id) == ended
    terms.date += 1
    assert await records.get("t", brief.id) is None
    assert await records.sweep(50) == (1, 0, 0)


async def test_what_has_expired_is_gone_before_it_is_swept(records: Any, terms: Terms) -> None:
    """U60: a time that was shortened holds for what is there already. A clock may go back."""
    kept = record()
    await records.save("t", kept)
    terms.date += 2 * DAY
    assert await records.get("t", kept.id) == kept
    terms.keeping = replace(terms.keeping, response_seconds=DAY)
    assert await records.get("t", kept.id) is await records.chain("t", kept.id, 9) is None
    assert (await records.size()).responses == 0
    terms.date -= 365 * DAY
    assert await records.get("t", kept.id) == kept
    assert await records.sweep(50) == (0, 0, 0)
    terms.date += 365 * DAY
    assert await records.sweep(50) == (1, 0, 0)


async def test_a_sweep_takes_no_more_than_it_may_and_nothing_that_works(records: Any, terms: Terms) -> None:
    working = run()
    await records.begin("t", working, "w")
    await chain_of(records, 7)
    terms.date += 31 * DAY
    assert [await records.sweep(3) for _ in range(4)] == [(3, 0, 0), (3, 0, 0), (1, 0, 0), (0, 0, 0)]
    assert await records.get("t", working.id) is not None
    assert (await records.size()).running == 1


async def test_the_oldest_go_when_there_are_too_many(records: Any, terms: Terms) -> None:
    """T90: never what works, and no conversation."""
    working = run()
    await records.begin("t", working, "w")
    made = []
    for _ in range(40):
        made.append(record(text="x" * 20_000))
        await records.save("t", made[-1])
        terms.date += 1
    used = (await records.size()).bytes
    terms.keeping = replace(terms.keeping, most_bytes=used * 3 // 4)
    early = 0
    while swept := (await records.sweep(5)).early:
        early += swept
    assert (await records.size()).bytes <= terms.keeping.most_bytes
    assert 5 <= early <= 20
    there = [await records.get("t", kept.id) is not None for kept in made]
    assert there == [False] * early + [True] * (40 - early)
    assert await records.get("t", working.id) is not None


@pytest.mark.parametrize(
    "text", ["x" * (8 << 20), "\x00 \ud800 \U0001f600", ""], ids=["8 MiB", "odd", "none"]
)
async def test_what_is_in_it_does_not_matter(records: Any, text: str) -> None:
    kept = record(text=text, foreign=("a\x00b", "ü" * 100, "'; drop table turns; --"))
    await records.save("t\x00'", kept)
    assert await records.get("t\x00'", kept.id) == kept
    assert await records.get("t", kept.id) is None
    assert len(await records.items("t\x00'", ids_of(kept))) == 5


async def test_t29_half_a_character_is_in_no_id(records: Any) -> None:
    """And an engine that cannot even be asked for it is not down."""
    kept = record(foreign=("mine",))
    await records.save("t", kept)
    assert list(await records.items("t", ["msg_\ud800", "mine", "\udfff"])) == ["mine"]


async def test_a_record_of_nothing_at_all(records: Any) -> None:
    kept = replace(record(), answer=b"", input=b"[]", output=b"[]", model="")
    await records.save("", kept)
    assert await records.get("", kept.id) == kept


async def test_a_tenant_is_forgotten_whole_and_alone(records: Any) -> None:
    kept, working = record(foreign=("mine",)), run()
    for tenant in ("t", "other"):
        await records.save(tenant, kept)
        await records.begin(tenant, working, "w")
    assert await records.forget("t") == 2
    assert await records.forget("t") == 0
    assert await records.get("t", kept.id) is None
    assert await records.items("t", ["mine"]) == {}
    assert await records.runs("w") == [("other", working.id)]
    assert await records.cancelled("w") == [("t", working.id)], "so that the backend is left"
    assert await records.finish("t", replace(working, status=Status.COMPLETED), "w") is Outcome.LOST
    assert await records.cancelled("w") == []
    assert await records.forget("t") == 0
    assert await records.get("other", kept.id) == kept
