"""Records in memory: bounded by their bytes. All else is asked of every engine in tests/stores."""

import tracemalloc
from dataclasses import replace

import pytest

from proxy.core import jsontext
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.protocol import RecordUnreadable
from tests.support.stores import Terms, record, run


async def test_memory_is_bounded_by_bytes() -> None:
    """The oldest that have ended go at once, not when somebody sweeps; and no work that is under way."""
    terms = Terms()
    terms.keeping = replace(terms.keeping, most_bytes=1_000_000)
    records = MemoryRecords(terms.clock, terms.keeping)
    work = run(text="x" * 50_000)
    await records.begin("t", work, "w")
    made = []
    for _ in range(100):
        made.append(record(text="x" * 20_000))
        await records.save("t", made[-1])
        terms.date += 1
        assert (await records.size()).bytes <= 1_000_000
    there = [await records.get("t", kept.id) is not None for kept in made]
    assert there == sorted(there)
    assert 15 <= sum(there) <= 25
    assert await records.get("t", work.id) == work
    assert await records.forget("t") == sum(there) + 1
    assert (await records.size()).bytes == 0


async def test_a_chain_with_a_hole_is_refused() -> None:
    """U49: should one ever come to be."""
    records = MemoryRecords(Terms().clock, Terms().keeping)
    parent = record()
    child = record(parent=parent)
    for kept in (parent, child):
        await records.save("t", kept)
    records._shelves["t"].turns.pop(parent.id[-32:])
    with pytest.raises(RecordUnreadable, match="is not there"):
        await records.chain("t", child.id, 1000)


async def test_what_is_counted_is_what_it_takes() -> None:
    """Writers of JSON leave room behind a text, which is many times as long as short texts are."""
    terms = Terms()
    records = MemoryRecords(terms.clock, terms.keeping)
    tracemalloc.start()
    try:
        for number in range(300):
            kept = record(text=f"{number}" * 50)
            answer = jsontext.dumps({"id": kept.id, "text": "x" * 1500})
            await records.save("t", replace(kept, answer=answer))
            work = run()
            await records.begin("t", work, "w")
            await records.start("t", work.id, "w", jsontext.dumps({"id": work.id}))
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken < 1.5 * (await records.size()).bytes
