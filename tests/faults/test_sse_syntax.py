"""Event streams in every spelling, and in none (F24-F38), each in one piece, in chunks and in segments of one byte."""

import asyncio
import time
from collections.abc import Callable

import pytest

from tests.support.outcomes import Row, sse, told
from tests.support.proxies import Proxy
from tests.support.replies import chunk
from tests.support.sockets import END, HEAD, Line, Script, ScriptedBackend, http_chunk

HEL = chunk({"content": "Hel"})
LO = chunk({"content": "lo"})
STOP = chunk({}, "stop")
DONE = b"data: [DONE]\n\n"
HELLO = HEL + LO + STOP + DONE
COMPLETED = "completed | Hello"
LINES = b'data: {"choices": [{"index": 0,\ndata: "delta": {"content": "Hello"}}]}\n\n'


def literal(json: bytes) -> bytes:
    """A stream of one text, written as this JSON literal."""
    return b'data: {"choices":[{"index":0,"delta":{"content":%b}}]}\n\n' % json + STOP + DONE


ROWS = [
    Row("F24", "CRLF", HELLO.replace(b"\n", b"\r\n"), COMPLETED),
    Row("F24", "CR", HELLO.replace(b"\n", b"\r"), COMPLETED),
    Row("F24", "line ends in any mix",
        HEL.replace(b"\n", b"\r\n") + LO.replace(b"\n", b"\r") + STOP + DONE, COMPLETED),
    Row("F24", "CRLF and LF around one event", HELLO.replace(b"\n\n", b"\r\n\n"), COMPLETED),
    Row("F25", "no space after the colon", HELLO.replace(b"data: ", b"data:"), COMPLETED),
    Row("F25", "two spaces after the colon", HELLO.replace(b"data: {", b"data:  {"), COMPLETED),
    Row("F26", "an event in several lines", LINES + STOP + DONE, COMPLETED),
    Row("F27", "a byte order mark", b"\xef\xbb\xbf" + HELLO, COMPLETED),
    Row("F28", "characters of several bytes", literal('"né 🎉 日本"'.encode()), "completed | né 🎉 日本"),
    Row("F29", "bytes that are no UTF-8", literal(b'"a\xff\xc3b"'), "completed | a��b"),
    Row("F30", "comments", b": OPENROUTER PROCESSING\n\n" + HEL + b": ping\n\n:\n" + LO + STOP + DONE, COMPLETED),
    Row("F30", "other fields",
        b"id: 7\nretry: 10\nfoo: bar\nbaz\n\n" + HEL + b"id: 8\n" + LO + STOP + DONE, COMPLETED),
    Row("F30", "a ping that tells the time",
        HEL + b"event: ping\r\ndata: 2023-05-01 12:00:00.000\r\n\r\n" + LO + STOP + DONE, COMPLETED),
    Row("F30", "events of nothing", b"\n\n\ndata\n\ndata:\n\n" + HELLO + b"\n\n", COMPLETED),
    Row("F33", "no blank line at the end", HEL + LO + STOP.rstrip(b"\n"), COMPLETED),
    Row("F33", "the end mark without its line end", HEL + LO + b"data: [DONE]", COMPLETED),
    Row("F34", "JSON that is none",
        HEL + b"data: {oops\n\n" + LO + STOP + DONE, "failed upstream_protocol_error | Hel…"),
    Row("F34", "JSON that is cut by a line end",
        HEL + b'data: {"choices":\n\n' + STOP, "failed upstream_protocol_error | Hel…"),
    Row(
        "F35",
        "numbers that JSON does not have",
        b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":{"content":'
        b'[{"token":"Hello","logprob":-Infinity,"top_logprobs":[{"token":"x","logprob":NaN}]}]}}]}\n\n' + STOP + DONE,
        COMPLETED,
    ),
    Row("F36", "a pair in one text", literal(rb'"\ud83c\udf89"'), "completed | 🎉"),
    Row(
        "F36",
        "a pair over two texts",
        literal(rb'"a\ud83c"').removesuffix(STOP + DONE) + literal(rb'"\udf89b"'),
        "completed | a🎉b",
    ),
    Row("F36", "half a pair", literal(rb'"a\ud83cb"'), "completed | a�b"),
    Row(
        "F37",
        "controls and line ends within the text",
        literal(rb'"a\u0000\u0007\r\n\ndata: x\n\n\u2028\u2029b"'),
        "completed | a\0\7\r\n\ndata: x\n\n\u2028\u2029b",
    ),
    Row(
        "F38",
        "integers beyond 64 bits",
        b'data: {"created":99999999999999999999999,"choices":[{"index":0,"delta":{"content":"Hello"}}],'
        b'"usage":{"prompt_tokens":99999999999999999999999,"completion_tokens":1}}\n\n' + STOP + DONE,
        COMPLETED,
    ),
]  # fmt: skip


def whole(data: bytes) -> bytes | Script:
    return sse(data)


def chunks(data: bytes) -> bytes | Script:
    """Each byte an HTTP chunk of its own, all in one write."""
    return HEAD + b"".join(http_chunk(data[at : at + 1]) for at in range(len(data))) + END


def segments(data: bytes) -> bytes | Script:
    """Each byte a write of its own; the loop turns in between, so most are read by themselves."""

    async def plays(line: Line) -> None:
        line.send(HEAD)
        for at in range(len(data)):
            line.send(http_chunk(data[at : at + 1]))
            await asyncio.sleep(0)
        line.send(END)

    return plays


@pytest.mark.parametrize("pieces", [whole, chunks, segments])
@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_row(
    row: Row, pieces: Callable[[bytes], bytes | Script], backend: ScriptedBackend, proxy: Proxy
) -> None:
    """F32: however the bytes are cut, the client is told the same."""
    assert isinstance(row.said, bytes)
    await Row(row.id, row.fault, pieces(row.said), row.right).check(backend, proxy)


async def test_f28_a_character_may_be_cut_anywhere(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Two reads, cut at each byte of the whole stream in turn."""
    data = literal('"né 🎉 日本"'.encode())
    cuts = iter(range(1, len(data)))

    async def plays(line: Line) -> None:
        while True:
            await line.request()
            at = next(cuts)
            line.send(HEAD, http_chunk(data[:at]))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            line.send(http_chunk(data[at:]), END)

    backend.plays(plays)
    for _ in range(1, len(data)):
        assert await told(proxy) == "completed | né 🎉 日本"


@pytest.mark.parametrize("mebibytes", [1, 12])
async def test_f31_a_line_may_be_as_long_as_a_file(
    mebibytes: int, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Arguments that come whole in one chunk; aiohttp's own reading by lines gives up at half a mebibyte."""
    content = "x" * (mebibytes << 20)
    call = {
        "index": 0,
        "id": "c",
        "function": {"name": "get_weather", "arguments": f'{{"city":"{content}"}}'},
    }
    backend.answers(sse(chunk({"tool_calls": [call]}), STOP, DONE))
    assert await told(proxy) == f'completed | get_weather({{"city":"{content}"}})'


async def test_f31_a_line_beyond_the_limit_ends_the_stream_and_the_connection(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    gone = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, http_chunk(HEL), http_chunk(b'data: {"x":"'))
        try:
            for _ in range(17):
                line.send(http_chunk(b"x" * (1 << 20)))
                await line.drained()
            await line.closed()
        finally:
            gone.set()

    backend.plays(plays)
    assert await told(proxy) == "failed upstream_protocol_error | Hel…"
    async with asyncio.timeout(1):
        await gone.wait()


async def test_f32_ten_thousand_chunks_of_one_byte_cost_what_they_must(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Linear: ten times as many take ten times as long, not a hundred times."""

    async def plays(line: Line) -> None:
        while True:
            count = int((await line.request()).json["model"])
            body = chunk({"content": "x" * count}) + STOP + DONE
            line.send(HEAD, *(http_chunk(body[at : at + 1]) for at in range(len(body))), END)

    async def seconds(count: int) -> float:
        begun = time.process_time()
        assert await told(proxy, model=str(count)) == f"completed | {'x' * count}"
        return time.process_time() - begun

    backend.plays(plays)
    few = min([await seconds(2_000) for _ in range(3)])
    assert await seconds(20_000) < 40 * few
