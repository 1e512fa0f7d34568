"""The guard: every wait ends, a store that is down holds up nobody, and what was given up leaves nothing behind."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from proxy.shell.stores.guard import MOST_WAITING, UNDONE_IN_DOUBT, Guard
from proxy.shell.stores.protocol import RecordUnreadable, StoreDown, StoreInDoubt, StoreLate
from tests.support.guarded_stores import SHORT, GuardNotes


@dataclass
class Store:
    """Answers, fails, or is frozen."""

    now: float = 100.0
    broken: bool = False
    in_doubt: bool = False
    begun: int = 0
    thawed: asyncio.Event = field(default_factory=asyncio.Event)
    seen: GuardNotes = field(default_factory=GuardNotes)

    def __post_init__(self) -> None:
        self.thawed.set()
        self.guard = Guard(SHORT, lambda: self.now, self.seen, self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)

    async def command(self) -> str:
        self.begun += 1
        await self.thawed.wait()
        if self.in_doubt:
            raise StoreInDoubt("no answer")
        if self.broken:
            raise StoreDown("broken")
        return "done"

    async def read(self) -> str:
        return await self.guard.read("get", self.command)

    async def write(self, **how: Any) -> str:
        return await self.guard.write("save", self.command, **how)

    async def fail(self, times: int, ask: Callable[[], Any] | None = None) -> None:
        for _ in range(times):
            with pytest.raises(StoreDown):
                await (ask or self.write)()


@pytest.fixture
def store() -> Store:
    return Store()


async def test_an_answer_is_passed_on(store: Store) -> None:
    assert await store.read() == await store.write() == "done"
    assert store.seen.took_ == ["get", "save"]

    async def refuse() -> None:
        raise RecordUnreadable("damaged")

    for _ in range(9):
        with pytest.raises(RecordUnreadable):
            await store.guard.read("get", refuse)
    assert store.guard.is_up, "an answer, if not a welcome one"


async def test_what_is_on_its_way_needs_no_task(store: Store) -> None:
    """As what a thread of its engine works on: each save of SQLite is that."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()
    before = asyncio.all_tasks()
    waiting = loop.create_task(store.guard.write("save", lambda: answer))
    await asyncio.sleep(0)
    assert asyncio.all_tasks() - before == {waiting}
    answer.set_result("done")
    assert await waiting == "done"
    assert store.seen.took_ == ["save"]
    late: asyncio.Future[str] = loop.create_future()
    with pytest.raises(StoreLate) as failure:
        await store.guard.write("save", lambda: late)
    assert failure.value.answer is late, "which tells what became of it"
    assert not late.done(), "whoever gives up leaves it alone"


async def test_after_three_failures_it_is_asked_once_a_second(store: Store) -> None:
    """And reads go on (U10)."""
    store.broken = True
    await store.fail(10)
    assert store.begun == 3
    store.now += 1
    await store.fail(5)
    assert store.begun == 4
    store.broken = False
    await store.fail(1)
    assert await store.read() == "done"
    store.now += 1
    assert [await store.write() for _ in range(3)] == ["done"] * 3
    assert store.seen.told == ["down", "back after 2"]
    assert store.guard.is_up


async def test_a_frozen_store_is_left_alone(store: Store) -> None:
    """U09, U19: every wait ends; tasks left behind do not grow in number; it heals by itself."""
    store.thawed.clear()
    await asyncio.gather(*(store.fail(1) for _ in range(20)))
    assert store.begun == 20
    for _ in range(100):
        store.now += 1
        await store.fail(1)
    assert store.begun == 20, "the ones under way will tell"
    assert store.guard.waiting_seconds == 100
    store.thawed.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await store.write() == "done"
    assert store.guard.waiting_seconds == 0
    assert store.seen.told == ["down", "back after 100"]


async def test_no_endless_queue(store: Store) -> None:
    """U22."""
    store.thawed.clear()
    waiting = [asyncio.ensure_future(store.read()) for _ in range(MOST_WAITING)]  # noqa: TID251 - held here
    await asyncio.sleep(0)
    with pytest.raises(StoreDown, match="too many"):
        await store.read()
    store.thawed.set()
    assert set(await asyncio.gather(*waiting)) == {"done"}


async def test_a_store_that_comes_and_goes_does_not_fill_the_log(store: Store) -> None:
    """U53."""
    for _ in range(20):
        store.broken = True
        await store.fail(3)
        store.broken = False
        store.now += 1
        await store.write()
    assert store.seen.told == ["down", "back after 1"]
    store.now += 60
    store.broken = True
    await store.fail(3)
    assert store.seen.told[2:] == ["down"]


async def test_a_cancelled_caller_leaves_the_command_alone(store: Store) -> None:
    """U04, U23: nothing is undone either."""
    store.thawed.clear()
    undone: list[str] = []
    caller = asyncio.ensure_future(store.write(key="k", undo=_undoing(undone)))  # noqa: TID251 - held here
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    store.thawed.set()
    await store.read()
    assert (store.begun, store.seen.took_, undone) == (2, ["save", "get"], [])


def _undoing(undone: list[str], *answers: bool | Exception) -> Any:
    left = list(answers)

    async def undo(result: str) -> bool:
        undone.append(result)
        answer = left.pop(0) if left else True
        if isinstance(answer, Exception):
            raise answer
        return answer

    return undo


async def test_what_was_given_up_is_undone_when_it_is_done_after_all(store: Store) -> None:
    """U02: again and again until that is done, too."""
    store.thawed.clear()
    undone: list[str] = []
    with pytest.raises(StoreDown, match=r"did not answer within 0.02 s"):
        await store.write(key="k", undo=_undoing(undone, StoreDown(), False))
    assert undone == []
    store.thawed.set()
    for _ in range(10):
        await asyncio.sleep(0)
    assert undone == ["done"] * 3


async def test_what_failed_in_the_end_needs_no_undoing(store: Store) -> None:
    store.thawed.clear()
    undone: list[str] = []
    with pytest.raises(StoreDown):
        await store.write(key="k", undo=_undoing(undone))
    store.broken = True
    store.thawed.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert undone == []


async def test_what_may_have_been_done_is_undone_and_a_little_later_again(store: Store) -> None:
    """Its caller was told that it was not; and it may come behind what undoes it."""
    store.in_doubt = True
    undone: list[str] = []
    before = store.now
    with pytest.raises(StoreInDoubt):
        await store.write(key="k", undo=_undoing(undone, StoreDown()), done="perhaps done")
    for _ in range(20):
        await asyncio.sleep(0)
    assert undone == ["perhaps done"] * (1 + UNDONE_IN_DOUBT)
    assert store.now == before + UNDONE_IN_DOUBT


async def test_what_may_have_been_done_can_be_asked_for_again(store: Store) -> None:
    store.in_doubt = True
    undone: list[str] = []
    with pytest.raises(StoreInDoubt):
        await store.write(key="k", undo=_undoing(undone), done="perhaps done")
    store.in_doubt = False
    assert await store.write(key="k", undo=_undoing(undone), done="perhaps done") == "done"
    for _ in range(10):
        await asyncio.sleep(0)
    assert (store.begun, undone) == (2, [])


async def test_what_was_given_up_can_be_asked_for_again(store: Store) -> None:
    """U07: it is the same command; nothing is undone."""
    store.thawed.clear()
    undone: list[str] = []
    for _ in range(2):
        with pytest.raises(StoreDown):
            await store.write(key="k", undo=_undoing(undone))
    again = asyncio.ensure_future(store.write(key="k", undo=_undoing(undone)))  # noqa: TID251 - held here
    await asyncio.sleep(0)
    store.thawed.set()
    assert await again == "done"
    await asyncio.sleep(0)
    assert (store.begun, undone) == (1, [])


async def test_asked_again_while_it_is_undone_it_waits_for_that(store: Store) -> None:
    store.thawed.clear()
    undoing = asyncio.Event()

    async def undo(result: str) -> bool:
        await undoing.wait()
        return True

    with pytest.raises(StoreDown):
        await store.write(key="k", undo=undo)
    store.thawed.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(StoreDown, match="being undone"):
        await store.write(key="k", undo=undo)
    assert store.begun == 1
    undoing.set()
    assert await store.write(key="k", undo=undo) == "done"
    assert store.begun == 2


async def test_closing_waits_for_what_runs_but_not_for_ever(store: Store) -> None:
    store.thawed.clear()
    with pytest.raises(StoreDown):
        await store.write()
    await store.guard.close()
    await asyncio.sleep(0)
    assert store.guard.waiting_seconds == 0
