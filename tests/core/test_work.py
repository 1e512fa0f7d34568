"""One budget for all work on a request (attack-13): what is spent, by whom, and how it ends."""

import pytest

from proxy.core.errors import ClientFault
from proxy.core.work import BRIEF_UNITS, MAX_GROWTH, UNITS_PER_REQUEST, TakesLong, Work


def test_whoever_spends_the_last_of_it_is_refused_by_name() -> None:
    work = Work()
    work.on = "tools[3].parameters"
    work.spend(UNITS_PER_REQUEST)
    with pytest.raises(ClientFault) as refused:
        work.spend(1)
    assert refused.value.code == "request_too_complex"
    assert refused.value.param == "tools[3].parameters"
    assert refused.value.message.startswith("tools[3].parameters brings the work on this request above")


def test_all_that_is_no_field_is_the_body() -> None:
    with pytest.raises(ClientFault, match="The request body brings") as refused:
        Work().spend(UNITS_PER_REQUEST + 1)
    assert refused.value.param is None


def test_what_schemas_grow_by_is_counted_apart() -> None:
    work = Work()
    work.grow(MAX_GROWTH)
    assert work.left == UNITS_PER_REQUEST
    with pytest.raises(ClientFault):
        work.grow(1)


def test_what_is_not_done_briefly_is_dear_and_costs_nothing_yet() -> None:
    work = Work()
    work.spend(5)
    work.grow(5)

    def long_one() -> None:
        work.grow(MAX_GROWTH - 5)
        work.spend(BRIEF_UNITS)
        work.spend(1)

    assert not work.takes_long
    with pytest.raises(TakesLong):
        work.briefly(long_one)
    assert work.takes_long
    assert work.left == UNITS_PER_REQUEST - 5
    work.grow(MAX_GROWTH - 5)
    work.spend(UNITS_PER_REQUEST - 5)  # a floor no more


def test_what_is_done_briefly_is_paid_for() -> None:
    work = Work()
    assert work.briefly(lambda: work.spend(BRIEF_UNITS) or "done") == "done"
    assert work.left == UNITS_PER_REQUEST - BRIEF_UNITS


def test_the_last_of_it_is_not_dear_but_too_much() -> None:
    work = Work()
    work.spend(UNITS_PER_REQUEST - 1)
    with pytest.raises(ClientFault):
        work.briefly(lambda: work.spend(2))


def test_of_one_body_it_is_known_how_deep_it_is() -> None:
    work, body = Work(), [[1]]
    assert work.levels(body) is None
    work.measured = body, 2
    assert (work.levels(body), work.levels([[1]])) == (2, None)
    work.forget_body()
    assert work.levels(body) is None
