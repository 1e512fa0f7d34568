"""P08 over all processes that share a store: who is let in, who pays, and what is done without the store."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest

from proxy.core.errors import TooMany
from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded
from proxy.core.model import Call, Text, ToolKind, ToolName
from proxy.core.policy.quota import REQUESTS, TELLING, TOOL_CALLS, Quota
from proxy.core.tenants import ANYBODY, Tenant
from proxy.shell.limits.tenant_limits import Charge, TenantLimits
from proxy.shell.ops.logs import make_log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.stores.protocol import Granted, NotAsked, StoreDown, StoreInDoubt, StoreLate, Wait, Want
from tests.support.shared_live import Weak
from tests.support.stores import Terms

TENANT = Tenant("acme", requests_per_minute=3, tool_calls_per_minute=10)
MANY = replace(TENANT, requests_per_minute=60)
BY_CALLS = replace(TENANT, requests_per_minute=None, tool_calls_per_minute=5)


@pytest.fixture
def terms() -> Terms:
    return Terms()


@pytest.fixture
def store(terms: Terms) -> Weak:
    return Weak(terms)


class Process:
    """One of those that share the store, if there is one."""

    def __init__(self, terms: Terms, store: Any) -> None:
        log = make_log(format="json", stream=StringIO())
        self.metrics, self.tasks = Metrics({}, ()), Tasks(log)
        self.knows = True
        self.limits = TenantLimits(
            Quota(lambda: terms.steady), store, lambda: 4, lambda: self.knows, self.tasks, self.metrics
        )

    async def begin(self, tenant: Tenant, *, tools: bool = False) -> Charge:
        charge = self.limits.admit(tenant)
        await charge.take(calls=tools)
        return charge

    async def lets_in(self, tenant: Tenant, times: int, *, tools: bool = False) -> list[Charge]:
        """Of so many requests."""
        charges = []
        for _ in range(times):
            with suppress(TooMany):
                charges.append(await self.begin(tenant, tools=tools))
        return charges

    async def refusal(self, tenant: Tenant, *, tools: bool = False) -> TooMany:
        with pytest.raises(TooMany) as raised:
            await self.begin(tenant, tools=tools)
        return raised.value

    async def replied(self, charge: Charge, calls: int | None) -> None:
        """Twice, as it happens to a request that is refused at last."""
        for _ in range(2):
            charge.end(None if calls is None else reply(calls))
        await self.tasks.finish(1)

    async def owes(self, tenant: Tenant, calls: int) -> None:
        """A reply that nobody expected has so many."""
        self.limits.charge(tenant, TOOL_CALLS, calls)
        await self.tasks.finish(1)

    def left(self, tenant: Tenant, unit: str = REQUESTS) -> int:
        return int(self.limits.remaining(tenant)[f"x-ratelimit-remaining-{unit}"])

    @property
    def by_share(self) -> float:
        return sum(number for _, number in self.metrics.counts()["limits_by_share"])


def reply(calls: int) -> Reply:
    call = Call("a", ToolName("f"), ToolKind.FUNCTION, "{}")
    parts = [PartEnded(Text("Hm."), True), *[PartEnded(call, True)] * calls]
    return Reply(parts, ReplyEnded(Ending.COMPLETED))


@pytest.fixture
def process(terms: Terms, store: Weak) -> Process:
    return Process(terms, store)


@pytest.fixture(params=["alone", "shared"])
def either(request: pytest.FixtureRequest, terms: Terms, store: Weak) -> Process:
    return Process(terms, store if request.param == "shared" else None)


# ── the same with a store and without ──


async def test_v40_with_no_unit_left_nobody_who_declares_tools_is_let_in(either: Process) -> None:
    """Also not while the replies that the last units are for are on their way; who asks for words alone is."""
    begun = await either.lets_in(BY_CALLS, 6, tools=True)
    assert len(begun) == 5
    for _ in range(5):
        assert (await either.refusal(BY_CALLS, tools=True)).retry_after == 12
    [words] = await either.lets_in(BY_CALLS, 1)
    await either.replied(words, 0)
    await either.replied(begun[0], 0)
    assert len(await either.lets_in(BY_CALLS, 2, tools=True)) == 1


async def test_v40_at_most_one_reply_goes_over_the_limit(either: Process) -> None:
    await either.replied(await either.begin(BY_CALLS, tools=True), 6)
    assert "5 tool calls" in (await either.refusal(BY_CALLS, tools=True)).message


async def test_p08_a_request_that_waits_for_calls_is_not_charged_as_a_request(either: Process) -> None:
    """And is told the wait that it will need."""
    await either.owes(TENANT, 11)
    for _ in range(9):
        fault = await either.refusal(TENANT, tools=True)
        assert (fault.retry_after, "10 tool calls" in fault.message) == (12, True)
    assert either.left(TENANT) == 3


async def test_p08_a_minutes_requests_and_no_more(either: Process, terms: Terms) -> None:
    assert len(await either.lets_in(TENANT, 5)) == 3
    assert (await either.refusal(TENANT)).retry_after == 20
    assert await either.lets_in(replace(TENANT, name="other"), 1)
    terms.steady += 20
    assert len(await either.lets_in(TENANT, 3)) == 1


async def test_p08_whoever_waits_as_told_is_let_in(either: Process, terms: Terms) -> None:
    tenant = replace(TENANT, requests_per_minute=7)
    for _ in range(50):
        try:
            await either.begin(tenant)
        except TooMany as fault:
            terms.steady += fault.retry_after or 0
            await either.begin(tenant)


async def test_p08_what_cannot_be_read_costs_a_request(either: Process, terms: Terms) -> None:
    for _ in range(2):
        await either.replied(either.limits.admit(TENANT), None)
    assert len(await either.lets_in(TENANT, 3)) == 1


async def test_p08_who_is_refused_later_has_made_no_call(either: Process) -> None:
    await either.replied(await either.begin(TENANT, tools=True), None)
    assert (either.left(TENANT), either.left(TENANT, TOOL_CALLS)) == (2, 10)


# ── with a store ──


async def test_d10_without_limits_the_store_is_asked_nothing(process: Process, store: Weak) -> None:
    store.failure = StoreDown("away")
    for charge in await process.lets_in(ANYBODY, 100, tools=True):
        await process.replied(charge, 5)
    assert not store.asked
    assert process.by_share == 0


async def test_u51_all_processes_together_let_in_a_minutes_requests(terms: Terms, store: Weak) -> None:
    """And each tells its clients how they stand with all of them."""
    several = [Process(terms, store) for _ in range(5)]
    assert [len(await process.lets_in(MANY, 20)) for process in several] == [20, 20, 20, 0, 0]
    terms.steady += 2
    assert [len(await process.lets_in(MANY, 1)) for process in several] == [1, 1, 0, 0, 0]
    assert {process.left(MANY) for process in several[1:]} == {0}


async def test_u51_calls_count_for_all(terms: Terms, store: Weak) -> None:
    first, second = Process(terms, store), Process(terms, store)
    await first.replied(await first.begin(TENANT, tools=True), 14)
    fault = await second.refusal(TENANT, tools=True)
    assert (fault.retry_after, "10 tool calls" in fault.message) == (30, True)
    assert (second.left(TENANT), second.left(TENANT, TOOL_CALLS)) == (2, 0)


async def test_a_request_asks_once_whatever_it_takes(process: Process, store: Weak) -> None:
    await process.replied(await process.begin(TENANT, tools=True), 1)
    assert store.asked == {"take": 1}


async def test_who_must_wait_is_refused_from_memory(process: Process, store: Weak, terms: Terms) -> None:
    await process.lets_in(TENANT, 50)
    terms.steady += 19.9
    assert not await process.lets_in(TENANT, 50)
    assert store.asked == {"take": 3}
    terms.steady += 0.1
    assert len(await process.lets_in(TENANT, 50)) == 1
    assert store.asked == {"take": 4}


async def test_who_waits_for_calls_is_refused_from_memory(process: Process, store: Weak) -> None:
    await process.owes(TENANT, 11)
    store.asked.clear()
    assert not await process.lets_in(TENANT, 50, tools=True)
    assert store.asked["take"] <= 1


async def test_who_is_refused_by_the_store_is_not_asked_about_again(terms: Terms, store: Weak) -> None:
    first, second = Process(terms, store), Process(terms, store)
    await first.lets_in(TENANT, 3)
    assert not await second.lets_in(TENANT, 50)
    assert store.asked == {"take": 4}


async def test_u24_a_store_that_lost_everything_lets_in_a_minutes_requests(
    process: Process, store: Weak, terms: Terms
) -> None:
    await process.lets_in(MANY, 59)
    store.inner = Weak(terms).inner
    assert process.left(MANY) == 1
    assert len(await process.lets_in(MANY, 100)) == 60


# ── without it ──


@pytest.mark.parametrize("failure", [StoreDown, NotAsked])
async def test_u52_without_the_store_each_process_has_its_part(
    failure: Callable[[str], Exception], process: Process, store: Weak, terms: Terms
) -> None:
    store.failure = failure("away")
    assert len(await process.lets_in(MANY, 50)) == 15
    assert process.by_share == 15
    terms.steady += 60
    assert len(await process.lets_in(MANY, 50)) == 15
    assert len(await process.lets_in(replace(TENANT, name="small"), 50)) == 1
    assert len(await process.lets_in(replace(TENANT, name="calls"), 50, tools=True)) == 1


async def test_u52_who_never_heard_of_the_store_has_what_flows_into_its_part(
    process: Process, store: Weak, terms: Terms
) -> None:
    """And one at once: what was taken up to now it cannot know."""
    store.failure, process.knows = NotAsked("away"), False
    assert len(await process.lets_in(MANY, 50)) == 1
    assert (await process.refusal(MANY)).retry_after == 4
    for _ in range(10):
        terms.steady += 4
        assert len(await process.lets_in(MANY, 50)) == 1
    assert len(await process.lets_in(replace(TENANT, name="small"), 50)) == 1
    store.failure, process.knows = None, True
    for _ in range(3):
        terms.steady += TELLING
        assert await process.lets_in(MANY, 1)
        await process.tasks.finish(1)
    assert len(await process.lets_in(MANY, 100)) > 15
    store.failure = NotAsked("away")
    assert len(await process.lets_in(replace(MANY, name="later"), 50)) == 15


JUST_ASKED = [Want(REQUESTS, 60, 0), Want(TOOL_CALLS, 10, 0)]


async def test_u53_the_store_hears_later_what_it_was_not_asked(
    process: Process, store: Weak, terms: Terms
) -> None:
    """And until others have told theirs, the process goes on by its part."""
    store.failure = NotAsked("away")
    none, three = await process.lets_in(MANY, 10, tools=True)
    await process.replied(none, 0)
    await process.replied(three, 3)
    store.failure = None
    assert len(await process.lets_in(MANY, 50)) == 13
    await process.tasks.finish(1)
    assert (await store.take("acme", JUST_ASKED)).full_in == [14, 18], "the last one is told with the next"
    terms.steady += TELLING
    assert await process.lets_in(MANY, 1)
    await process.tasks.finish(1)
    assert (await store.take("acme", JUST_ASKED)).full_in == [11, 13]
    assert (process.left(MANY), process.left(MANY, TOOL_CALLS)) == (49, 7)


async def test_u53_nobody_pays_twice_for_an_answer_that_did_not_come(process: Process, store: Weak) -> None:
    """What was asked may have been done: requests, and calls as well."""
    store.failure, store.does_it_all_the_same = StoreDown("late"), True
    await process.owes(MANY, 5)
    await process.lets_in(MANY, 5)
    store.failure = None
    assert await process.lets_in(MANY, 1)
    await process.tasks.finish(1)
    assert (await store.take("acme", JUST_ASKED)).full_in == [5, 30]


@pytest.mark.parametrize(
    ("end", "is_charged"),
    [
        (NotAsked("nobody has heard it"), True),
        (Wait([60.0, 60.0]), True),
        (Granted([1.0, 6.0]), False),
        (StoreInDoubt("cut off"), False),
        (None, False),
    ],
    ids=["not heard", "refused", "granted", "in doubt", "given up"],
)
async def test_u53_what_turns_out_late_not_to_be_charged_is_charged_then(
    process: Process, store: Weak, end: Any, is_charged: bool
) -> None:
    """Nobody waits for it. Of all else the store may know."""
    answers: list[asyncio.Future[Any]] = [asyncio.get_running_loop().create_future() for _ in range(2)]
    store.failure = StoreLate("late", answers[0])
    await process.owes(MANY, 1)
    store.failure = StoreLate("late", answers[1])
    assert await process.lets_in(MANY, 1, tools=True)
    for answer in answers:
        if end is None:
            answer.cancel()
        else:
            (answer.set_exception if isinstance(end, Exception) else answer.set_result)(end)
    await asyncio.sleep(0)
    store.failure = None
    assert await process.lets_in(MANY, 1)
    await process.tasks.finish(1)
    assert (await store.take("acme", JUST_ASKED)).full_in == ([1, 12] if is_charged else [0, 0])


async def test_u52_what_is_let_in_while_nobody_answers_is_charged_afterwards(
    process: Process, store: Weak
) -> None:
    """But for the first one: nobody knows whether that was heard. Who asks whether the store is back takes nothing."""
    store.failure = StoreDown("late")
    assert len(await process.lets_in(MANY, 10)) == 10
    await process.owes(MANY, 5)
    store.failure = None
    assert await process.lets_in(MANY, 1)
    await process.tasks.finish(1)
    assert (await store.take("acme", JUST_ASKED)).full_in == [9, 30]


async def test_u53_a_store_that_flaps_neither_opens_nor_closes_the_limit(terms: Terms, store: Weak) -> None:
    """Ten minutes, away in every other second: sixty a minute go through, and the first sixty."""
    several = [Process(terms, store) for _ in range(4)]
    count = 0
    for second in range(600):
        store.failure = NotAsked("away") if second % 2 else None
        for process in several:
            count += len(await process.lets_in(MANY, 2))
            await process.tasks.finish(1)
        terms.steady += 1
    assert 600 <= count <= 680


async def test_what_is_charged_is_waited_for_by_nobody(process: Process, store: Weak) -> None:
    charge = await process.begin(TENANT, tools=True)
    store.may.clear()
    charge.end(reply(4))
    assert process.left(TENANT, TOOL_CALLS) == 6
    store.may.set()
    await process.tasks.finish(1)
    assert (await store.take("acme", [Want(TOOL_CALLS, 10, 0)])).full_in == [24]


async def test_requests_at_once_are_counted_at_once(process: Process) -> None:
    counts = await asyncio.gather(*(process.lets_in(TENANT, 1) for _ in range(20)))
    assert sum(map(len, counts)) == 3
