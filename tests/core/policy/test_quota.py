"""P08: what a tenant may have in a minute."""

from dataclasses import replace

import pytest

from proxy.core.errors import TooMany
from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded
from proxy.core.model import Call, Request, Text, ToolKind, ToolName, ToolSpec
from proxy.core.policy.quota import Quota
from proxy.core.tenants import ANYBODY, Tenant

TENANT = Tenant("acme", requests_per_minute=3, tool_calls_per_minute=10)
WITH_TOOLS = Request("m", [], tools=[ToolSpec(ToolName("f"))])
BY_CALLS = replace(TENANT, requests_per_minute=None)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def quota(clock: Clock) -> Quota:
    return Quota(clock)


def reply(calls: int = 0) -> Reply:
    call = Call("a", ToolName("f"), ToolKind.FUNCTION, "{}")
    parts = [PartEnded(Text("Hm."), True), *[PartEnded(call, True)] * calls]
    return Reply(parts, ReplyEnded(Ending.COMPLETED))


def refusal(quota: Quota, tenant: Tenant) -> TooMany:
    with pytest.raises(TooMany) as raised:
        asks(quota, tenant)
    return raised.value


def asks(quota: Quota, tenant: Tenant) -> None:
    """A request that declares tools."""
    quota.admit(tenant)
    assert quota.reserve(tenant, WITH_TOOLS) is (tenant.tool_calls_per_minute is not None)


def replies(quota: Quota, tenant: Tenant, calls: int) -> None:
    """A whole request and its reply, to a client that was let in."""
    asks(quota, tenant)
    quota.charge_reply(tenant, reply(calls), reserved=True)


def test_p08_a_minutes_requests_may_come_at_once_and_no_more(quota: Quota) -> None:
    for _ in range(3):
        quota.admit(TENANT)
    fault = refusal(quota, TENANT)
    assert (fault.status, fault.code, fault.retryable) == (429, "rate_limit_exceeded", True)
    assert fault.retry_after == 20
    assert fault.message == "The limit of 3 requests per minute is reached. Try again in 20 s."


def test_p08_whoever_waits_as_told_is_let_in(quota: Quota, clock: Clock) -> None:
    tenant = replace(TENANT, requests_per_minute=7)
    for _ in range(50):
        try:
            quota.admit(tenant)
        except TooMany as fault:
            clock.now += fault.retry_after or 0
            quota.admit(tenant)


def test_p08_a_refused_request_costs_nothing(quota: Quota, clock: Clock) -> None:
    for _ in range(3):
        quota.admit(TENANT)
    for _ in range(5):
        assert refusal(quota, TENANT).retry_after == 20
    clock.now += 20
    quota.admit(TENANT)


def test_p08_no_more_is_saved_up_than_a_minutes_worth(quota: Quota, clock: Clock) -> None:
    quota.admit(TENANT)
    clock.now += 3600
    for _ in range(3):
        quota.admit(TENANT)
    refusal(quota, TENANT)


def test_p08_a_reply_costs_as_many_units_as_it_has_calls(quota: Quota, clock: Clock) -> None:
    replies(quota, BY_CALLS, calls=5)
    assert quota.remaining(BY_CALLS)["x-ratelimit-remaining-tool-calls"] == "5"


def test_p08_calls_are_had_on_credit_and_the_next_request_waits_until_it_is_paid_back(
    quota: Quota, clock: Clock
) -> None:
    replies(quota, BY_CALLS, calls=9)
    replies(quota, BY_CALLS, calls=5)
    fault = refusal(quota, BY_CALLS)
    assert fault.retry_after == 30
    assert "10 tool calls per minute" in fault.message
    clock.now += 29
    refusal(quota, BY_CALLS)
    clock.now += 1
    asks(quota, BY_CALLS)


def test_v40_with_no_unit_left_nobody_who_declares_tools_is_let_in(quota: Quota, clock: Clock) -> None:
    """Also not while the replies that the last units are for are on their way; who asks for words alone is."""
    tenant = replace(BY_CALLS, tool_calls_per_minute=5)
    for _ in range(5):
        asks(quota, tenant)
    for _ in range(5):
        assert refusal(quota, tenant).retry_after == 12
    quota.admit(tenant)
    quota.charge_reply(tenant, reply(), reserved=quota.reserve(tenant, Request("m", [])))
    quota.charge_reply(tenant, reply(calls=0), reserved=True)
    asks(quota, tenant)
    refusal(quota, tenant)


def test_v40_at_most_one_reply_goes_over_the_limit(quota: Quota) -> None:
    tenant = replace(BY_CALLS, tool_calls_per_minute=5)
    replies(quota, tenant, calls=5)
    refusal(quota, tenant)


def test_p08_whoever_is_over_both_limits_is_told_the_longer_wait(quota: Quota, clock: Clock) -> None:
    for _ in range(3):
        quota.admit(TENANT)
    quota.charge_reply(TENANT, reply(calls=14), reserved=False)
    fault = refusal(quota, TENANT)
    assert (fault.retry_after, "10 tool calls" in fault.message) == (30, True)
    clock.now += 30
    replies(quota, TENANT, calls=1)
    fault = refusal(quota, TENANT)
    assert (fault.retry_after, "3 requests" in fault.message) == (10, True)


def test_p08_a_request_that_waits_for_calls_is_not_charged_as_a_request(quota: Quota) -> None:
    quota.charge_reply(TENANT, reply(calls=11), reserved=False)
    refusal(quota, TENANT)
    assert quota.remaining(TENANT)["x-ratelimit-remaining-requests"] == "3"


def test_p08_tenants_do_not_share(quota: Quota) -> None:
    for _ in range(3):
        quota.admit(TENANT)
    quota.admit(replace(TENANT, name="other"))


def test_p08_the_headers_tell_how_a_tenant_stands(quota: Quota, clock: Clock) -> None:
    replies(quota, TENANT, calls=12)
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
        replies(quota, ANYBODY, calls=5)
    assert quota.remaining(ANYBODY) == {}
