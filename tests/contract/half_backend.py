"""A backend that has one of OpenAI's two endpoints, or both, or none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from proxy.core import jsontext
from tests.scripted import chat, responses
from tests.scripted.say import Say
from tests.support.serving import serving_all

Json = dict[str, Any]

SAID = Say(text="Hello.")
EACH = {"chat": chat.provider(), "responses": responses.provider()}


@dataclass
class Half:
    """A server that has one of the two endpoints, or both, or none."""

    has: tuple[str, ...]
    missing: int
    """The status in place of the others."""
    words: Any = "404: Not Found"
    url: str = ""
    asked: list[str] = field(default_factory=list)
    bodies: list[Json] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            return web.json_response(responses.MODELS)
        which = "chat" if request.path.endswith("/chat/completions") else "responses"
        self.asked.append(which)
        self.urls.append(request.path_qs)
        if which not in self.has:
            if isinstance(self.words, str):
                return web.Response(text=self.words, status=self.missing)
            return web.json_response(self.words, status=self.missing)
        body = jsontext.strict(await request.read())
        self.bodies.append(body)
        assert ("messages" in body) is (which == "chat")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"".join(EACH[which].stream(SAID)))
        await response.write_eof()
        return response


@asynccontextmanager
async def half(*has: str, missing: int = 404, words: Any = "404: Not Found") -> AsyncIterator[Half]:
    server = Half(has, missing, words)
    async with serving_all(server.handle) as server.url:
        yield server
