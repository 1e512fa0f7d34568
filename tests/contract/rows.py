"""A client that speaks Chat, or its stricter sibling, to the whole proxy over real sockets, whatever a backend says.

What it is told streamed is joined to the whole that it must equal, after a reader that forgives nothing has seen it.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from proxy.core import jsontext
from tests.contract.client import proxy
from tests.support.chat_streams import fold, read_chat_stream
from tests.support.sockets import Received, Script, ScriptedBackend, delta, reply, scripted

Json = dict[str, Any]

CHAT, NATIVE = "/v1/chat/completions", "/native/v1/chat/completions"
HI = {"role": "user", "content": "Hi"}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NO_HEADERS: Mapping[str, str] = {}


def tool(name: str = "get_weather", **more: Any) -> Json:
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": CITY} | more}


def calls(*calls: Json) -> bytes:
    """One chunk of a backend's stream."""
    return delta(tool_calls=list(calls))


def call(index: int = 0, id: str | None = None, name: str | None = None, arguments: Any = None) -> Json:
    """A fragment of one."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {"index": index, "function": function} | ({"id": id} if id else {})


def whole_call(arguments: Any = '{"city":"Oslo"}', name: str = "get_weather", id: str = "their-1") -> bytes:
    """A reply that is one call."""
    return reply(calls(call(0, id, name, arguments)))


@dataclass(frozen=True)
class Told:
    status: int
    headers: Mapping[str, str]
    body: Json
    """The whole answer, or what the chunks of a stream join to."""
    chunks: list[Json]
    """Of a stream."""
    fault: Json | None
    """By a status, or within the stream."""

    @property
    def choice(self) -> Json:
        assert self.fault is None, self.fault
        (choice,) = self.body["choices"]
        return dict(choice)

    @property
    def calls(self) -> list[Json]:
        found: list[Json] = self.choice["message"].get("tool_calls", [])
        return found

    @property
    def code(self) -> str | None:
        return self.fault["code"] if self.fault else None

    @property
    def warnings(self) -> list[str]:
        found: list[str] = self.body.get("_proxy", {}).get("warnings", [])
        return found


@dataclass
class Client:
    url: str
    session: aiohttp.ClientSession
    backend: ScriptedBackend

    async def ask(self, headers: Mapping[str, str] = NO_HEADERS, **fields: Any) -> Told:
        body = {"model": "m", "messages": [HI]} | fields
        async with self.session.post(self.url, json=body, headers=headers) as response:
            data = await response.read()
            if response.content_type == "text/event-stream":
                chunks = read_chat_stream(data)
                said = [each for each in chunks if "error" not in each]
                fault = chunks[-1].get("error")
                return Told(response.status, response.headers, fold(said), said, fault)
            told = jsontext.strict(data)
            return Told(response.status, response.headers, told, [], told.get("error"))

    @property
    def received(self) -> list[Received]:
        """What the backend was asked."""
        return self.backend.received

    @property
    def last(self) -> Json:
        body: Json = self.backend.received[-1].json
        return body


@asynccontextmanager
async def client_of(
    path: str, *replies: bytes, script: Script | None = None, profile: Json | None = None, **sections: Any
) -> AsyncIterator[Client]:
    """`profile`: fields in which the backend differs from one that nobody knows."""
    settings = {"profile": "default", "overrides": profile or {}}
    async with (
        scripted() as backend,
        proxy({"url": backend.url, **settings}, **sections) as url,
        aiohttp.ClientSession() as session,
    ):
        if script is None:
            backend.answers(*replies)
        else:
            backend.plays(script)
        yield Client(url + path, session, backend)
