"""Conversations in every engine: items in order, one response at a time, and the history of each that was in it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.stored.conversation import Conversation, Entry, Order
from proxy.core.stored.record import Record, Status
from proxy.shell.stores.protocol import (
    AlreadyThere,
    Began,
    ConversationFull,
    FoundConversation,
    Locked,
    Outcome,
    Size,
    TooMuchKept,
)
from tests.support.stores import Terms, ids_in, ids_of, item, record, run, talk

DAY = 86_400


async def make(records: Any, items: int = 0) -> Conversation:
    made = talk()
    await records.create("t", made)
    if items:
        await records.add("t", made.id, record(inputs=items, outputs=0))
    return made


async def turn(records: Any, conversation: Conversation, **members: Any) -> Record:
    kept = record(conversation=conversation, **members)
    assert isinstance(await records.lock("t", conversation.id, "w", kept.id), Began)
    assert await records.save("t", kept, ids_of(kept), "w") is Outcome.DONE
    return kept


async def items_in(records: Any, conversation: Conversation) -> list[str]:
    return [entry.id for entry in await records.entries("t", conversation.id)]


async def test_a_conversation_is_kept_until_it_is_deleted(records: Any) -> None:
    made = await make(records)
    await records.create("t", replace(made, metadata=b'{"again": "no"}'))
    for _ in range(2):
        assert await records.conversation("t", made.id) == FoundConversation(made, None)
    changed = replace(made, metadata=b'{"a": "b"}')
    assert await records.update("t", made.id, changed.metadata) == changed
    assert await records.conversation("t", made.id) == FoundConversation(changed, None)
    assert await records.remove("t", made.id) is True
    assert await records.remove("t", made.id) is False


@pytest.mark.parametrize("tenant", ["t", "other"])
async def test_what_is_unknown_and_what_is_another_s_are_alike(records: Any, tenant: str) -> None:
    """T06, T71."""
    made = await make(records, items=1)
    [id] = await items_in(records, made)
    name = made.id if tenant == "other" else "conv_0"
    assert await records.conversation(tenant, name) is None
    assert await records.update(tenant, name, b"{}") is None
    assert await records.remove(tenant, name) is False
    assert await records.lock(tenant, name, "w", "r") is None
    assert await records.unlock(tenant, name, "r") is None
    assert await records.entries(tenant, name) is None
    assert await records.page(tenant, name, Order.ASCENDING, None, 9) is None
    assert await records.add(tenant, name, record()) is None
    assert await records.entry(tenant, name, id) is None
    assert await records.drop(tenant, name, id) is False
    assert await records.begin(tenant, run(conversation=replace(made, id=name)), "w") is None
    assert await items_in(records, made) == [id]


async def test_nobody_reads_more_than_there_is_room_for(records: Any, terms: Terms) -> None:
    """However much a conversation holds. It is not locked then, and can be made smaller."""
    made = await make(records)
    large = [record(inputs=1, outputs=0, text="x" * 9_000) for _ in range(5)]
    for each in large:
        await records.add("t", made.id, each)
    terms.keeping = replace(terms.keeping, read_bytes=30_000)
    with pytest.raises(TooMuchKept):
        await records.entries("t", made.id)
    with pytest.raises(TooMuchKept):
        await records.lock("t", made.id, "w", "resp_1")
    with pytest.raises(TooMuchKept):
        await records.page("t", made.id, Order.ASCENDING, None, 5)
    first, second, *_ = await records.page("t", made.id, Order.ASCENDING, None, 2)
    for entry in (first, second):
        assert await records.drop("t", made.id, entry.id) is True
    began = await records.lock("t", made.id, "w", "resp_1")
    assert len(began.entries) == len(await records.entries("t", made.id)) == 3
    kept = [record(text="x" * 9_000) for _ in range(3)]
    for each in kept:
        await records.save("t", each)
    with pytest.raises(TooMuchKept):
        await records.items("t", [id for each in kept for id in ids_of(each)])
    assert len(await records.items("t", ids_of(kept[0]))) == 2


async def test_turns_add_their_items_in_order(records: Any) -> None:
    """T75; what the conversation has already is not there twice."""
    made = await make(records, items=2)
    first = await turn(records, made, foreign=("mine",))
    known = await items_in(records, made)
    assert known[2:] == ids_of(first)
    second = record(conversation=made)
    began = await records.lock("t", made.id, "w", second.id)
    assert [entry.id for entry in began.entries] == known
    assert await records.save("t", second, ["mine", *ids_of(second)], "w") is Outcome.DONE
    assert await items_in(records, made) == known + ids_of(second)
    entries = await records.entries("t", made.id)
    assert [jsontext.loads(entry.item)["id"] for entry in entries] == [entry.id for entry in entries]
    assert await records.entry("t", made.id, "mine") == entries[3]
    third = record(conversation=made)
    await records.lock("t", made.id, "w", third.id)
    with pytest.raises(KeyError, match="nowhere"):
        await records.save("t", third, ["nowhere"], "w")
    assert await records.get("t", third.id) is None


async def test_a_walk_gives_each_item_once(records: Any) -> None:
    """T39, T41, T74: with any limit, in both directions, across gaps."""
    made = await make(records, items=7)
    all_of_them = await items_in(records, made)
    for order, expected in ((Order.ASCENDING, all_of_them), (Order.DESCENDING, all_of_them[::-1])):
        for limit in (1, 2, 7, 100):
            found: list[str] = []
            while page := await records.page("t", made.id, order, found[-1] if found else None, limit):
                assert len(page) <= limit
                found += [entry.id for entry in page]
            assert found == expected
    assert await records.drop("t", made.id, all_of_them[3]) is True
    assert await records.drop("t", made.id, all_of_them[3]) is False
    page = await records.page("t", made.id, Order.ASCENDING, all_of_them[2], 2)
    assert [entry.id for entry in page] == all_of_them[4:6]
    for unknown in ("nothing", all_of_them[3]):
        with pytest.raises(KeyError):
            await records.page("t", made.id, Order.ASCENDING, unknown, 2)


async def test_items_are_added_all_or_none_and_known_ones_linked(records: Any) -> None:
    """T73."""
    kept = record()
    await records.save("t", kept)
    made = await make(records)
    known = ids_of(kept)[0]
    added = record(inputs=1, outputs=0, foreign=(known, "mine"), text="other")
    entries = await records.add("t", made.id, added)
    assert [entry.id for entry in entries] == ids_of(added)
    assert await records.add("t", made.id, added) == entries, "once more changes nothing"
    assert jsontext.loads(entries[1].item)["content"][0]["text"] == "text in 0", "what is kept stands"
    with pytest.raises(AlreadyThere, match="mine"):
        await records.add("t", made.id, record(inputs=1, outputs=0, foreign=("mine",)))
    assert await items_in(records, made) == ids_of(added)
    assert await records.get("t", added.id) is None, "it was no response"
    assert await records.delete("t", kept.id) is True
    assert await records.entries("t", made.id) == entries, "an entry holds what it links to"


async def test_a_response_keeps_the_history_that_it_had(records: Any) -> None:
    """T37, T71, T80: whatever is added to the conversation later, or taken out, or deleted."""
    made = await make(records, items=2)
    first = await turn(records, made)
    began_with = await items_in(records, made)
    second = await turn(records, made)
    follower = record(parent=second)
    await records.save("t", follower)
    await turn(records, made)

    async def history() -> list[str]:
        chain = await records.chain("t", follower.id, 9)
        assert chain[0].id == made.id
        assert chain[1:] == [second, follower]
        return ids_in(chain[0].input)

    assert await history() == began_with
    await records.drop("t", made.id, began_with[0])
    await records.delete("t", first.id)
    assert await history() == began_with
    assert await records.remove("t", made.id) is True
    assert await history() == began_with
    assert set(await records.items("t", began_with)) == set(began_with), "held by what goes on from there"
    assert await records.items("t", ["unknown"]) == {}


async def test_nothing_is_left_when_all_is_deleted(records: Any) -> None:
    """U48: in every order in which things can go."""
    before = (await records.size()).bytes
    for step in range(6):
        made = await make(records, items=2)
        kept = [await turn(records, made, foreign=(f"mine {n} {step}",)) for n in range(3)]
        kept.append(record(parent=kept[1]))
        await records.save("t", kept[-1])
        await records.drop("t", made.id, (await items_in(records, made))[step])
        going = [*kept, made]
        for gone in going[step:] + going[:step]:
            assert await (records.remove if gone is made else records.delete)("t", gone.id) is True
        assert await records.size() == Size(0, 0, 0, before)


async def test_one_response_at_a_time(records: Any) -> None:
    """U45, T77, T78: the second one hears which works; whatever would change the conversation waits as well."""
    made = await make(records, items=1)
    [id] = await items_in(records, made)
    first, second = record(conversation=made), record(conversation=made)
    granted = await asyncio.gather(
        records.lock("t", made.id, "w", first.id), records.lock("t", made.id, "v", second.id)
    )
    assert sorted(type(answer).__name__ for answer in granted) == ["Began", "Locked"]
    [refused] = [answer for answer in granted if isinstance(answer, Locked)]
    holder = refused.response
    worker = "w" if holder == first.id else "v"
    assert isinstance(await records.lock("t", made.id, worker, holder), Began), "once more"
    locked = Locked(holder)
    assert await records.begin("t", run(conversation=made), "x") == locked
    assert await records.update("t", made.id, b"{}") == locked
    assert await records.add("t", made.id, record()) == locked
    assert await records.drop("t", made.id, id) == locked
    assert await records.remove("t", made.id) == locked
    assert await records.conversation("t", made.id) == FoundConversation(made, holder)
    assert await items_in(records, made) == [id]
    await records.unlock("t", made.id, "another")
    assert await records.update("t", made.id, b"{}") == locked
    await records.unlock("t", made.id, holder)
    assert await records.update("t", made.id, b"{}") == made
    late = first if holder == first.id else second
    assert await records.save("t", late, ids_of(late), worker) is Outcome.LOST
    assert await records.get("t", late.id) is None


async def test_a_dead_worker_s_lock_is_none(records: Any, terms: Terms) -> None:
    """U46, T79, T100: only after its lease, however the date jumps; then it can bring nothing any more."""
    made = await make(records)
    late, next_one = record(conversation=made), record(conversation=made)
    await records.lock("t", made.id, "w", late.id)
    terms.steady += 44
    terms.date += 3600
    assert await records.lock("t", made.id, "v", next_one.id) == Locked(late.id)
    terms.steady += 1
    terms.patient = True
    assert await records.lock("t", made.id, "v", next_one.id) == Locked(late.id)
    terms.patient = False
    assert await records.conversation("t", made.id) == FoundConversation(made, None)
    assert await records.drop("t", made.id, "nothing") is False, "which ends it, too"
    assert await records.save("t", late, ids_of(late), "w") is Outcome.LOST
    assert isinstance(await records.lock("t", made.id, "v", next_one.id), Began)
    assert await items_in(records, made) == []


async def test_the_lock_of_background_work_ends_with_it(records: Any, terms: Terms) -> None:
    """T79, T92: finished, cancelled, or settled when another takes the lock; a late owner adds nothing."""
    made = await make(records)
    first = run(conversation=made)
    assert await records.begin("t", first, "w") == Began(())
    assert await records.begin("t", first, "w") == Began(()), "once more"
    ended = replace(record(outputs=2), id=first.id, conversation=made.id, background=True, input=first.input)
    assert await records.finish("t", ended, "w", ids_of(ended)) is Outcome.DONE
    assert await items_in(records, made) == ids_of(ended)

    second = run(conversation=made)
    await records.begin("t", second, "w")
    assert await records.cancel("t", replace(second, status=Status.CANCELLED)) is not None
    assert await records.conversation("t", made.id) == FoundConversation(made, None)

    third = run(conversation=made)
    await records.begin("t", third, "w")
    terms.steady += 45
    assert isinstance(await records.lock("t", made.id, "v", "resp_x"), Began)
    assert (await records.get("t", third.id)).status is Status.FAILED
    done = replace(third, status=Status.COMPLETED)
    assert await records.finish("t", done, "w", ids_of(done)) is Outcome.LOST
    assert await items_in(records, made) == ids_of(ended)


async def test_a_conversation_that_nobody_uses_expires(records: Any, terms: Terms) -> None:
    made = await make(records, items=1)
    terms.date += 10_000 * DAY
    assert await records.conversation("t", made.id) is not None
    await records.update("t", made.id, b"{}")
    terms.keeping = replace(terms.keeping, conversation_seconds=DAY)
    terms.date += DAY - 1
    assert await items_in(records, made)
    terms.date += 1
    assert await records.conversation("t", made.id) is await records.entries("t", made.id) is None
    assert (await records.size()).conversations == 0
    assert await records.sweep(50) == (1, 0, 0)


@pytest.mark.parametrize("items", [0, 1, 3])
async def test_a_conversation_is_made_with_its_items_or_not_at_all(records: Any, items: int) -> None:
    """U07: also when it is made once more."""
    made, first = talk(), record(inputs=items, outputs=0, foreign=("mine",))
    for _ in range(2):
        await records.create("t", made, first)
    assert await items_in(records, made) == ids_of(first)
    other, linking = talk(), record(inputs=1, outputs=0, foreign=("mine",))
    for _ in range(2):
        await records.create("t", other, linking)
    assert await items_in(records, other) == ids_of(linking)
    assert (await records.entry("t", other.id, "mine")).item == (
        await records.entry("t", made.id, "mine")
    ).item


async def test_a_conversation_holds_so_many_and_no_more(records: Any) -> None:
    made = await make(records, items=3)
    full = record(inputs=2, outputs=0)
    with pytest.raises(ConversationFull):
        await records.add("t", made.id, full, 4)
    before = await items_in(records, made)
    assert len(before) == 3
    assert await records.drop("t", made.id, before[0]) is True
    assert len(await records.add("t", made.id, full, 4)) == 2
    assert await items_in(records, made) == [*before[1:], *ids_of(full)]


async def test_items_stay_in_order_under_concurrency(records: Any) -> None:
    """Each addition stays together, each item is there once, and every reader sees the same order."""
    made = await make(records)
    added = [record(inputs=3, outputs=0) for _ in range(20)]
    answers = await asyncio.gather(*(records.add("t", made.id, each) for each in added))
    entries: list[Entry] = await records.entries("t", made.id)
    assert await records.entries("t", made.id) == entries
    assert [entry.position for entry in entries] == sorted({entry.position for entry in entries})
    assert sorted(entries, key=lambda entry: entry.position) == sorted(
        (entry for answer in answers for entry in answer), key=lambda entry: entry.position
    )
    found = [entry.id for entry in entries]
    for each in added:
        start = found.index(ids_of(each)[0])
        assert found[start : start + 3] == ids_of(each)


async def test_private_members_of_items_are_kept(records: Any) -> None:
    made = await make(records)
    added = record(outputs=0)
    added = replace(added, input=jsontext.dumps([item("mine") | {"_kept": {"signature": "x"}}]))
    [entry] = await records.add("t", made.id, added)
    assert jsontext.loads(entry.item)["_kept"] == {"signature": "x"}
