"""A plain client for thousands of exchanges in a row, and what must hold of each answer."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

from proxy.core import jsontext
from tests.support.proxies import Proxy
from tests.support.replies import TERMINAL, read_stream
from tests.support.sockets import PROMPTLY

LONGEST = 3_000
"""Characters of a message: what it quotes is cut."""
MODELS_WORD = frozenset({"tool_call_required"})
"""What the scripted backend's one answer may come to, though nothing is wrong with the proxy."""
PATIENT = {
    "breaker": {"consecutive_failures": 100_000, "minimum_requests": 100_000},
    "logs": {"level": "warning"},
}
"""For a proxy whose backend fails thousands of times; it still tells of its own mistakes."""


class Wrong(AssertionError):
    """What came back cannot be right, whatever was sent."""


class Client:
    """One connection, kept as long as the proxy keeps it; HTTP as far as our own answers go."""

    def __init__(self, url: str) -> None:
        self._host, _, port = url.removeprefix("http://").partition(":")
        self._port = int(port)
        self._stream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"", more: str = "") -> tuple[int, bytes]:
        """Status and answer. `more`: another line of the head."""
        if self._stream is None:
            self._stream = await asyncio.open_connection(self._host, self._port, limit=1 << 22)
        reader, writer = self._stream
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}{more}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        async with asyncio.timeout(PROMPTLY):
            told = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            if "transfer-encoding: chunked" in told:
                data = b"".join([piece async for piece in _pieces(reader)])
            else:
                length = told.partition("content-length: ")[2].partition("\r\n")[0]
                data = await reader.readexactly(int(length))
        if "connection: close" in told:
            self.close()
        return int(told.split(" ")[1]), data

    def close(self) -> None:
        if self._stream is not None:
            self._stream[1].close()
            self._stream = None


async def _pieces(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)


@contextmanager
def connected(proxy: Proxy) -> Iterator[Client]:
    client = Client(proxy.url)
    try:
        yield client
    finally:
        client.close()


def check_refusal(status: int, data: bytes, allowed: range) -> None:
    error = jsontext.strict(data)["error"]
    if status not in allowed and not (status == 502 and error["code"] in MODELS_WORD):
        raise Wrong(f"{status} {error}")
    message = error["message"]
    if not (isinstance(message, str) and 0 < len(message) <= LONGEST and message.isprintable()):
        raise Wrong(f"not to be shown: {message!r}")
    if not isinstance(error.get("param"), str | None) or not isinstance(error["type"], str):
        raise Wrong(f"{error}")


def check_stream(surface: str, data: bytes) -> None:
    """One ending, last."""
    if surface == "responses":
        read_stream(data)
        return
    if surface == "codex":  # for whom a failure closes nothing that it cut
        _check_numbers_and_ending(data)
        return
    *events, last = [
        event.removeprefix("data: ") for event in data.decode().removesuffix("\n\n").split("\n\n")
    ]
    chunks = [jsontext.strict(event) for event in [*events, last] if event.startswith("{")]
    endings = [chunk for chunk in chunks if "error" in chunk or _finish(chunk)]
    if len(endings) != 1 or ("error" in endings[0]) != (last != "[DONE]"):
        raise Wrong(f"{len(endings)} endings of {len(chunks)} chunks, the last of them {last!r}")


def _check_numbers_and_ending(data: bytes) -> None:
    told = [line.removeprefix(b"data: ") for line in data.split(b"\n") if line.startswith(b"data: {")]
    events = [jsontext.strict(event) for event in told]
    if [event["sequence_number"] for event in events] != [*range(len(events))]:
        raise Wrong("numbers with a gap")
    if [event["type"] in TERMINAL for event in events].index(True) != len(events) - 1:
        raise Wrong(f"no ending at the end: {events[-1]['type']}")


def _finish(chunk: Any) -> Any:
    return any(choice.get("finish_reason") for choice in chunk["choices"])


def check_log(proxy: Proxy) -> None:
    """No mistake of ours, whatever was told of it."""
    text = proxy.log.text
    if "Traceback" in text or "unhandled_exception" in text:
        raise Wrong(text[-3_000:])
