"""A Chat Completions backend that costs next to nothing: a process of its own, frames made before they are needed.

python -m tests.load.backend [PORT] prints its URL. GET /state tells how many connections and streams are open.
"""

import asyncio
import functools
import socket
import struct
import sys
import time
from typing import Any, ClassVar

import uvloop
from orjson import dumps, loads

from tests.load.script import ARGUMENTS_CLOSE, ARGUMENTS_OPEN, NO_STAMP, Script, around, parse

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
MARK = "@" * len(NO_STAMP)
USAGE = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
BACKLOG = 4096
GOLDEN = 0.618034
"""Streams that begin together are spread over the pause, or all timers would fire at once."""


def event(payload: Any) -> bytes:
    data = b"data: %b\n\n" % (payload if isinstance(payload, bytes) else dumps(payload))
    return b"%x\r\n%b\r\n" % (len(data), data)


def chunk(model: str, choices: list[Any], usage: Any = None) -> bytes:
    frame = {"id": "chatcmpl-load", "object": "chat.completion.chunk", "created": 1_700_000_000}
    return event(frame | {"model": model, "choices": choices, "usage": usage})


def delta(model: str, said: dict[str, Any], finish: str | None = None) -> bytes:
    return chunk(model, [{"index": 0, "delta": said, "logprobs": None, "finish_reason": finish}])


def arguments(text: str, **beside: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, **beside, "function": {"arguments": text}}]}


@functools.lru_cache(64)
def frames(model: str) -> tuple[bytes, list[list[bytes]], bytes]:
    """How it opens; each write, split where the times go; how it closes."""
    script = parse(model)
    opening = delta(model, {"role": "assistant", "content": ""})
    closing = b""
    if script.kind == "tool":
        call = arguments(ARGUMENTS_OPEN, id="call_load", type="function")
        call["tool_calls"][0]["function"]["name"] = "load_tool"
        opening += delta(model, call)
        closing += delta(model, arguments(ARGUMENTS_CLOSE))
    closing += delta(model, {}, "stop" if script.kind == "text" else "tool_calls")
    closing += chunk(model, [], USAGE) + event(b"[DONE]") + b"0\r\n\r\n"
    if script.ending == "error":
        closing = event({"error": {"message": "The model is gone.", "type": "server_error", "code": 500}})
        closing += b"0\r\n\r\n"
    pieces = [delta(model, _piece(script, number)) for number in range(script.said)]
    writes = [b"".join(pieces[at : at + script.burst]) for at in range(0, len(pieces), script.burst)]
    return opening, [write.split(MARK.encode()) for write in writes], closing


def _piece(script: Script, number: int) -> dict[str, Any]:
    text = MARK.join(around(number, script.kind))
    return {"content": text} if script.kind == "text" else arguments(text)


def completion(model: str) -> bytes:
    script = parse(model)
    message: dict[str, Any] = {"role": "assistant", "content": script.whole()}
    if script.kind == "tool":
        call = {"name": "load_tool", "arguments": script.whole()}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_load", "type": "function", "function": call}],
        }
    finish = "stop" if script.kind == "text" else "tool_calls"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    head = {"id": "chatcmpl-load", "object": "chat.completion", "created": 1_700_000_000, "model": model}
    return answer(200, {**head, "choices": [choice], "usage": USAGE})


def answer(status: int, body: Any) -> bytes:
    data = dumps(body)
    head = b"HTTP/1.1 %d Whatever\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(data)) + data


class Line(asyncio.Protocol):
    """One connection; requests come one after another."""

    connections = 0
    begun = 0
    speaking: ClassVar[set["Line"]] = set()

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        Line.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        Line.connections -= 1
        self._fall_silent()

    def _fall_silent(self) -> None:
        Line.speaking.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self in Line.speaking and self._timer is None:
            self._say()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if found and len(body) >= (size := int(length or 0)):
            self._received = body[size:]
            self._answer(head, body[:size])

    def _answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET /state"):
            self._transport.write(
                answer(200, {"connections": Line.connections, "streams": len(Line.speaking)})
            )
        elif not head.startswith(b"POST"):
            self._transport.write(answer(200, {"object": "list", "data": []}))
        elif not head.startswith(b"POST /v1/chat/completions "):
            self._transport.write(answer(404, {"error": {"message": "Nobody speaks that here."}}))
        else:
            asked = loads(body)
            model = asked["model"]
            self._script = parse(model)
            if self._script.ending == "refused":
                self._transport.write(
                    answer(503, {"error": {"message": "Overloaded.", "type": "server_error"}})
                )
            elif asked.get("stream"):
                self._begin(model)
            else:
                self._transport.write(completion(model))

    def _begin(self, model: str) -> None:
        opening, self._writes, self._closing = frames(model)
        Line.speaking.add(self)
        Line.begun += 1
        self._number = 0
        self._gap = self._script.gap_ms / 1000
        self._began = self._loop.time() + self._gap * (Line.begun * GOLDEN % 1)
        self._transport.write(STREAM_HEAD + opening)
        self._timer = self._loop.call_later(0, self._say)

    def _say(self) -> None:
        self._timer = None
        if self._paused:
            return
        if self._number == len(self._writes):
            self._end()
            return
        stamp = b"%016x" % time.monotonic_ns() if self._gap else NO_STAMP.encode()
        self._transport.write(stamp.join(self._writes[self._number]))
        self._number += 1
        due = self._began + self._number * self._gap
        self._timer = self._loop.call_later(max(0.0, due - self._loop.time()) if self._gap else 0, self._say)

    def _end(self) -> None:
        self._fall_silent()
        if self._script.ending == "reset":
            sock: socket.socket = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            self._transport.abort()
        elif self._script.ending == "cut":
            self._transport.close()
        else:
            self._transport.write(self._closing)


async def serve(port: int, line: type[Line] = Line) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(line, "127.0.0.1", port, backlog=BACKLOG)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
