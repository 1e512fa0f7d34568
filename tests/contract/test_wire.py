"""Which of OpenAI's two APIs a backend of both is asked in, over real sockets: the one that a request needs, and the
other one where an endpoint is missing.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.contract.cases import CASES, TOOLS, Ask, Round
from tests.contract.client import Conversation, proxy
from tests.contract.every_surface import SURFACES
from tests.contract.half_backend import SAID, half
from tests.contract.item_backend import post
from tests.contract.read_responses import received
from tests.scripted import responses
from tests.scripted.serving import serving

OPENAI = {"profile": "openai"}
PLAIN = Ask()
ROUND = replace(CASES["text"].rounds[0], says=SAID)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_model_that_thinks_beside_tools_gets_its_thoughts_back(surface: str, stream: bool) -> None:
    """By `auto`: OpenAI's newest refuse to think beside tools in Chat. What they seal returns with the next turn."""
    case = CASES["long_reasoning"]
    talk = Conversation(SURFACES[surface], case.ask, responses.MODEL, stream=stream)
    async with (
        serving(responses.provider(), *(each.says for each in case.rounds)) as provider,
        proxy({"url": provider.url, **OPENAI}) as url,
    ):
        for each in case.rounds:
            answer = await talk.round(url, each)
            assert not provider.wrong, provider.wrong
            assert answer.outcome == each.outcome
            assert provider.last.path == responses.PATH
            assert provider.last.body["reasoning"]["effort"] == "high"
            assert received(provider.last.body).proofs == each.received.proofs


# ── endpoints that are missing ──


async def ask(url: str, ask: Ask = PLAIN, model: str = "m", this: Round = ROUND) -> str | None:
    answer = await Conversation(SURFACES["responses"], ask, model, stream=True).round(url, this)
    return answer.outcome.text or answer.outcome.error


ONLY_RESPONSES = {
    "error": {"message": "This model is only supported in v1/responses and not in v1/chat/completions."}
}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "404: Not Found"),
        (404, {"detail": "Not Found"}),
        (405, ""),
        (501, {"error": {"message": "Not implemented."}}),
        (404, ONLY_RESPONSES),
        (400, ONLY_RESPONSES),
    ],
)
async def test_a_backend_without_chat(status: int, words: Any) -> None:
    """Learned once: the next request goes to the right place at once."""
    async with (
        half("responses", missing=status, words=words) as server,
        proxy({"url": server.url, "profile": "default"}) as url,
    ):
        assert await ask(url) == "Hello."
        assert await ask(url) == "Hello."
        assert server.asked == ["chat", "responses", "responses"]


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_backend_without_responses(status: int) -> None:
    """The model does not think then, where Chat would refuse it."""
    async with (
        half("chat", missing=status, words="") as server,
        proxy({"url": server.url, **OPENAI}) as url,
    ):
        for _ in range(2):
            assert await ask(url, replace(TOOLS, effort="high"), responses.MODEL) == "Hello."
        assert server.asked == ["responses", "chat", "chat"]


async def test_by_chat_tools_that_are_no_functions_are_some_after_all() -> None:
    """And those that only Responses has are left out there."""
    tools = [{"type": "custom", "name": "sh"}, {"type": "web_search"}]
    async with half("chat") as server, proxy({"url": server.url, **OPENAI}) as url:
        await post(url, "/v1/responses", {"model": "gpt-5", "input": "Hi", "tools": tools})
    assert server.asked == ["responses", "chat"]
    ((tool,),) = (body["tools"] for body in server.bodies)
    assert (tool["type"], tool["function"]["name"]) == ("function", "sh")


async def test_a_backend_with_neither() -> None:
    """Nothing is learned from it."""
    async with half() as server, proxy({"url": server.url, "profile": "default"}) as url:
        for _ in range(2):
            assert await ask(url) == "upstream_not_found"
        assert server.asked == ["chat", "responses"] * 2


async def test_a_model_that_is_not_there_is_no_endpoint() -> None:
    """Whatever the client calls it."""
    words = {"error": {"message": "The model `404 page not found` does not exist", "code": "model_not_found"}}
    async with (
        half("responses", words=words) as server,
        proxy({"url": server.url, "profile": "default"}) as url,
    ):
        assert await ask(url, model="404 page not found") == "model_not_found"
        assert server.asked == ["chat"]


@pytest.mark.parametrize(("wire", "path"), [("chat", "chat"), ("responses", "responses")])
async def test_what_is_set_by_hand_is_not_changed(wire: str, path: str) -> None:
    backend: Mapping[str, Any] = {"profile": "openai", "overrides": {"wire": wire}}
    async with half() as server, proxy({"url": server.url, **backend}) as url:
        assert await ask(url, TOOLS, responses.MODEL) == "upstream_not_found"
        assert server.asked == [path]
