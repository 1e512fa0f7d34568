"""The judge of limits over many nodes, before it judges anybody."""

from collections.abc import Iterable, Iterator

import pytest

from tests.load.counted import MOMENT_SECONDS
from tests.load.limited import Came, Taken, Tenant, tenants
from tests.load.limits_held import Held, judged
from tests.load.troubles import HEALING_SECONDS, History, Kill, Outage

LIMIT = 1200
ASKER, CALLER = tenants(LIMIT)
NODES = ("a", "b", "c")
SECONDS = 240.0
AWAY = Outage("restart", 98.0, 102.0)


def evenly(count: int, began: float, ended: float, units: int = 1) -> Iterator[Came]:
    """From node to node."""
    for number in range(count):
        yield Came(began + number * (ended - began) / count, units, NODES[number % 3])


ALL = [*evenly(LIMIT + 200, 0, 10), *evenly(20 * 230, 10, SECONDS)]
"""A minute's worth at once, and then no more than flows in."""


def held(
    came: Iterable[Came], history: History | None = None, tenant: Tenant = ASKER, lost: Iterable[Came] = ()
) -> Held:
    taken = Taken(lost=[(each.at, each.units) for each in lost])
    return judged(tenant, sorted(came), taken, history or History(), 0.0, SECONDS)


def test_who_lets_all_in_that_flows_in_is_right() -> None:
    found = held(ALL)
    assert found.wrong == []
    assert found.taken_along == 0
    assert found.charged == pytest.approx(LIMIT, rel=0.01)


@pytest.mark.parametrize("more", [evenly(40, 100, 101), evenly(100, 10, SECONDS)])
def test_more_than_one_in_a_hundred_beyond_is_wrong(more: Iterable[Came]) -> None:
    """At once, or by and by."""
    (wrong,) = held([*ALL, *more]).wrong
    assert wrong.endswith("at once, above a limit of 1200")


@pytest.mark.parametrize(
    ("node", "killed", "is_right"),
    [
        ("a", Kill(100.0, "a"), True),
        ("b", Kill(100.0, "a"), False),
        ("a", Kill(AWAY.ended + HEALING_SECONDS + 1, "a"), False),
        ("a", Kill(99.0, "a"), False),
    ],
    ids=["killed meanwhile", "another was killed", "had time to tell", "came behind the kill"],
)
def test_what_a_node_let_in_that_was_killed_before_it_could_tell_is_no_leak(
    node: str, killed: Kill, is_right: bool
) -> None:
    alone = [Came(99.2 + number * 0.01, 1, node) for number in range(50)]
    found = held([*ALL, *alone], History([killed], [AWAY]))
    assert (found.wrong == []) is is_right
    assert (found.taken_along >= 50) is is_right
    assert found.deepest > LIMIT * 1.03


def test_calls_of_those_under_way_are_charged_on_credit_and_then_paid_back() -> None:
    """As those came in there was one unit for each of them."""
    late = [Came(100 + number * 0.001, 3, "a") for number in range(20)]
    paid = [each for each in ALL if not 99 < each.at < 102.5]
    assert held([*paid, *late], tenant=CALLER).wrong == []
    assert held([*ALL, *late], tenant=CALLER).wrong
    assert held([*paid, *late, *evenly(20, 100.5, 101)], tenant=CALLER).wrong, "in debt"


def test_calls_that_were_never_charged_went_with_their_node() -> None:
    kill = Kill(100.0, "a")
    under_way = [Came(kill.at - MOMENT_SECONDS / 2, 3, "a")] * 30
    paid = [each for each in ALL if not 98 < each.at < 100]
    found = held([*paid, *under_way], History([kill]), CALLER)
    assert (found.wrong, found.taken_along) == ([], 60)
    assert held([*paid, *under_way], tenant=CALLER).wrong


def test_a_store_that_lost_all_begins_with_full_limits() -> None:
    crash = Outage("crash", 98.0, 102.0)
    came = [*ALL, *evenly(LIMIT - 20, 102, 103)]
    assert held(came, History([], [crash])).wrong == []
    assert held(came, History([], [AWAY])).wrong


def test_whoever_lets_in_less_than_flows_in_is_wrong_unless_it_was_cut_off() -> None:
    missing = [each for each in ALL if 130 < each.at < 132]
    came = [each for each in ALL if each not in missing]
    (wrong,) = held(came).wrong
    assert "though more were wanted" in wrong
    assert held(came, lost=missing).wrong == []
