"""P08: what a tenant may have in a minute."""

from dataclasses import replace

import pytest

from proxy.core.errors import TooMany
from proxy.core.policy.quota import REQUESTS, TELLING, TOOL_CALLS, Quota
from proxy.core.tenants import ANYBODY, Tenant
from tests.support.clocks import Clock, clock

__all__ = ["clock"]

TENANT = Tenant("acme", requests_per_minute=3, tool_calls_per_minute=10)
BY_CALLS = replace(TENANT, requests_per_minute=None)


@pytest.fixture
def quota(clock: Clock) -> Quota:
    return Quota(clock)


def refusal(quota: Quota, tenant: Tenant, unit: str = REQUESTS) -> TooMany:
    with pytest.raises(TooMany) as raised:
        quota.check(tenant, unit)
    return raised.value


def asks(quota: Quota, tenant: Tenant, unit: str = REQUESTS) -> None:
    quota.check(tenant, unit)
    quota.charge(tenant, unit)


def calls(quota: Quota, tenant: Tenant, calls: int) -> None:
    """A reply with so many, of which one was charged ahead."""
    asks(quota, tenant, TOOL_CALLS)
    quota.charge(tenant, TOOL_CALLS, calls - 1)


def test_p08_a_minutes_requests_may_come_at_once_and_no_more(quota: Quota) -> None:
    for _ in range(3):
        asks(quota, TENANT)
    fault = refusal(quota, TENANT)
    assert (fault.status, fault.code, fault.retryable) == (429, "rate_limit_exceeded", True)
    assert fault.retry_after == 20
    assert fault.message == "The limit of 3 requests per minute is reached. Try again in 20 s."


def test_p08_whoever_waits_as_told_is_let_in(quota: Quota, clock: Clock) -> None:
    tenant = replace(TENANT, requests_per_minute=7)
    for _ in range(50):
        try:
            asks(quota, tenant)
        except TooMany as fault:
            clock.now += fault.retry_after or 0
            asks(quota, tenant)


def test_p08_a_refused_request_costs_nothing(quota: Quota, clock: Clock) -> None:
    for _ in range(3):
        asks(quota, TENANT)
    for _ in range(5):
        assert refusal(quota, TENANT).retry_after == 20
    clock.now += 20
    asks(quota, TENANT)


def test_p08_no_more_is_saved_up_than_a_minutes_worth(quota: Quota, clock: Clock) -> None:
    asks(quota, TENANT)
    clock.now += 3600
    for _ in range(3):
        asks(quota, TENANT)
    refusal(quota, TENANT)


def test_p08_a_reply_costs_as_many_units_as_it_has_calls(quota: Quota) -> None:
    calls(quota, BY_CALLS, 5)
    assert quota.remaining(BY_CALLS)["x-ratelimit-remaining-tool-calls"] == "5"


def test_p08_calls_are_had_on_credit_and_the_next_request_waits_until_it_is_paid_back(
    quota: Quota, clock: Clock
) -> None:
    calls(quota, BY_CALLS, 9)
    calls(quota, BY_CALLS, 5)
    fault = refusal(quota, BY_CALLS, TOOL_CALLS)
    assert fault.retry_after == 30
    assert "10 tool calls per minute" in fault.message
    clock.now += 29
    refusal(quota, BY_CALLS, TOOL_CALLS)
    clock.now += 1
    asks(quota, BY_CALLS, TOOL_CALLS)


def test_p08_whoever_is_over_both_limits_is_told_the_longer_wait(quota: Quota, clock: Clock) -> None:
    for _ in range(3):
        asks(quota, TENANT)
    quota.charge(TENANT, TOOL_CALLS, 14)
    fault = refusal(quota, TENANT)
    assert (fault.retry_after, "10 tool calls" in fault.message) == (30, True)
    clock.now += 30
    asks(quota, TENANT)
    fault = refusal(quota, TENANT)
    assert (fault.retry_after, "3 requests" in fault.message) == (10, True)


def test_p08_tenants_do_not_share(quota: Quota) -> None:
    for _ in range(3):
        asks(quota, TENANT)
    asks(quota, replace(TENANT, name="other"))


def test_p08_the_headers_tell_how_a_tenant_stands(quota: Quota, clock: Clock) -> None:
    asks(quota, TENANT)
    calls(quota, TENANT, 12)
    clock.now += 0.5
    assert quota.remaining(TENANT) == {
        "x-ratelimit-limit-requests": "3",
        "x-ratelimit-remaining-requests": "2",
        "x-ratelimit-reset-requests": "19.500s",
        "x-ratelimit-limit-tool-calls": "10",
        "x-ratelimit-remaining-tool-calls": "0",
        "x-ratelimit-reset-tool-calls": "71.500s",
    }


def test_p08_without_limits_nobody_is_refused_and_no_header_promises_any(quota: Quota) -> None:
    for _ in range(1000):
        asks(quota, ANYBODY)
        calls(quota, ANYBODY, 5)
    assert not quota.limits(ANYBODY, REQUESTS)
    assert (quota.has_limits(ANYBODY), quota.has_limits(TENANT)) == (False, True)
    assert quota.remaining(ANYBODY) == {}


# ── shared with other processes ──


def left(quota: Quota, tenant: Tenant = TENANT) -> int:
    return int(quota.remaining(tenant)["x-ratelimit-remaining-requests"])


def test_what_the_store_says_goes_before_what_was_known(quota: Quota, clock: Clock) -> None:
    """And until it is asked again, time passes here."""
    assert quota.sizes(TENANT) == {REQUESTS: 3, TOOL_CALLS: 10}
    assert quota.heard(TENANT, {REQUESTS: 60.0, TOOL_CALLS: 90.0}) == {}
    assert quota.remaining(TENANT)["x-ratelimit-reset-tool-calls"] == "90.000s"
    assert refusal(quota, TENANT).retry_after == 36
    assert quota.heard(TENANT, {REQUESTS: 60.0, TOOL_CALLS: 0.0}) == {}
    assert refusal(quota, TENANT).retry_after == 20
    clock.now += 20
    asks(quota, TENANT)


def test_u52_without_the_store_each_process_has_its_part_and_at_least_one(quota: Quota, clock: Clock) -> None:
    tenant = replace(TENANT, requests_per_minute=60)
    quota.divide(tenant, 4)
    for _ in range(15):
        asks(quota, tenant)
    assert refusal(quota, tenant).retry_after == 4
    assert quota.remaining(tenant)["x-ratelimit-limit-requests"] == "60"
    clock.now += 8
    assert left(quota, tenant) == 2
    small = replace(TENANT, name="small", requests_per_minute=1, tool_calls_per_minute=None)
    quota.divide(small, 300)
    asks(quota, small)
    assert refusal(quota, small).retry_after == 60


def test_u52_of_a_part_as_much_is_gone_as_of_the_whole(quota: Quota) -> None:
    tenant = replace(TENANT, requests_per_minute=60)
    quota.heard(tenant, {REQUESTS: 40.0})
    quota.divide(tenant, 4)
    assert left(quota, tenant) == 5


def hears_again(quota: Quota, clock: Clock, tenant: Tenant, full_in: dict[str, float]) -> dict[str, int]:
    """The store is back, and so are all others. Returns what it is told."""
    told = dict(quota.heard(tenant, full_in))
    assert quota.is_divided(tenant)
    clock.now += TELLING
    assert quota.heard(tenant, full_in) == {}
    assert not quota.is_divided(tenant)
    return told


def test_u52_who_has_never_heard_of_the_store_begins_with_one_unit(quota: Quota, clock: Clock) -> None:
    """It cannot know what was taken; so it has what flows into its part, and none is saved up."""
    tenant = replace(TENANT, requests_per_minute=60)
    for _ in range(3):
        quota.divide(tenant, 4, is_new=True)
        asks(quota, tenant)
        assert refusal(quota, tenant).retry_after == 4
        clock.now += 4
    clock.now += 56
    assert left(quota, tenant) == 15
    hears_again(quota, clock, tenant, {REQUESTS: 0.0, TOOL_CALLS: 0.0})
    assert left(quota, tenant) == 60


def test_u53_the_store_is_told_once_what_was_taken_without_it(quota: Quota, clock: Clock) -> None:
    tenant = replace(TENANT, requests_per_minute=60)
    quota.divide(tenant, 4)
    for _ in range(6):
        asks(quota, tenant)
    quota.owe(tenant, {REQUESTS: 5})
    assert hears_again(quota, clock, tenant, {REQUESTS: 15.0, TOOL_CALLS: 0.0}) == {REQUESTS: 5}
    assert left(quota, tenant) == 45


def test_u53_what_was_taken_is_told_at_once_where_the_limit_is_not_divided(quota: Quota) -> None:
    """There are no others to wait for."""
    tenant = replace(TENANT, requests_per_minute=60)
    quota.divide(tenant, 1)
    for _ in range(6):
        asks(quota, tenant)
    quota.owe(tenant, {REQUESTS: 5})
    assert quota.heard(tenant, {REQUESTS: 10.0, TOOL_CALLS: 0.0}) == {REQUESTS: 5}
    assert (left(quota, tenant), quota.is_divided(tenant)) == (45, False)


def test_u53_until_others_have_told_what_they_took_each_goes_by_its_part(quota: Quota, clock: Clock) -> None:
    """Else the first one that hears of the store would have what flowed in for all. It begins anew with each outage."""
    tenant = replace(TENANT, requests_per_minute=60)
    for _ in range(2):
        quota.divide(tenant, 4)
        quota.heard(tenant, {REQUESTS: 0.0, TOOL_CALLS: 0.0})
        clock.now += TELLING - 1
        quota.heard(tenant, {REQUESTS: 0.0, TOOL_CALLS: 0.0})
        assert left(quota, tenant) == 15


def test_u53_nobody_pays_for_an_outage_for_longer_than_a_minute(quota: Quota, clock: Clock) -> None:
    """What has flowed in again meanwhile would have flowed into the store, too."""
    tenant = replace(TENANT, requests_per_minute=60)
    quota.divide(tenant, 4)
    for _ in range(100):
        asks(quota, tenant)
        quota.owe(tenant, {REQUESTS: 1})
        clock.now += 4
    assert quota.heard(tenant, {REQUESTS: 0.0}) == {}


def test_u53_what_was_given_back_meanwhile_is_given_back_later(quota: Quota, clock: Clock) -> None:
    quota.divide(TENANT, 2)
    quota.owe(TENANT, {TOOL_CALLS: -1})
    assert hears_again(quota, clock, TENANT, {REQUESTS: 0.0, TOOL_CALLS: 6.0}) == {TOOL_CALLS: -1}
    assert quota.remaining(TENANT)["x-ratelimit-remaining-tool-calls"] == "9"
