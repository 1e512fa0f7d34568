"""What a tenant may do, on every surface alike: keys, lists, limits, rates (P05 to P09)."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import pytest

from proxy.core import jsontext
from tests.contract.backends import BACKENDS
from tests.contract.cases import CASES, Outcome, failed
from tests.contract.client import KEY, Conversation, proxy
from tests.contract.test_matrix import SURFACES
from tests.scripted.serving import Scripted, serving

SECRET = "a tenant's own key"
every_surface = pytest.mark.parametrize("surface_name", SURFACES)
every_backend = pytest.mark.parametrize("backend_name", BACKENDS)
streamed_or_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@asynccontextmanager
async def talking(
    surface_name: str,
    backend_name: str,
    case_name: str,
    rules: Mapping[str, Any],
    *,
    stream: bool,
    key: str | None = SECRET,
) -> AsyncIterator[tuple[Conversation, str, Scripted]]:
    """A client of a tenant that has these rules, before a proxy where nobody else may ask."""
    backend, case = BACKENDS[backend_name], CASES[case_name]
    talk = Conversation(SURFACES[surface_name], case.ask, backend.model, stream=stream, key=key)
    tenant = {"keys": [sha256(SECRET.encode()).hexdigest()], **rules}
    async with (
        serving(backend.provider, *(each.says for each in case.rounds)) as provider,
        proxy(KEY | {"url": provider.url, **backend.settings}, tenants={"one": tenant}) as url,
    ):
        yield talk, url, provider
        provider.unsaid.clear()


@every_surface
@streamed_or_whole
@pytest.mark.parametrize("key", [None, "another"])
async def test_nobody_asks_without_a_key(surface_name: str, stream: bool, key: str | None) -> None:
    async with talking(surface_name, "chat", "text", {}, stream=stream, key=key) as (talk, url, provider):
        answer = await talk.round(url, CASES["text"].rounds[0])
        assert answer.outcome == failed("invalid_api_key"), answer.said
        assert provider.requests == []


@every_surface
@every_backend
async def test_a_tenants_key_goes_no_further(surface_name: str, backend_name: str) -> None:
    async with talking(surface_name, backend_name, "text", {}, stream=True) as (talk, url, provider):
        (this,) = CASES["text"].rounds
        assert (await talk.round(url, this)).outcome == this.outcome
        assert SECRET not in jsontext.compact([provider.last.headers, provider.last.body])


@every_surface
@streamed_or_whole
async def test_a_tool_that_is_not_on_the_list(surface_name: str, stream: bool) -> None:
    """P07"""
    rules = {"tool_allowlist": ["get_time"]}
    async with talking(surface_name, "chat", "one_call", rules, stream=stream) as (talk, url, provider):
        answer = await talk.round(url, CASES["one_call"].rounds[0])
        assert answer.outcome == failed("tool_not_allowed"), answer.said
        assert answer.said["param"] == "tools[0]"
        assert provider.requests == []


@every_surface
@every_backend
@streamed_or_whole
async def test_arguments_are_validated_if_the_tenant_wants_it(
    surface_name: str, backend_name: str, stream: bool
) -> None:
    """P05, without the wish of the request."""
    rules = {"validate_tool_arguments": "enforce"}
    case = CASES["unchecked_arguments"]
    async with talking(surface_name, backend_name, case.name, rules, stream=stream) as (talk, url, _):
        answer = await talk.round(url, case.rounds[0])
        assert answer.outcome == failed("invalid_tool_arguments"), answer.said


@every_surface
@every_backend
@streamed_or_whole
async def test_more_calls_than_a_reply_may_have(surface_name: str, backend_name: str, stream: bool) -> None:
    """P06: what has been told before is told, the call beyond the limit is not."""
    rules = {"calls": 1, "mode": "enforce"}
    case = CASES["parallel_calls"]
    async with talking(surface_name, backend_name, case.name, rules, stream=stream) as (talk, url, _):
        answer = await talk.round(url, case.rounds[0])
        calls = case.rounds[0].outcome.calls[:1]
        wanted = Outcome(calls=calls, ending="error", error="too_many_tool_calls", tokens=None)
        assert answer.outcome == (wanted if stream else wanted.whole()), answer.said


@every_surface
@every_backend
async def test_a_long_result_is_cut_and_says_so(surface_name: str, backend_name: str) -> None:
    """P09"""
    rules, case = {"tool_result_max_bytes": 4}, CASES["two_turn_loop"]
    async with talking(surface_name, backend_name, case.name, rules, stream=True) as (talk, url, provider):
        for each in case.rounds:
            answer = await talk.round(url, each)
            assert answer.outcome == each.outcome, answer.said
        ((_, text),) = BACKENDS[backend_name].read(provider.last.body).results
        assert text.startswith('{"de')
        assert "degrees" not in text
        assert "4 bytes" in text


@every_surface
@streamed_or_whole
@pytest.mark.parametrize("rule", ["requests_per_minute", "tool_calls_per_minute"])
async def test_what_a_tenant_has_in_a_minute(surface_name: str, stream: bool, rule: str) -> None:
    """P08: requests, and the calls of replies; both of the two that the first reply has."""
    rules, case = {rule: 1}, CASES["parallel_calls"]
    async with talking(surface_name, "chat", case.name, rules, stream=stream) as (talk, url, provider):
        first = await talk.round(url, case.rounds[0])
        assert first.outcome == case.rounds[0].outcome
        second = await talk.round(url, case.rounds[1])
        assert second.outcome == failed("rate_limit_exceeded"), second.said
        assert 0 < (second.retry_after or 0) <= 120
        assert len(provider.requests) == 1
