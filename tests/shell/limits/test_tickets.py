"""One loop asks for all tickets of a process, and for nothing where there are none."""

import asyncio

from proxy.shell.limits.shared_slots import SharedSlots
from proxy.shell.stores.protocol import StoreDown, Ticket
from tests.support.shared_live import Weak
from tests.support.sharers import Start, settled, until
from tests.support.stores import Terms


async def test_one_question_is_for_all_queues(start: Start, store: Weak) -> None:
    process = start()
    other = SharedSlots("r", 2, process.tickets, lambda: 1, lambda: None)
    await asyncio.gather(*(other.at_once(owner) for owner in ("ann", "bob")), process.limit.enter("ann"))
    assert store.asked == {"enter": 1}
    assert [ticket.queue for ticket in process.slots.tickets + other.tickets] == ["q", "r", "r"]


async def test_who_has_no_ticket_asks_nothing(start: Start, store: Weak, terms: Terms) -> None:
    process = start()
    await process.limit.enter("ann")
    process.limit.leave("ann")
    await until(lambda: store.asked == {"enter": 1, "leave": 1})
    terms.steady += 60
    await settled(process)
    assert store.asked == {"enter": 1, "leave": 1}


async def test_a_sign_of_life_every_five_seconds(start: Start, store: Weak, terms: Terms) -> None:
    process = start()
    await process.limit.enter("ann")
    for seconds, enters in ((4, 1), (1, 2), (4, 2), (1, 3)):
        terms.steady += seconds
        await settled(process)
        assert store.asked["enter"] == enters


async def test_what_is_nobodys_is_given_up(start: Start, store: Weak, terms: Terms) -> None:
    """As after an answer that did not come."""
    process = start()
    await store.inner.enter("w0", [Ticket("q", "w0.old")])
    process.ask("a")
    await until(lambda: process.entered == ["a"])
    await settled(process)
    assert list(await store.inner.ranks("w0")) == process.slots.tickets


async def test_the_end_of_a_process_gives_up_all(start: Start, store: Weak) -> None:
    process, other = start(), start()
    process.ask("a")
    await until(lambda: process.entered == ["a"])
    process.ask("b")
    await settled(process)
    await process.die()
    await process.tickets.close()
    assert not await store.inner.ranks("w0")
    other.ask("c")
    await until(lambda: other.entered == ["c"])
    store.failure = StoreDown("away")
    await other.die()
    await other.tickets.close()
