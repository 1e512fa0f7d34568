"""Which of OpenAI's two APIs a backend of both is asked in, over real sockets: the one that a request needs, and the
other one where an endpoint is missing.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from aiohttp import web

from proxy.core import jsontext
from tests.contract.cases import CASES, TOOLS, Ask, Round
from tests.contract.client import Conversation, proxy
from tests.contract.every_surface import SURFACES
from tests.contract.read_responses import received
from tests.scripted import chat, responses
from tests.scripted.say import Say
from tests.scripted.serving import serving

Json = dict[str, Any]

OPENAI = {"profile": "openai"}
SAID = Say(text="Hello.")
PLAIN = Ask()
ROUND = replace(CASES["text"].rounds[0], says=SAID)
EACH = {"chat": chat.provider(), "responses": responses.provider()}
PATHS = {"/v1/chat/completions": "chat", "/v1/responses": "responses"}


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


@dataclass
class Half:
    """A server that has one of the two endpoints, or both, or none."""

    has: tuple[str, ...]
    missing: int
    """The status in place of the others."""
    words: Any = "404: Not Found"
    url: str = ""
    asked: list[str] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            return web.json_response(responses.MODELS)
        which = PATHS[request.path]
        self.asked.append(which)
        if which not in self.has:
            if isinstance(self.words, str):
                return web.Response(text=self.words, status=self.missing)
            return web.json_response(self.words, status=self.missing)
        body = jsontext.strict(await request.read())
        assert ("messages" in body) is (which == "chat")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"".join(EACH[which].stream(SAID)))
        await response.write_eof()
        return response


@asynccontextmanager
async def half(*has: str, missing: int = 404, words: Any = "404: Not Found") -> AsyncIterator[Half]:
    server = Half(has, missing, words)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        server.url = f"http://{host}:{port}"
        yield server
    finally:
        await runner.cleanup()


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
