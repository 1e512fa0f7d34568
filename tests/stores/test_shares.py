"""Whose responses go first in every engine where there are too many: those of the tenants that have most (T90)."""

from dataclasses import replace
from typing import Any

from proxy.core.stored.record import Record
from tests.support.stores import Terms, record, run, talk


async def filled(records: Any, terms: Terms, tenant: str, number: int, size: int = 20_000) -> list[Record]:
    """Each a second younger than the one before."""
    made = []
    for _ in range(number):
        made.append(record(text="x" * size))
        await records.save(tenant, made[-1])
        terms.date += 1
    return made


async def there_are(records: Any, tenant: str, made: list[Record]) -> list[bool]:
    return [await records.get(tenant, kept.id) is not None for kept in made]


async def swept_early(records: Any) -> int:
    """As the sweeper does it: until there is nothing more to do."""
    early, most = 0, 5
    while max(swept := await records.sweep(most)) >= most:
        early += swept.early
    return early + int(swept.early)


async def test_who_has_most_loses_the_oldest_and_nobody_else_anything(records: Any, terms: Terms) -> None:
    """Also where the others' are older, and where two have more than an equal part."""
    little = [("little", each) for each in await filled(records, terms, "little", 4)]
    work, talked = run(), talk()
    await records.begin("large", work, "w")
    await records.create("large", talked, record())
    large, larger = await filled(records, terms, "large", 20), await filled(records, terms, "larger", 30)
    used = (await records.size()).bytes
    terms.keeping = replace(terms.keeping, most_bytes=used * 2 // 3)
    early = await swept_early(records)
    assert (await records.size()).bytes <= terms.keeping.most_bytes
    assert [await records.get(tenant, kept.id) for tenant, kept in little] == [kept for _, kept in little]
    left = []
    for tenant, made in (("large", large), ("larger", larger)):
        there = await there_are(records, tenant, made)
        assert there == sorted(there), "the oldest went first"
        left.append(sum(there))
    assert early == 50 - sum(left)
    assert abs(left[0] - left[1]) <= 3, "then they have the same, as exactly as two sweepers know it"
    assert await records.get("large", work.id) == work
    assert await records.conversation("large", talked.id) is not None
    assert len(await records.entries("large", talked.id)) == 2


async def test_what_becomes_too_much_later_is_counted_anew(records: Any, terms: Terms) -> None:
    """Who had most before may have less now, and keeps an equal part."""
    first = await filled(records, terms, "first", 20)
    second = await filled(records, terms, "second", 10)
    terms.keeping = replace(terms.keeping, most_bytes=(await records.size()).bytes * 5 // 6)
    assert await swept_early(records) == 20 - sum(await there_are(records, "first", first)) > 0
    second += await filled(records, terms, "second", 30)
    await swept_early(records)
    left = [sum(await there_are(records, *each)) for each in (("first", first), ("second", second))]
    assert abs(left[0] - left[1]) <= 3, "though all of the first are older"
    assert (await records.size()).bytes <= terms.keeping.most_bytes


async def test_the_oldest_of_all_goes_where_who_has_most_has_nothing_that_may_go(
    records: Any, terms: Terms
) -> None:
    """What all have together is bounded first."""
    works = [run(text="x" * 20_000) for _ in range(20)]
    for work in works:
        await records.begin("working", work, "w")
    made = await filled(records, terms, "other", 10)
    terms.keeping = replace(terms.keeping, most_bytes=(await records.size()).bytes * 5 // 6)
    assert 3 <= await swept_early(records) <= 7
    there = await there_are(records, "other", made)
    assert there == sorted(there)
    assert all(await there_are(records, "working", works))
    assert (await records.size()).bytes <= terms.keeping.most_bytes


async def test_who_continues_its_responses_loses_no_more_than_others_have(records: Any, terms: Terms) -> None:
    """What is deleted of a chain frees nearly nothing until its end goes, too."""
    chain: list[Record] = []
    for _ in range(60):
        parent = chain[-1] if len(chain) % 20 else None
        chain.append(record(parent=parent, text="x" * 20_000))
        await records.save("agent", chain[-1])
        terms.date += 1
    little = await filled(records, terms, "little", 10)
    terms.keeping = replace(terms.keeping, most_bytes=(await records.size()).bytes * 2 // 3)
    await swept_early(records)
    assert all(await there_are(records, "little", little))
    there = await there_are(records, "agent", chain)
    assert there == sorted(there)
    assert sum(there) >= 10
    assert (await records.size()).bytes <= terms.keeping.most_bytes
