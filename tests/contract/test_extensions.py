"""What the proxy adds to the APIs, against every backend: remarks beside an answer, and call ids of its own."""

import pytest

from proxy.core import jsontext
from tests.contract.backends import BACKENDS
from tests.contract.cases import CASES
from tests.contract.chat import Chat
from tests.contract.client import Conversation, proxy
from tests.contract.native import Native
from tests.contract.responses import Responses
from tests.contract.surfaces import Surface
from tests.scripted.serving import serving

every_backend = pytest.mark.parametrize("backend_name", BACKENDS)
streamed_or_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@every_backend
@streamed_or_whole
@pytest.mark.parametrize("surface", [Responses(), Chat(), Native()], ids=["responses", "chat", "native"])
async def test_the_proxy_never_runs_a_tool(surface: Surface, backend_name: str, stream: bool) -> None:
    """P03: a call is the client's to run. The model is asked once for each request, and waits for the result."""
    backend, case = BACKENDS[backend_name], CASES["two_turn_loop"]
    talk = Conversation(surface, case.ask, backend.model, stream=stream)
    async with (
        serving(backend.provider, *(each.says for each in case.rounds)) as provider,
        proxy({"url": provider.url, **backend.settings}) as url,
    ):
        for number, each in enumerate(case.rounds, 1):
            answer = await talk.round(url, each)
            assert [name for _, name in answer.calls] == [name for name, _ in each.outcome.calls]
            assert len(provider.requests) == number
            assert backend.read(provider.last.body).results == each.received.results


@every_backend
@streamed_or_whole
async def test_what_is_only_warned_of_is_told_beside_the_answer(backend_name: str, stream: bool) -> None:
    """P06: outside of the native surface a description may be too long, and it arrives in full."""
    backend, case = BACKENDS[backend_name], CASES["long_description"]
    (this,) = case.rounds
    talk = Conversation(Chat(), case.ask, backend.model, stream=stream)
    async with (
        serving(backend.provider, this.says) as provider,
        proxy({"url": provider.url, **backend.settings}) as url,
    ):
        answer = await talk.round(url, this)
        assert any("description" in warning and "1024" in warning for warning in answer.warnings)
        (tool,) = case.ask.tools
        assert tool.description in jsontext.compact(provider.last.body)


@every_backend
@streamed_or_whole
async def test_call_ids_are_the_proxys_own_and_the_backend_gets_its_own_back(
    backend_name: str, stream: bool
) -> None:
    """N03, for a client that gives back the token: in both directions nobody sees the other's ids."""
    await talk_with_ids(Native(), backend_name, stream=stream)


@every_backend
@streamed_or_whole
async def test_the_proxy_keeps_the_ids_of_a_conversation_that_has_a_name(
    backend_name: str, stream: bool
) -> None:
    """N03: then nothing has to be given back."""
    await talk_with_ids(Native(conversation_id="c-1"), backend_name, stream=stream)


@every_backend
async def test_a_tool_that_failed_has_its_say_as_an_error(backend_name: str) -> None:
    """N05: what it returned is JSON, the name of the call is known without being told, and so is that it failed."""
    backend, case = BACKENDS[backend_name], CASES["two_turn_loop"]
    talk = Conversation(Native(failing=True), case.ask, backend.model, stream=True)
    async with (
        serving(backend.provider, *(each.says for each in case.rounds)) as provider,
        proxy({"url": provider.url, **backend.settings}) as url,
    ):
        for each in case.rounds:
            await talk.round(url, each)
        received = backend.read(provider.last.body)
    if backend_name in ("chat", "responses"):  # have no field for it, so the words say it
        expected = tuple((name, f"Error:\n{words}") for name, words in case.rounds[1].received.results)
        assert (received.results, received.failed) == (expected, ())
    else:
        assert (received.results, received.failed) == (case.rounds[1].received.results, ("get_weather",))


async def talk_with_ids(surface: Native, backend_name: str, *, stream: bool) -> None:
    backend, case = BACKENDS[backend_name], CASES["two_turn_loop"]
    talk = Conversation(surface, case.ask, backend.model, stream=stream)
    async with (
        serving(backend.provider, *(each.says for each in case.rounds)) as provider,
        proxy({"url": provider.url, **backend.settings}) as url,
    ):
        first, last = [await talk.round(url, each) for each in case.rounds]
        assert last.outcome == case.rounds[1].outcome
        told = jsontext.compact(provider.last.body)
        ((ours, _),) = first.calls
        (said,) = case.rounds[0].says.calls
        assert ours != said.id
        assert ours not in told
        assert told.count(f'"{said.id}"') == 2
