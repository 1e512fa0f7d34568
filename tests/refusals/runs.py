"""Asks every case once, over real sockets, and keeps what came back and where in the code it came from."""

import asyncio
import io
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import aiohttp
import pytest

from proxy.core import jsontext
from tests.contract.backends import BACKENDS
from tests.contract.client import proxy
from tests.refusals.cases import PREVIOUS, Case
from tests.refusals.sites import Made, watched
from tests.refusals.worlds import WORLDS, World
from tests.scripted.serving import Scripted, serving
from tests.support.keeping import keep_in

PROMPTLY = 5.0

Json = dict[str, Any]


@dataclass(frozen=True)
class Told:
    status: int
    error: Json
    headers: Mapping[str, str]
    made: tuple[Made, ...]
    """Every refusal that was made on the way to it."""
    sent: int
    """Requests that the backend got."""


async def ask_all(cases: Sequence[Case]) -> dict[Case, Told]:
    told: dict[Case, Told] = {}
    for name, group in groupby(sorted(cases, key=lambda case: case.world), lambda case: case.world):
        world = WORLDS[name]
        async with _running(world) as (url, provider), aiohttp.ClientSession() as session:
            for case in group:
                try:
                    told[case] = await _ask(case, url, provider, session, BACKENDS[world.backend].model)
                except Exception as failure:
                    failure.add_note(f"asking: {case}")
                    raise
    return told


@asynccontextmanager
async def _running(world: World) -> AsyncIterator[tuple[str, Scripted]]:
    backend = BACKENDS[world.backend]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in world.patched.items():
            patch.setattr(name, value)
        if world.records is not None:
            keep_in(patch, await world.records())
        async with serving(backend.provider) as provider:
            own = {"url": provider.url, **backend.settings, **world.settings}
            sections: dict[str, Any] = {"store": {"url": "memory:"}, **world.sections}
            if world.routed:
                sections |= {"backends": {"a": own, "b": own}, "routing": {"models": {"m": "a"}}}
                own = {}
            async with proxy(own or None, **sections) as url:
                yield url, provider


async def _ask(case: Case, url: str, provider: Scripted, session: aiohttp.ClientSession, model: str) -> Told:
    before = len(provider.requests)
    provider.says(*case.backend)
    body = case.body
    if isinstance(body, dict) and body.get("model") == "m":
        body = body | {"model": model}
    with watched() as made:
        async with asyncio.timeout(PROMPTLY):
            for _ in range(case.times):
                status, error, headers = await WAYS[case.kind](case, body, url, session)
    assert not provider.unsaid, "the backend was not asked"
    assert not (case.backend and provider.wrong), provider.wrong
    provider.wrong.clear()  # what should not have been sent at all is seen by its number
    return Told(status, error, headers, tuple(made), len(provider.requests) - before)


Answer = tuple[int, Json, Mapping[str, str]]


async def _http(case: Case, body: Any, url: str, session: aiohttp.ClientSession) -> Answer:
    data = (
        io.BytesIO(body if isinstance(body, bytes) else jsontext.dumps(body))
        if case.method == "POST"
        else None
    )
    headers = {"Content-Type": "application/json", **case.headers}
    async with session.request(case.method, url + case.path, data=data, headers=headers) as response:
        text = await response.read()
        if response.content_type == "text/event-stream":
            return response.status, _of_stream(text), response.headers
        return response.status, jsontext.strict(text).get("error", {}), response.headers


def _of_stream(text: bytes) -> Json:
    """A stream that fails says why in the response itself."""
    events = [jsontext.strict(line[6:]) for line in text.split(b"\n") if line.startswith(b"data: {")]
    (failed,) = [event["response"]["error"] for event in events if event["type"] == "response.failed"]
    return {"type": "", "param": None, **failed}


async def _raw(case: Case, body: Any, url: str, session: aiohttp.ClientSession) -> Answer:
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(case.body)
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        text = await reader.readexactly(int(headers["Content-Length"]))
    finally:
        writer.close()
        await writer.wait_closed()
    return int(first.split()[1]), jsontext.strict(text)["error"], headers


async def _socket(case: Case, body: Any, url: str, session: aiohttp.ClientSession) -> Answer:
    """Message after message, each after the end of the answer before it; the last answer is the refusal."""
    previous = ""
    async with session.ws_connect(url + case.path) as socket:
        answer: Json = {}
        for message in body:
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            else:
                said = message if isinstance(message, str) else jsontext.compact(message)
                await socket.send_str(said.replace(PREVIOUS, previous))
            answer = await _ended(socket)
            previous = answer.get("response", {}).get("id", "")
        if not body:
            answer = await _ended(socket)
    return answer.get("status", 400), answer["error"], {}


async def _ended(socket: aiohttp.ClientWebSocketResponse) -> Json:
    while True:
        event = jsontext.strict(await socket.receive_str())
        if event["type"] in ("error", "response.completed", "response.steer.failed"):
            return event


WAYS = {"http": _http, "raw": _raw, "socket": _socket}
