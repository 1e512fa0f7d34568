"""A Chat backend that behaves, with differences planted into it: the demo model, and what is done before and after it.

It is a function from a request to an answer, without sockets; `serving` puts it behind one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from proxy.core import jsontext
from proxy.core.backends.post import Post
from proxy.core.examination.heard import Received
from proxy.demo.chunks import Completion
from proxy.demo.refusals import Refused, read
from proxy.demo.script import answer
from tests.support.serving import serving_all

Json = dict[str, Any]
Before = Callable[[Json], None]
"""Changes a request, or refuses it by raising Refused."""
After = Callable[[Json, list[Json]], list[Json]]
"""Changes the chunks of an answer to this request."""


@dataclass(frozen=True)
class Difference:
    before: Before | None = None
    after: After | None = None
    of_nonsense: bool = False
    """Is it about requests that are none?"""


@dataclass
class Planted:
    differences: Sequence[Difference] = ()
    counters: Mapping[str, Json] = field(default_factory=dict)
    """What is answered at the end of other paths."""
    asked: list[Json] = field(default_factory=list)

    def __call__(self, post: Post) -> Received:
        return self.at(post.url, post.body)

    def at(self, url: str, data: bytes) -> Received:
        for ending, counted in self.counters.items():
            if url.endswith(ending):
                return Received(200, {}, jsontext.dumps(counted))
        if not url.endswith("/chat/completions"):
            return Received(404, {}, b"404: Not Found")
        try:
            return self._answered(jsontext.loads(data))
        except Refused as refusal:
            return Received(refusal.status, refusal.headers, jsontext.dumps(refusal.body))

    def _answered(self, body: Json) -> Received:
        self.asked.append(body)
        body = {**body, "messages": _copied(body["messages"])}
        is_nonsense = not isinstance(body["messages"], list)
        for each in self.differences:
            if each.before and each.of_nonsense == is_nonsense:
                each.before(body)
        plain = jsontext.dumps(body)
        chat = read(plain)
        completion = Completion(chat, answer(chat), "chatcmpl-1", _tokens(body["messages"]))
        if not chat.stream:
            return Received(200, {}, jsontext.dumps(completion.body()))
        chunks = list(completion.chunks())
        for each in self.differences:
            if each.after:
                chunks = each.after(body, chunks)
        return Received(200, {}, b"".join(map(event, chunks)) + b"data: [DONE]\n\n")


def _tokens(messages: list[Json]) -> int:
    """Counts what is in the messages, in whatever form."""
    contents = [part for message in messages for part in _parts(message)]
    return 4 * len(messages) + len(jsontext.dumps(contents)) // 4


def _parts(message: Json) -> list[Any]:
    content = message.get("content")
    said = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [*said, message.get("tool_calls")]


def event(chunk: Json) -> bytes:
    return b"data: " + jsontext.dumps(chunk) + b"\n\n"


def _copied(messages: Any) -> Any:
    return jsontext.loads(jsontext.dumps(messages))


@dataclass
class Served:
    planted: Planted
    url: str = ""
    counting_goes_on: bool = False
    """Does the model count on when nobody listens any more, and has no place for others?"""
    busy: bool = False
    refusals: list[web.Response] = field(default_factory=list)
    """What is answered before anything else, each once."""
    keys: set[str] = field(default_factory=set)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.keys.add(request.headers.get("Authorization", ""))
        if request.method == "GET":
            return web.json_response({"data": [{"id": "demo"}]})
        if self.refusals:
            return self.refusals.pop(0)
        if self.busy:
            return web.json_response({"error": {"message": "Busy."}}, status=503)
        data = await request.read()
        received = self.planted.at(str(request.url), data)
        if self.counting_goes_on and b"Count from" in data:
            return await self._counted(request, received)
        return web.Response(status=received.status, headers=dict(received.headers), body=received.body)

    async def _counted(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Is busy for as long as it counts, and for good if nobody hears the end."""
        response = web.StreamResponse()
        await response.prepare(request)
        self.busy = True
        with suppress(ConnectionError):
            for piece in received.body.split(b"\n\n"):
                await response.write(piece + b"\n\n")
                await asyncio.sleep(0.001)
            self.busy = False
        return response


@asynccontextmanager
async def serving(planted: Planted, **how: Any) -> AsyncIterator[Served]:
    """Runs it on a socket."""
    served = Served(planted, **how)
    async with serving_all(served.handle) as url:
        served.url = f"{url}/v1"
        yield served


# ── what can be planted ──


def refuses(
    wrong: Callable[[Json], Any], words: str = "This is not possible.", status: int = 400
) -> Difference:
    """`wrong`: is there in the request what is refused?"""

    def before(body: Json) -> None:
        if wrong(body):
            raise Refused(words, status=status)

    return Difference(before)


def refuses_field(name: str) -> Difference:
    return refuses(lambda body: name in body, f"Unsupported parameter: '{name}'")


def ignores(*names: str) -> Difference:
    def before(body: Json) -> None:
        for name in names:
            body.pop(name, None)

    return Difference(before)


def changes(change: Callable[[Json], None]) -> Difference:
    return Difference(change)


def says(change: Callable[[Json, list[Json]], list[Json]]) -> Difference:
    return Difference(after=change)


# ── looking into requests ──


def roles(body: Json) -> list[str]:
    return [message["role"] for message in body["messages"]]


def tools(body: Json) -> list[Json]:
    return [tool["function"] for tool in body.get("tools", ())]


def parts(body: Json, kind: str) -> list[Json]:
    return [
        part
        for message in body["messages"]
        for part in message["content"] or ()
        if isinstance(part, dict) and part["type"] == kind
    ]


def call_ids(body: Json) -> Iterable[str]:
    return (call["id"] for message in body["messages"] for call in message.get("tool_calls", ()))


def deltas(chunks: list[Json]) -> Iterable[Json]:
    return (choice["delta"] for chunk in chunks for choice in chunk["choices"])
