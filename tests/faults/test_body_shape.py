"""Answers that are not what was asked for, from the head to the last byte of the body (F16-F23)."""

import gzip
import zlib

import pytest

from tests.support.outcomes import Row, told
from tests.support.proxies import Proxy
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    Line,
    Script,
    ScriptedBackend,
    answer,
    delta,
    event,
    finish,
    http_chunk,
    text,
)

MESSAGE = {"role": "assistant", "content": "Hello"}
COMPLETION = {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}
CALL = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Rome"}'}}
CALLING = {
    "choices": [
        {"index": 0, "message": {"content": None, "tool_calls": [CALL]}, "finish_reason": "tool_calls"}
    ]
}
STREAM = (
    b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


def headed(head: bytes, body: bytes = STREAM) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + head + b"\r\n" + body


def packed(coding: bytes, body: bytes) -> bytes:
    return headed(b"Content-Encoding: %b\r\nContent-Length: %d\r\n" % (coding, len(body)), body)


def flushed(*events: bytes) -> bytes:
    """Packed by a gateway that lets each event through at once."""
    gzipping = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    chunks = [http_chunk(gzipping.compress(event) + gzipping.flush(zlib.Z_SYNC_FLUSH)) for event in events]
    return HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n") + b"".join(chunks) + END


def closing(said: bytes) -> Script:
    """A body that ends with its connection."""

    async def plays(line: Line) -> None:
        line.send(said)
        line.close()

    return plays


ROWS = [
    Row(
        "F16",
        "a web page",
        answer(200, b"<!doctype html><p>sorry", Content_Type="text/html"),
        "502 upstream_invalid_response",
    ),
    Row(
        "F16",
        "a web page that calls itself a stream",
        headed(b"Content-Length: 6\r\n", b"<html>"),
        "502 upstream_invalid_response",
    ),
    Row("F17", "a JSON completion", answer(200, COMPLETION), "completed | Hello"),
    Row("F17", "a JSON completion with a call", answer(200, CALLING), 'completed | get_weather({"city":"Rome"})'),
    Row(
        "F18",
        "a JSON error",
        answer(200, {"error": {"message": "This model's maximum context length is 8 tokens."}}),
        "400 context_length_exceeded",
    ),
    Row("F18", "a JSON error about the rate",
        answer(200, {"error": {"message": "Rate limit."}}), "429 rate_limit_exceeded"),
    Row("F19", "an empty body", answer(200, b""), "502 upstream_empty_reply"),
    Row("F19", "an empty stream", HEAD + END, "502 upstream_empty_reply"),
    Row("F19", "an end mark and nothing before it", HEAD + DONE + END, "502 upstream_stream_truncated"),
    Row("F20", "an error at once", HEAD + event({"error": {"message": "boom"}}) + DONE + END, "502 upstream_error"),
    Row(
        "F20",
        "an error by the event's name",
        HEAD + text("Hel") + http_chunk(b'event: error\ndata: {"message":"overloaded"}\n\n') + DONE + END,
        "failed server_is_overloaded | Hel…",
    ),
    Row(
        "F20",
        "an error, then an end as if nothing had been",
        HEAD + text("Hel") + event({"error": {"message": "boom"}}) + finish() + DONE + END,
        "failed upstream_error | Hel…",
    ),
    Row(
        "F20",
        "an error in a field of its own, as llama.cpp had it",
        HEAD + text("Hel") + http_chunk(b'error: {"code":500,"message":"boom"}\n\n') + DONE + END,
        "failed upstream_error | Hel…",
    ),
    Row(
        "F20",
        "an outgrown window in such a field",
        HEAD + http_chunk(b'error: {"message":"it exceeds the available context size"}\n\n') + DONE + END,
        "400 context_length_exceeded",
    ),
    Row(
        "F20",
        "an error beside a finish, as Groq has it",
        HEAD + text("Hel") + event(COMPLETION | {"x_groq": {"error": "over_capacity"}}) + DONE + END,
        "failed server_is_overloaded | Hel…",
    ),
    Row("F21", "gzip that nobody asked for", packed(b"gzip", gzip.compress(STREAM)), "completed | Hello"),
    Row("F21", "deflate likewise", packed(b"deflate", zlib.compress(STREAM)), "completed | Hello"),
    Row("F21", "gzip that is cut",
        packed(b"gzip", gzip.compress(STREAM)[:60]), "502 upstream_stream_truncated"),
    Row("F21", "a coding that nobody knows",
        packed(b"x-strange", b"\x93\x01\x02\x03"), "502 upstream_stream_truncated"),
    Row("F21", "a coding that is known, but not here",
        packed(b"br", b"\x8b\x03\x80Hello\x03"), "502 upstream_protocol_error"),
    Row("F21", "gzip by its old name", packed(b"X-GZip", gzip.compress(STREAM)), "completed | Hello"),
    Row("F21", "gzip, and then nothing", packed(b"gzip, identity", gzip.compress(STREAM)), "completed | Hello"),
    Row("F21", "gzip in several members",
        packed(b"gzip", gzip.compress(STREAM[:40]) + gzip.compress(STREAM[40:])), "completed | Hello"),
    Row("F21", "gzip, event by event, without its end", flushed(STREAM[:90], STREAM[90:]), "completed | Hello"),
    Row("F21", "deflate without its frame",
        packed(b"deflate", zlib.compress(STREAM)[2:-4]), "completed | Hello"),
    Row("F21", "gzip twice",
        packed(b"gzip, gzip", gzip.compress(gzip.compress(STREAM))), "502 upstream_protocol_error"),
    Row("F21", "a limit, in words that nobody can unpack",
        answer(429, b"\x8b\x03", Content_Encoding="br", Retry_After="7"), "429 rate_limit_exceeded"),
    Row("F21", "a mistake, likewise", answer(422, b"\x28\xb5", Content_Encoding="zstd"), "422 None"),
    Row("F21", "an outgrown window, in gzip",
        answer(400, gzip.compress(b'{"error":{"code":"context_length_exceeded"}}'), Content_Encoding="gzip"),
        "400 context_length_exceeded"),
    Row("F21", "a charset in the coding's place", packed(b"UTF-8", STREAM), "completed | Hello"),
    Row("F21", "a coding that is not what it says", packed(b"gzip", STREAM), "502 upstream_protocol_error"),
    Row("F22", "a stream with a length", headed(b"Content-Length: %d\r\n" % len(STREAM)), "completed | Hello"),
    Row(
        "F22",
        "HTTP/1.0, ended by closing",
        closing(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + STREAM),
        "completed | Hello",
    ),
    Row(
        "F22",
        "an interim answer first",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + headed(b"Content-Length: %d\r\n" % len(STREAM)),
        "completed | Hello",
    ),
    Row(
        "F23",
        "a JSON completion that is cut",
        closing(b'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"choices":[{"message":{"content":"Hel'),
        "502 upstream_stream_truncated",
    ),
    Row(
        "F23",
        "a JSON completion that is cut where its length is not told",
        closing(b'HTTP/1.0 200 OK\r\n\r\n{"choices":[{"message":{"content":"Hel'),
        "502 upstream_invalid_response",
    ),
    Row("F23", "JSON that is none", answer(200, b'{"choices": oops}'), "502 upstream_invalid_response"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_row(row: Row, backend: ScriptedBackend, proxy: Proxy) -> None:
    await row.check(backend, proxy)


@pytest.mark.parametrize("page", [b"<html>canary-page</html>", b'{"error": "sk-canary-0123456789abc"}'])
async def test_f16_neither_page_nor_key_is_echoed(
    page: bytes, backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(answer(200, page))
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        assert b"canary" not in await response.read()


async def test_f21_what_unpacks_without_end_is_ended(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S28: a backend's bomb is unpacked piece by piece, and the limit on a reply holds for what comes out."""
    monkeypatch.setattr("proxy.core.stream.pipeline.MAX_REPLY_BYTES", 1 << 20)
    backend.answers(packed(b"gzip", gzip.compress(b": " + b"x" * (64 << 20))))
    assert await told(proxy) == "502 upstream_reply_too_large"


async def test_f21_streams_are_asked_for_as_they_are(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(HEAD + delta(content="Hello") + finish() + DONE + END)
    await told(proxy)
    assert backend.received[0].headers["accept-encoding"] == "identity"
