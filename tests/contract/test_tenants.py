"""What a tenant may do, on every surface alike: keys, lists, arguments, results, rates."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proxy.core import jsontext
from tests.contract.backends import BACKENDS
from tests.contract.cases import CASES, Outcome, failed
from tests.contract.every_surface import SURFACES
from tests.contract.tenancy import (
    CALL_ROUND,
    ONE_CALL,
    SECRET,
    TEXT_ROUND,
    WAYS,
    Way,
    every_backend,
    every_way,
    says,
    talking,
    way_name,
)

over_http = pytest.mark.parametrize("way", WAYS[:-1], ids=way_name)


@over_http
@pytest.mark.parametrize("key", [None, "another"])
async def test_nobody_asks_without_a_key(way: Way, key: str | None) -> None:
    async with talking(way, "chat", CASES["text"].ask, says(CASES["text"]), {}, key=key) as (
        talk,
        url,
        provider,
    ):
        answer = await talk.round(url, TEXT_ROUND)
        assert answer.outcome == failed("invalid_api_key"), answer.said
        assert provider.requests == []


@pytest.mark.parametrize("surface_name", SURFACES)
@every_backend
async def test_a_tenants_key_goes_no_further(surface_name: str, backend_name: str) -> None:
    case = CASES["text"]
    async with talking((surface_name, True), backend_name, case.ask, says(case), {}) as (talk, url, provider):
        assert (await talk.round(url, TEXT_ROUND)).outcome == TEXT_ROUND.outcome
        assert SECRET not in jsontext.compact([provider.last.headers, provider.last.body])


# ── the list of tools ──


@every_way
@pytest.mark.parametrize("mode", ["enforce", "warn", "off"])
async def test_a_tool_that_is_not_on_the_list(way: Way, mode: str) -> None:
    """P07, in each of its modes: refused before anything is sent, told, or let pass."""
    rules = {"tool_allowlist": ["get_time"], "tool_allowlist_mode": mode}
    async with talking(way, "chat", ONE_CALL.ask, says(ONE_CALL), rules) as (talk, url, provider):
        answer = await talk.round(url, CALL_ROUND)
        if mode == "enforce":
            assert answer.outcome == failed("tool_not_allowed"), answer.said
            assert answer.said["param"].startswith("tools[0]")
            assert provider.requests == []
        else:
            assert answer.outcome == CALL_ROUND.outcome
            remarks = [said for said in answer.warnings if "not among the tools" in said]
            assert len(remarks) == (mode == "warn")


@every_way
async def test_tools_that_are_on_the_list(way: Way) -> None:
    """P07"""
    rules = {"tool_allowlist": ["get_time", "get_w*"]}
    async with talking(way, "chat", ONE_CALL.ask, says(ONE_CALL), rules) as (talk, url, _):
        assert (await talk.round(url, CALL_ROUND)).outcome == CALL_ROUND.outcome


FUNCTION = {"name": "launch", "description": "d", "parameters": {"type": "object", "properties": {}}}
FLAT = {"type": "function", **FUNCTION}
SEARCHED = {"call_id": "call_1", "execution": "client", "status": "completed"}
IN_DISGUISE: dict[str, tuple[str, dict[str, Any]]] = {
    "custom": ("responses", {"tools": [{"type": "custom", "name": "launch"}]}),
    "nested": ("responses", {"tools": [{"type": "function", "function": FUNCTION}]}),
    "in a namespace": (
        "responses",
        {"tools": [{"type": "namespace", "name": "mcp", "description": "d", "tools": [FLAT]}]},
    ),
    "found by a search": (
        "responses",
        {
            "tools": [],
            "input": [
                {"type": "tool_search_call", "arguments": {"query": "q"}, **SEARCHED},
                {"type": "tool_search_output", "tools": [FLAT], **SEARCHED},
            ],
        },
    ),
    "after hosted ones": ("responses", {"tools": [{"type": "web_search"}, FLAT]}),
    "custom in a chat": ("chat", {"tools": [{"type": "custom", "custom": {"name": "launch"}}]}),
    "as it was once declared": ("chat", {"tools": [], "functions": [FUNCTION]}),
}


@pytest.mark.parametrize("disguise", IN_DISGUISE)
async def test_no_form_of_a_tool_gets_past_the_list(disguise: str) -> None:
    """P07: it is the tool that is allowed or not, however and wherever it is declared."""
    surface_name, changes = IN_DISGUISE[disguise]
    rules = {"tool_allowlist": ["get_time", "mcp.get_time"]}
    async with talking((surface_name, False), "chat", ONE_CALL.ask, says(ONE_CALL), rules) as (
        talk,
        url,
        provider,
    ):
        talk.body |= changes
        answer = await talk.round(url, CALL_ROUND)
        assert answer.outcome == failed("tool_not_allowed"), answer.said
        assert "launch" in answer.said["message"]
        assert provider.requests == []


# ── calls ──


@every_way
@every_backend
async def test_arguments_are_validated_if_the_tenant_wants_it(way: Way, backend_name: str) -> None:
    """P05, without the wish of the request."""
    rules, case = {"validate_tool_arguments": "enforce"}, CASES["unchecked_arguments"]
    async with talking(way, backend_name, case.ask, says(case), rules) as (talk, url, _):
        answer = await talk.round(url, case.rounds[0])
        assert answer.outcome == failed("invalid_tool_arguments"), answer.said


@every_way
async def test_a_request_may_want_its_arguments_validated(way: Way) -> None:
    """P05: the option goes before the tenant's setting, and both ways."""
    (this,) = CASES["unchecked_arguments"].rounds
    ask = replace(CASES["unchecked_arguments"].ask, validate=True)
    async with talking(way, "chat", ask, [this.says, this.says], {}) as (talk, url, _):
        assert (await talk.round(url, this)).outcome == failed("invalid_tool_arguments")
        talk.body["request_options"] = {"validate_tool_arguments": False}
        assert (await talk.round(url, this)).outcome == this.outcome


@every_way
async def test_by_default_arguments_are_nobodys_business_but_the_clients(way: Way) -> None:
    """P05. A tenant may also have it only told."""
    case = CASES["unchecked_arguments"]
    for rules, remarks in (({}, 0), ({"validate_tool_arguments": "observe"}, 1)):
        async with talking(way, "chat", case.ask, says(case), rules) as (talk, url, _):
            answer = await talk.round(url, case.rounds[0])
            assert answer.outcome == case.rounds[0].outcome
            assert len([said for said in answer.warnings if "is wrong" in said]) == remarks


@pytest.mark.parametrize("way", [way for way in WAYS if way[0] != "native"], ids=way_name)
@every_backend
async def test_v22_calls_of_a_strict_tool_are_looked_at_where_the_backend_does_not_know_it(
    way: Way, backend_name: str
) -> None:
    """C03: only told, and only if neither the tenant nor the request has said otherwise. (The native surface refuses
    the word.)"""
    (this,) = CASES["unchecked_arguments"].rounds
    ask, off = CASES["strict_tool"].ask, {"validate_tool_arguments": False}
    told = int(backend_name == "chat")
    for rules, wish, remarks in (
        ({}, {}, told),
        ({}, off, 0),
        ({"validate_tool_arguments": "off"}, {}, 0),
        ({"validate_tool_arguments": "observe"}, {}, 1),
    ):
        async with talking(way, backend_name, ask, [this.says], rules) as (talk, url, _):
            talk.body["request_options"] = wish
            answer = await talk.round(url, this)
            assert answer.outcome == this.outcome
            assert len([said for said in answer.warnings if "is wrong" in said]) == remarks
    for rules, wish in (
        ({}, {"validate_tool_arguments": True}),
        ({"validate_tool_arguments": "enforce"}, {}),
    ):
        async with talking(way, backend_name, ask, [this.says], rules) as (talk, url, _):
            talk.body["request_options"] = wish
            assert (await talk.round(url, this)).outcome == failed("invalid_tool_arguments")


@every_way
@every_backend
async def test_more_calls_than_a_reply_may_have(way: Way, backend_name: str) -> None:
    """P06: what has been told before is told, the call beyond the limit is not."""
    rules, case = {"calls": 1, "mode": "enforce"}, CASES["parallel_calls"]
    async with talking(way, backend_name, case.ask, says(case), rules) as (talk, url, _):
        answer = await talk.round(url, case.rounds[0])
        calls = case.rounds[0].outcome.calls[:1]
        wanted = Outcome(calls=calls, ending="error", error="too_many_tool_calls", tokens=None)
        assert answer.outcome == (wanted if way[1] else wanted.whole()), answer.said


# ── results ──


@every_way
@every_backend
async def test_a_long_result_is_cut_and_says_so(way: Way, backend_name: str) -> None:
    """P09: towards the backend it is a string, up to the limit, and a notice; its client is told too."""
    rules, case = {"tool_result_max_bytes": 4}, CASES["two_turn_loop"]
    async with talking(way, backend_name, case.ask, says(case), rules) as (talk, url, provider):
        for each in case.rounds:
            answer = await talk.round(url, each)
            assert answer.outcome == each.outcome, answer.said
        ((_, text),) = BACKENDS[backend_name].read(provider.last.body).results
        assert text == '{"de\n\n[Truncated: only the first 4 of 14 bytes are shown.]'
        assert any("cut to that length" in said for said in answer.warnings)


@every_way
@every_backend
async def test_by_default_no_result_is_cut(way: Way, backend_name: str) -> None:
    """P09"""
    case = CASES["two_turn_loop"]
    first, last = case.rounds
    long = "é" * 100_000
    async with talking(way, backend_name, case.ask, says(case), {}) as (talk, url, provider):
        await talk.round(url, replace(first, results={"get_weather": long}))
        assert (await talk.round(url, last)).outcome == last.outcome
        assert BACKENDS[backend_name].read(provider.last.body).results == (("get_weather", long),)


# ── rates ──


@every_way
@pytest.mark.parametrize(("rule", "minutes"), [("requests_per_minute", 1), ("tool_calls_per_minute", 2)])
async def test_what_a_tenant_has_in_a_minute(way: Way, rule: str, minutes: int) -> None:
    """P08: requests, and the calls of replies; both of the two that the first reply has, so that the next waits for
    its own after that which was had on credit. Who is refused learns when to come back, and how it stands."""
    rules, case = {rule: 1}, CASES["parallel_calls"]
    async with talking(way, "chat", case.ask, says(case), rules) as (talk, url, provider):
        first = await talk.round(url, case.rounds[0])
        assert first.outcome == case.rounds[0].outcome
        second = await talk.round(url, case.rounds[1])
        assert second.outcome == failed("rate_limit_exceeded"), second.said
        assert 0 <= 60 * minutes - (second.retry_after or 0) <= 5
        unit = rule.removesuffix("_per_minute").replace("_", "-")
        told = second.headers
        assert (told[f"x-ratelimit-limit-{unit}"], told[f"x-ratelimit-remaining-{unit}"]) == ("1", "0")
        assert 55 < float(told[f"x-ratelimit-reset-{unit}"].removesuffix("s")) <= 120
        assert len(provider.requests) == 1


@pytest.mark.parametrize("surface_name", SURFACES)
async def test_a_whole_answer_counts_its_own_calls(surface_name: str) -> None:
    """P08: the headers leave after the reply, and tell what is left after it."""
    rules, case = {"tool_calls_per_minute": 1000, "requests_per_minute": 10}, CASES["parallel_calls"]
    async with talking((surface_name, False), "chat", case.ask, says(case), rules) as (talk, url, _):
        headers = (await talk.round(url, case.rounds[0])).headers
        assert headers["x-ratelimit-remaining-tool-calls"] == "998"
        assert headers["x-ratelimit-remaining-requests"] == "9"


@every_way
async def test_requests_that_come_at_once_share_the_minute(way: Way) -> None:
    """P08: no more get in than one after another would."""
    case = CASES["text"]
    async with talking(way, "chat", case.ask, [TEXT_ROUND.says] * 3, {"requests_per_minute": 3}) as (
        talk,
        url,
        _,
    ):
        answers = await asyncio.gather(*(talk.round(url, TEXT_ROUND) for _ in range(8)))
        outcomes = [answer.outcome for answer in answers]
        assert outcomes.count(TEXT_ROUND.outcome) == 3
        assert outcomes.count(failed("rate_limit_exceeded")) == 5


async def test_a_request_that_is_refused_for_itself_tells_how_its_tenant_stands() -> None:
    """P08: it has cost one of the minute's requests."""
    rules = {"requests_per_minute": 10, "tool_allowlist": []}
    async with talking(("chat", False), "chat", ONE_CALL.ask, says(ONE_CALL), rules) as (talk, url, _):
        refused = await talk.round(url, CALL_ROUND)
        assert refused.outcome == failed("tool_not_allowed")
        assert refused.headers["x-ratelimit-remaining-requests"] == "9"


# ── nobody in particular ──

FOR_EVERYBODY: dict[str, tuple[dict[str, Any], str, str]] = {
    "P05": ({"validate_tool_arguments": "enforce"}, "unchecked_arguments", "invalid_tool_arguments"),
    "P06, declared": ({"mode": "enforce", "tools": 1}, "one_call", "array_above_max_length"),
    "P06, made": ({"mode": "enforce", "calls": 1}, "parallel_calls", "too_many_tool_calls"),
    "P07": ({"tool_allowlist": []}, "one_call", "tool_not_allowed"),
}


@pytest.mark.parametrize("row", FOR_EVERYBODY)
async def test_without_tenants_the_rules_are_those_of_everybody(row: str) -> None:
    """P05, P06, P07"""
    rules, case_name, code = FOR_EVERYBODY[row]
    case = CASES[case_name]
    async with talking(("chat", False), "chat", case.ask, says(case), None, limits=rules) as (talk, url, _):
        assert (await talk.round(url, case.rounds[0])).outcome == failed(code)


async def test_without_tenants_everybodys_results_are_cut() -> None:
    """P09"""
    case, rules = CASES["two_turn_loop"], {"tool_result_max_bytes": 4}
    async with talking(("chat", False), "chat", case.ask, says(case), None, limits=rules) as (
        talk,
        url,
        provider,
    ):
        for each in case.rounds:
            await talk.round(url, each)
        ((_, text),) = BACKENDS["chat"].read(provider.last.body).results
        assert text.startswith('{"de\n\n[Truncated')


async def test_without_tenants_everybody_shares_the_minute() -> None:
    """P08"""
    case, rules = CASES["text"], {"requests_per_minute": 1}
    async with talking(("chat", False), "chat", case.ask, says(case), None, limits=rules) as (talk, url, _):
        assert (await talk.round(url, TEXT_ROUND)).outcome == TEXT_ROUND.outcome
        assert (await talk.round(url, TEXT_ROUND)).outcome == failed("rate_limit_exceeded")
