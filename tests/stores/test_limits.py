"""Meters and queues in every engine: what a tenant may have in a minute, and who is let in at a backend."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proxy.shell.stores.protocol import Granted, Ticket, Wait, Want
from tests.support.stores import Remote, Terms, make_live

LEASE = 45
REQUESTS = Want("requests", 60)
CALLS = Want("tool-calls", 10)
BOTH = (REQUESTS, CALLS)


def one(name: str, queue: str = "q") -> Ticket:
    return Ticket(queue, name)


async def taken(live: Any, wants: Sequence[Want], times: int, tenant: str = "t") -> int:
    """How many of so many get it."""
    return sum([isinstance(await live.take(tenant, wants), Granted) for _ in range(times)])


def full_in(answer: Granted | Wait) -> list[float]:
    return [round(seconds, 3) for seconds in answer.full_in]


# ── meters ──


async def test_a_minutes_units_may_come_at_once_and_no_more(live: Any, terms: Terms) -> None:
    """U51: and whoever waits gets one unit after the other."""
    assert await taken(live, [REQUESTS], 60) == 60
    answer = await live.take("t", [REQUESTS])
    assert (type(answer), full_in(answer)) == (Wait, [60])
    assert await taken(live, [REQUESTS], 3, "other") == 3
    for _ in range(3):
        terms.steady += 1
        assert await taken(live, [REQUESTS], 2) == 1
    terms.steady += 3600
    assert await taken(live, [REQUESTS], 100) == 60


async def test_all_that_is_wanted_or_nothing(live: Any) -> None:
    assert full_in(await live.take("t", BOTH)) == [1, 6]
    assert await taken(live, BOTH, 20) == 9
    refused = await live.take("t", [CALLS, REQUESTS])
    assert (type(refused), full_in(refused)) == (Wait, [60, 10])
    assert full_in(await live.take("t", [REQUESTS])) == [11]


async def test_several_units_at_once(live: Any) -> None:
    assert full_in(await live.take("t", [CALLS._replace(units=10)])) == [60]
    assert await taken(live, [CALLS._replace(units=1)], 1) == 0


async def test_what_is_only_asked_is_not_taken_and_refuses_nobody(live: Any) -> None:
    await live.charge("t", [CALLS._replace(units=15)])
    for n in (1, 2):
        answer = await live.take("t", [REQUESTS, CALLS._replace(units=0)])
        assert (type(answer), full_in(answer)) == (Granted, [n, 90])


async def test_a_debt_is_paid_back_first(live: Any, terms: Terms) -> None:
    assert await taken(live, [CALLS], 1) == 1
    await live.charge("t", [CALLS._replace(units=14)])
    assert full_in(await live.take("t", [CALLS])) == [90]
    terms.steady += 35.9
    assert await taken(live, [CALLS], 1) == 0
    terms.steady += 0.1
    assert await taken(live, [CALLS], 2) == 1


async def test_what_is_given_back_can_be_taken_and_nothing_is_saved_up(live: Any) -> None:
    assert await taken(live, [CALLS], 10) == 10
    await live.charge("t", [CALLS._replace(units=-2)])
    assert await taken(live, [CALLS], 5) == 2
    await live.charge("t", [CALLS._replace(units=-90)])
    assert await taken(live, [CALLS], 50) == 10


async def test_a_clock_that_jumps_back_stops_nobody(live: Any, terms: Terms) -> None:
    """U54: nobody waits longer than before, not even who asked as the first one after it."""
    assert await taken(live, [REQUESTS], 60) == 60
    terms.steady -= 300
    assert full_in(await live.take("t", [REQUESTS])) == [60]
    terms.steady += 10
    assert await taken(live, [REQUESTS], 20) == 10
    terms.steady -= 300
    terms.steady += 1
    assert full_in(await live.take("t", [REQUESTS])) == [60]
    terms.steady += 60
    assert await taken(live, [REQUESTS], 100) == 60


async def test_processes_that_disagree_about_the_time_get_no_more(live: Any, terms: Terms) -> None:
    """U51: each of them but estimates it, and one question overtakes another."""
    assert await taken(live, [REQUESTS], 60) == 60
    for _ in range(20):
        terms.steady += 0.45
        assert await taken(live, [REQUESTS], 1) == 0
        terms.steady -= 0.45
        assert await taken(live, [REQUESTS], 1) == 0
    terms.steady += 1
    assert await taken(live, [REQUESTS], 2) == 1


async def test_another_limit_holds_for_what_was_taken_before(live: Any) -> None:
    assert await taken(live, [REQUESTS], 30) == 30
    assert await taken(live, [REQUESTS._replace(most=10)], 20) == 5


async def test_full_meters_are_swept(live: Any, terms: Terms) -> None:
    await live.take("t", BOTH)
    await live.charge("other", [CALLS])
    terms.steady += 5.9
    assert await live.sweep(50) == 1
    terms.steady += 0.2
    assert [await live.sweep(1) for _ in range(3)] == [1, 1, 0]
    assert full_in(await live.take("t", BOTH)) == [1, 6]


async def test_eight_processes_together_take_no_more_than_there_is(tmp_path: Path) -> None:
    """U51: to the unit, as no time passes."""
    terms = Terms()
    engines = [Remote("sqlite", "live", tmp_path / "live.db", terms) for _ in range(8)]
    await asyncio.gather(*(engine.open() for engine in engines))
    counts = await asyncio.gather(*(taken(engine, [REQUESTS], 12) for engine in engines))
    assert sum(counts) == 60
    await asyncio.gather(*(engine.close() for engine in engines))


# ── queues ──


async def test_tickets_are_in_the_order_of_their_arrival(live: Any) -> None:
    """U56."""
    a, b, c, d = map(one, "abcd")
    assert await live.enter("v", [a]) == {a: 0}
    assert await live.enter("w", [b, c]) == {b: 1, c: 2}
    assert await live.enter("v", [d, a]) == {a: 0, d: 3}
    elsewhere = one("a", "r")
    assert await live.enter("w", [elsewhere]) == {elsewhere: 0, b: 1, c: 2}
    await live.leave([a, one("unknown")])
    for _ in range(2):
        assert await live.ranks("v") == {d: 2}
        assert await live.ranks("w") == {b: 0, c: 1, elsewhere: 0}
    await live.leave([c])
    assert await live.ranks("v") == {d: 1}
    assert await live.enter("w", [c]) == {b: 0, c: 2, elsewhere: 0}
    await live.leave([b, c, d, elsewhere])
    assert await live.ranks("v") == await live.ranks("w") == {}


async def test_the_dead_leave(live: Any, terms: Terms) -> None:
    """U55: who is not heard of for the time of a lease counts no more; who is late and comes back, does."""
    a, b = map(one, "ab")
    await live.enter("v", [a])
    terms.steady += 1
    assert await live.enter("w", [b]) == {b: 1}
    terms.steady += LEASE - 2
    assert await live.ranks("w") == {b: 1}
    terms.steady += 1
    assert await live.ranks("v") == {}
    assert await live.ranks("w") == {b: 0}
    assert await live.enter("v", []) == {a: 0}
    assert await live.ranks("w") == {b: 1}
    terms.steady += LEASE - 1
    assert await live.enter("v", []) == {a: 0}
    assert await live.sweep(50) == 1
    assert await live.enter("w", []) == {}
    assert await live.enter("w", [b]) == {b: 1}
    terms.steady += 2 * LEASE
    assert [await live.sweep(1) for _ in range(3)] == [1, 1, 0]


async def test_a_clock_that_jumps_back_buries_no_ticket_for_long(live: Any, terms: Terms) -> None:
    """U54: leases that seem to last too long are none, until their workers are heard of again."""
    a, b = map(one, "ab")
    await live.enter("v", [a])
    terms.steady -= 300
    assert await live.enter("w", [b]) == {b: 0}
    assert await live.enter("v", []) == {a: 0}
    assert await live.ranks("w") == {b: 1}


async def test_whose_time_is_a_little_ahead_keeps_its_ticket(live: Any, terms: Terms) -> None:
    """U54: processes only estimate what time a server has."""
    a, b = map(one, "ab")
    terms.steady += 2
    await live.enter("v", [a])
    terms.steady -= 2
    assert await live.enter("w", [b]) == {b: 1}


@pytest.mark.parametrize("queue", ["", "\x01 ü \U0001f600", "https://a/v1 {x}"])
async def test_any_name_is_a_queue_of_its_own(live: Any, queue: str) -> None:
    ticket = Ticket(queue, "a")
    await live.enter("w", [one("b")])
    assert (await live.enter("v", [ticket]))[ticket] == 0


async def test_eight_processes_stand_in_one_queue(tmp_path: Path) -> None:
    """U56: each ticket has a rank of its own, and the engine that opens the file next sees the same."""
    terms = Terms()
    engines = [Remote("sqlite", "live", tmp_path / "live.db", terms) for _ in range(8)]
    await asyncio.gather(*(engine.open() for engine in engines))

    async def enter(number: int) -> None:
        for n in range(5):
            await engines[number].enter(f"w{number}", [one(f"{number}.{n}")])

    await asyncio.gather(*map(enter, range(8)))
    ranks = [await engine.ranks(f"w{number}") for number, engine in enumerate(engines)]
    assert sorted(rank for mine in ranks for rank in mine.values()) == list(range(40))
    assert all(list(mine.values()) == sorted(mine.values()) for mine in ranks)
    await asyncio.gather(*(engine.close() for engine in engines))
    later = make_live("sqlite", terms, tmp_path / "live.db")
    await later.open()
    assert await later.ranks("w3") == ranks[3]
    await later.close()
