"""Records in memory: bounded by their bytes. All else is asked of every engine in tests/stores."""

from dataclasses import replace

import pytest

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
