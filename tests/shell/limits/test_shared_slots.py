"""F07, U56 over processes that share a backend's slots: in the order of arrival, and owners in turn."""

import asyncio

import pytest

from proxy.core.errors import Spared
from proxy.shell.stores.protocol import NotAsked, StoreDown
from tests.support.shared_live import Weak
from tests.support.sharers import Start, settled, until
from tests.support.stores import Terms


async def test_u56_one_at_a_time_and_in_the_order_of_arrival(start: Start) -> None:
    several = [start() for _ in range(8)]
    entered: list[str] = []
    tasks, order = [], [*range(8), 3, 0, 7]
    for number, process in enumerate(order):
        several[process].entered = entered
        tasks.append(several[process].ask(f"{number}"))
        await settled(several[process])
    for number, process in enumerate(order):
        await until(lambda: len(entered) > number)  # noqa: B023
        await settled(*several)
        assert entered == [f"{n}" for n in range(number + 1)]
        several[process].end(f"{number}")
    await asyncio.gather(*tasks)


async def test_as_many_at_once_as_there_are_slots(start: Start) -> None:
    first, second = start(slots=3), start(slots=3)
    tasks = [each.ask(f"{n}") for n in range(5) for each in (first, second)]
    await settled(first, second)
    assert len(first.entered + second.entered) == 3
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_who_is_alone_waits_for_one_answer_only(start: Start, store: Weak) -> None:
    process = start(slots=2)
    for name in "ab":
        process.ask(name)
        await until(lambda: name in process.entered)  # noqa: B023
    assert store.asked == {"enter": 2}


async def test_who_waits_keeps_the_ticket_with_which_it_came(start: Start, store: Weak) -> None:
    first, second = start(), start()
    first.ask("a")
    await until(lambda: first.entered == ["a"])
    second.ask("b")
    await settled(second)
    assert store.asked["enter"] == 2
    assert [ticket.id for ticket in second.slots.tickets] == ["w1.1"]


async def test_owners_get_slots_in_turn_within_a_process(start: Start, store: Weak) -> None:
    process = start()
    tasks = [process.ask("first")]
    await until(lambda: process.entered == ["first"])
    for name, owner in (("a1", "ann"), ("a2", "ann"), ("a3", "ann"), ("b1", "bob")):
        tasks.append(process.ask(name, owner))
        await settled(process)
    for name in ("first", "a1", "b1", "a2", "a3"):
        await until(lambda: process.entered[-1] == name)  # noqa: B023
        process.end(name)
    await asyncio.gather(*tasks)


async def test_f07_none_may_wait_where_none_may(start: Start, store: Weak) -> None:
    """Also behind another process; and who is refused leaves nothing behind."""
    first, second = start(waiting=0), start(waiting=0)
    task = first.ask("a")
    await until(lambda: first.entered == ["a"])
    for process in (first, second):
        for _ in range(3):
            with pytest.raises(Spared, match="as many requests as it may have"):
                await process.limit.enter("ann")
    first.end("a")
    await task
    await until(lambda: first.slots.tickets == second.slots.tickets == [])
    await second.limit.enter("ann")


async def test_f07_who_has_most_waiting_gives_way(start: Start, store: Weak) -> None:
    process = start(waiting=2)
    tasks = [process.ask("first")]
    await until(lambda: process.entered == ["first"])
    for name, owner in (("a1", "ann"), ("a2", "ann"), ("b1", "bob")):
        tasks.append(process.ask(name, owner))
        await settled(process)
    with pytest.raises(Spared):
        await tasks[2]
    await until(lambda: len(process.slots.tickets) == 3)
    for name in ("first", "a1", "b1"):
        await until(lambda: process.entered[-1] == name)  # noqa: B023
        process.end(name)
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_e5_who_leaves_while_waiting_leaves_no_ticket(start: Start, store: Weak) -> None:
    first, second = start(), start()
    task = first.ask("a")
    await until(lambda: first.entered == ["a"])
    for _ in range(3):
        left = second.ask("left")
        await until(lambda: second.slots.waits)
        left.cancel()
        await asyncio.wait({left})
    await until(lambda: not second.slots.tickets)
    waits = second.ask("b")
    first.end("a")
    await until(lambda: second.entered == ["b"])
    second.end("b")
    await asyncio.gather(task, waits)


async def test_e5_whenever_they_leave_all_slots_are_free_in_the_end(start: Start, store: Weak) -> None:
    """After every number of steps of the loop."""
    process = start(slots=2)
    for steps in range(60):
        tasks = [process.ask(name) for name in "abcd"]
        for _ in range(steps):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    await until(lambda: not process.slots.tickets)
    process.entered.clear()
    tasks = [process.ask(name) for name in "abc"]
    await settled(process)
    assert process.entered == ["a", "b"]


async def test_u55_the_slots_of_the_dead_are_free_after_their_lease(
    start: Start, store: Weak, terms: Terms
) -> None:
    dead, alive = start(), start()
    dead.ask("a")
    await until(lambda: dead.entered == ["a"])
    await dead.die()
    alive.ask("b")
    for _ in range(4):
        terms.steady += 10
        await settled(alive)
        assert alive.entered == []
    terms.steady += 10
    await until(lambda: alive.entered == ["b"])


async def test_u55_who_holds_a_slot_for_long_is_not_dead(start: Start, store: Weak, terms: Terms) -> None:
    busy, waits = start(), start()
    busy.ask("a")
    await until(lambda: busy.entered == ["a"])
    waits.ask("b")
    for _ in range(20):
        terms.steady += 10
        await settled(busy, waits)
    assert waits.entered == []


# ── without the store ──


async def test_u52_without_the_store_each_process_has_its_part(start: Start, store: Weak) -> None:
    """And at least one."""
    large, small = start(slots=8), start(slots=2)
    for process, part in ((large, 2), (small, 1)):
        store.failure = StoreDown("away")
        tasks = [process.ask(f"{n}") for n in range(4)]
        await until(lambda: len(process.entered) == part)  # noqa: B023
        store.failure = NotAsked("away")
        for _ in range(3):
            await process.tickets.answered(process.slots)
        assert len(process.entered) == len(process.divided) == part
        process.end("0")
        await until(lambda: len(process.entered) == part + 1)  # noqa: B023
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_u53_what_was_let_in_without_the_store_counts_when_it_is_back(
    start: Start, store: Weak
) -> None:
    first, second = start(), start()
    first.ask("before")
    await until(lambda: first.entered == ["before"])
    store.failure = StoreDown("away")
    second.ask("meanwhile")
    await until(lambda: second.entered == ["meanwhile"])
    store.failure = None
    await settled(second)
    waits = start()
    waits.ask("after")
    first.end("before")
    await settled(first, second, waits)
    assert waits.entered == []
    second.end("meanwhile")
    await until(lambda: waits.entered == ["after"])


async def test_u53_who_ended_while_the_store_was_away_keeps_no_slot(start: Start, store: Weak) -> None:
    """Entered before, or just when it went away: what it did not answer, it may have done."""
    first, second = start(slots=2), start(slots=2)
    first.ask("before")
    await until(lambda: first.entered == ["before"])
    store.failure, store.does_it_all_the_same = StoreDown("late"), True
    first.ask("meanwhile")
    await until(lambda: first.tickets.is_down)
    store.does_it_all_the_same = False
    for name in ("before", "meanwhile"):
        await until(lambda: name in first.entered)  # noqa: B023
        first.end(name)
    store.failure = None
    second.ask("a")
    second.ask("b")
    await until(lambda: second.entered == ["a", "b"])


async def test_u24_a_store_that_lost_everything_counts_again_who_is_there(
    start: Start, store: Weak, terms: Terms
) -> None:
    first, second, third = start(), start(), start()
    first.ask("a")
    await until(lambda: first.entered == ["a"])
    second.ask("b")
    await settled(second)
    store.inner = Weak(terms).inner
    await until(lambda: second.entered == ["b"])
    await settled(first)
    third.ask("c")
    second.end("b")
    await settled(second, third)
    assert third.entered == []
    first.end("a")
    await until(lambda: third.entered == ["c"])


async def test_u24_who_waited_when_all_was_lost_goes_on_waiting(
    start: Start, store: Weak, terms: Terms
) -> None:
    first, *others = several = [start() for _ in range(4)]
    first.ask("a")
    await until(lambda: first.entered == ["a"])
    for process in others:
        process.ask("b")
        await settled(process)
    store.inner = Weak(terms).inner
    await until(lambda: any(process.entered for process in others))
    await settled(*several)
    assert sum(len(process.entered) for process in others) == 1


async def test_a_frozen_store_holds_up_nobody_twice(start: Start, store: Weak) -> None:
    """Who comes while an answer is waited for that may never come, after others did not come."""
    process = start(slots=8)
    store.failure = StoreDown("late")
    process.ask("a")
    await until(lambda: process.entered == ["a"])
    store.may.clear()
    asked = store.asked.total()
    await until(lambda: store.asked.total() > asked)
    process.ask("b")
    await until(lambda: process.entered == ["a", "b"])
    process.ask("c")
    process.end("a")
    await until(lambda: process.entered == ["a", "b", "c"])


async def test_nobody_waits_for_a_loop_that_has_ended(start: Start) -> None:
    process = start(slots=4)
    process.ask("a")
    await until(lambda: process.entered == ["a"])
    await process.die()
    process.ask("b")
    process.end("a")
    await until(lambda: "b" in process.entered)
