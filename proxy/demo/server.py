"""The HTTP around the demo model."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson
from aiohttp import web
from yarl import URL

from proxy.demo.chunks import CREATED, Completion
from proxy.demo.refusals import Refused, read
from proxy.demo.script import PERSONAS, answer, persona

PROFILE = "openai"
"""Which of the known backends it can be treated as: it takes whatever OpenAI takes ..."""
OVERRIDES = {"wire": "chat"}
"""... by Chat. It has no Responses, and so no tools that it runs itself."""
PACE_S = 0.01
"""Between two chunks when people watch: fast, and yet visibly a stream."""
SLOW_S = 10.0
"""How long a model that is slow takes to begin."""
CHARACTERS_PER_TOKEN = 4
FAILURE = {
    "error": {"message": "The demo model fails here, as asked.", "type": "server_error", "code": "demo_error"}
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it arrived, for tests that look at what the proxy sends."""

    headers: dict[str, str]
    body: Any


class Handlers:
    def __init__(self, pace_s: float, record: list[Recorded] | None, slow_s: float) -> None:
        self.pace_s = pace_s
        self.slow_s = slow_s
        self.record = record

    async def models(self, request: web.Request) -> web.Response:
        listed = [
            {"id": name, "object": "model", "created": CREATED, "owned_by": "demo"} for name in PERSONAS
        ]
        return reply({"object": "list", "data": listed})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self.complete(request, await request.read())
        except Refused as refusal:
            return reply(refusal.body, status=refusal.status, headers=refusal.headers)

    async def complete(self, request: web.Request, body: bytes) -> web.StreamResponse:
        if request.content_type != "application/json":
            raise Refused(f"Content-Type must be application/json, not {request.content_type}", status=415)
        chat = read(body)
        if self.record is not None:
            self.record.append(Recorded(dict(request.headers), orjson.loads(body)))
        who = persona(chat.model)
        if who.busy:
            raise Refused(
                "The demo model is busy, as asked.", status=429, kind="rate_limit_error", headers=RETRY
            )
        if who.slow:
            await asyncio.sleep(self.slow_s)
        ident = f"chatcmpl-{sha256(body).hexdigest()[:24]}"
        completion = Completion(chat, answer(chat), ident, len(body) // CHARACTERS_PER_TOKEN)
        if chat.stream:
            return await self.stream(request, completion, who.breaks)
        if who.breaks == "cut":
            cut(request)
        return reply(FAILURE, status=500) if who.breaks else reply(completion.body())

    async def stream(
        self, request: web.Request, completion: Completion, breaks: str | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        )
        with suppress(ConnectionError):  # whoever asked has left, which is nothing to write a traceback about
            await response.prepare(request)
            await self.say(response, list(completion.chunks()), breaks)
        if breaks == "cut":
            cut(request)
        return response

    async def say(
        self, response: web.StreamResponse, chunks: list[dict[str, Any]], breaks: str | None
    ) -> None:
        for chunk in chunks[: len(chunks) // 2] if breaks else chunks:
            await response.write(event(chunk))
            await asyncio.sleep(self.pace_s)
        if breaks == "cut":
            return
        if breaks:
            await response.write(event(FAILURE))
        await response.write(b"data: [DONE]\n\n")


RETRY = {"Retry-After": "1"}


def reply(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        body=orjson.dumps(body), status=status, headers=headers, content_type="application/json"
    )


def event(chunk: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def cut(request: web.Request) -> None:
    """Ends the connection in the middle of the answer, as a crash does: anything written later is lost."""
    if request.transport is not None:
        request.transport.abort()


def make_app(
    *, pace_s: float = 0, record: list[Recorded] | None = None, slow_s: float = SLOW_S
) -> web.Application:
    handlers = Handlers(pace_s, record, slow_s)
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_get("/v1/models", handlers.models)
    app.router.add_post("/v1/chat/completions", handlers.chat)
    return app


@dataclass(frozen=True, slots=True)
class Demo:
    url: str
    """The base URL, as one would give it to `--backend`."""
    runner: web.AppRunner

    async def stop(self) -> None:
        await self.runner.cleanup()


async def start(
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    pace_s: float = PACE_S,
    record: list[Recorded] | None = None,
    slow_s: float = SLOW_S,
) -> Demo:
    # Nothing here is worth waiting for at the end: who stops the demo has already stopped listening to it.
    runner = web.AppRunner(
        make_app(pace_s=pace_s, record=record, slow_s=slow_s), access_log=None, shutdown_timeout=0.1
    )
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    bound_host, bound_port = runner.addresses[0][:2]
    return Demo(str(URL.build(scheme="http", host=bound_host, port=bound_port, path="/v1")), runner)
