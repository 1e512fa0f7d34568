"""One request over real sockets, and what a strict client was told, in one line.

    completed | Hello                            a message
    completed | (Hm.) | get_weather({})          reasoning, then a call
    incomplete max_output_tokens | Hel…          what is not whole has an ellipsis
    failed upstream_stream_truncated | Hel…      told within the stream
    502 upstream_empty_reply                     told by a status

Every stream goes through the reader that forgives nothing: numbering, one terminal event, pairs, joined deltas.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.proxies import Proxy
from tests.support.replies import TERMINAL, read_stream
from tests.support.sockets import END, HEAD, Line, Script, ScriptedBackend, http_chunk, reply, text

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
CLOCK = {"type": "function", "name": "get_time", "parameters": {"type": "object", "properties": {}}}
WELL = "well"
"""The model that nothing is wrong with."""
ASK: dict[str, Any] = {"model": "m", "input": "Hi", "stream": True, "tools": [WEATHER, CLOCK]}


@dataclass(frozen=True)
class Row:
    """One line of the contract."""

    id: str
    fault: str
    said: bytes | Script
    """By the backend, once it has the request."""
    right: str
    """What the client must be told."""

    def __str__(self) -> str:
        return f"{self.id} {self.fault}"

    async def check(self, backend: ScriptedBackend, proxy: Proxy) -> None:
        """A client that streams is told so, one that does not likewise, and the next request is served."""
        backend.plays(self._play)
        assert await told(proxy) == self.right
        whole = await told(proxy, stream=False)
        if self.right.startswith("failed "):
            assert whole.split()[0] in ("400", "404", "429", "502", "503", "504")
            assert whole.split()[1] == self.right.split()[1]
        else:
            assert whole == self.right
        assert await told(proxy, model=WELL) == "completed | Hello"

    async def _play(self, line: Line) -> None:
        while True:
            asked = await line.request()
            if asked.json["model"] == WELL:
                line.send(reply(text("Hello")))
            elif isinstance(self.said, bytes):
                line.send(self.said)
            else:
                await self.said(line)


async def told(proxy: Proxy, headers: dict[str, str] | None = None, **body: Any) -> str:
    asked = ASK | body
    async with proxy.post(asked, **headers or {}) as response:
        data = await response.read()
        if response.status != 200:
            return f"{response.status} {(await response.json())['error']['code']}"
        return in_short(final(data) if asked["stream"] else await response.json())


def final(stream: bytes) -> dict[str, Any]:
    """The response as its last event has it, after every check."""
    (response,) = [event["response"] for event in read_stream(stream) if event["type"] in TERMINAL]
    return response


def in_short(response: dict[str, Any]) -> str:
    error, incomplete = response["error"], response["incomplete_details"]
    why = [error["code"]] if error else [incomplete["reason"]] if incomplete else []
    return " | ".join([" ".join([response["status"], *why]), *map(_item, response["output"])])


def _item(item: dict[str, Any]) -> str:
    rest = "…" if item.get("status") == "incomplete" else ""
    if item["type"] == "message":
        return "".join(part.get("text", f"!{part.get('refusal')}") for part in item["content"]) + rest
    if item["type"] == "reasoning":
        return f"({''.join(part['text'] for part in item['summary'])}){rest}"
    return f"{item['name']}({item['arguments']}){rest}"


def sse(*data: bytes) -> bytes:
    """A whole answer whose events are spelt by hand."""
    return HEAD + http_chunk(b"".join(data)) + END


POST = b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n"
"""The beginning of a request that is spelt by hand."""


@asynccontextmanager
async def raw(
    proxy: Proxy, read_limit: int = 65536
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A client on a bare socket; it takes no more than `read_limit` unless it reads."""
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=read_limit)
    try:
        yield reader, writer
    finally:
        writer.close()


@contextmanager
def black_hole() -> Iterator[str]:
    """The URL of nobody: a listener whose queue is full does not even refuse (F04)."""
    with ExitStack() as sockets:
        full = sockets.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        yield f"http://127.0.0.1:{full.getsockname()[1]}/v1"
