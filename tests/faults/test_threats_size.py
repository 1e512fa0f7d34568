"""Too much of it: bytes, bombs, depth, breadth, schemas, chunks (S16-S21, S36, F79)."""

import asyncio
import gzip
import http.client
import tracemalloc
import zlib
from typing import Any

import orjson
import pytest

from proxy.core import jsontext
from tests.support.loop_delay import post_aside, watching
from tests.support.outcomes import POST, WEATHER, raw, told
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import END, HEAD, PROMPTLY, ScriptedBackend, answer, delta, reply, scripted

MIB = 1 << 20
HELD_SECONDS = 0.1
"""The longest that one request may hold the event loop at a time: twice what is aimed at, as machines differ."""

SECONDS_PER_BYTE = 0.1 / MIB
"""Of JSON in its dearest form, many small things, on a slow machine."""


# ── sizes and depths ──


@pytest.mark.parametrize("framing", ["Content-Length: 67108865", "Transfer-Encoding: chunked"])
async def test_s16_a_body_is_refused_by_its_size_before_it_is_kept(
    framing: str, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(server={"body_limit_mib": 1})
    async with raw(proxy) as (reader, writer):
        writer.write(POST + framing.encode() + b"\r\n\r\n")
        said = asyncio.get_running_loop().create_task(reader.readuntil(b"\r\n\r\n"))
        sent = 0
        while not said.done() and "chunked" in framing:
            writer.write(b"10000\r\n" + b" " * 65536 + b"\r\n")
            sent += 65536
            await asyncio.wait([said], timeout=0.001)
        async with asyncio.timeout(PROMPTLY):
            assert (await said).startswith(b"HTTP/1.1 413 ")
        assert sent < 16 * MIB


BOMBS = {
    "gzip": gzip.compress(b" " * (256 * MIB), 9),
    "deflate": zlib.compress(b" " * (256 * MIB), 9),
    "gzip of gzip": gzip.compress(gzip.compress(b" " * (64 * MIB), 9)),
}


@pytest.mark.parametrize("bomb", BOMBS)
async def test_s17_a_bomb_is_unpacked_no_further_than_the_limit(bomb: str, start_proxy: StartProxy) -> None:
    """A thousand to one. And never in one go: others are served meanwhile."""
    proxy = await start_proxy(server={"body_limit_mib": 16})
    tracemalloc.start()
    try:
        async with watching() as watch:
            status, error = await post_aside(
                f"{proxy.url}/v1/responses", BOMBS[bomb], **{"Content-Encoding": bomb.split(" ")[0]}
            )
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (status, "error" in error) == (413 if " " not in bomb else 400, True)
    assert most < 40 * MIB
    assert watch.longest < HELD_SECONDS


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


DEEP = {
    "a schema": b'{"model":"m","input":"Hi","tools":[{"type":"function","name":"f","parameters":%b}]}',
    "metadata": b'{"model":"m","input":"Hi","metadata":%b}',
    "an unknown field": b'{"model":"m","input":"Hi","x":%b}',
    "a result": b'{"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},'
    b'{"type":"function_call_output","call_id":"a","output":%b}]}',
    "an item": b'{"model":"m","input":[%b]}',
    "all of it": b"%b",
}


@pytest.mark.parametrize("place", DEEP)
@pytest.mark.parametrize("depth", [100, 126, 127, 128, 129, 200, 252, 254, 256, 1020, 1025, 100_000])
async def test_s18_no_depth_is_a_failure_of_ours(
    place: str, depth: int, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """What parses must also come out again: the limits of both are far apart."""
    headers = {"Content-Type": "application/json"}
    data = DEEP[place] % nested(depth)
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=data, headers=headers) as response:
        assert response.status in (200, 400), await response.text()
    assert proxy.log.named("unhandled_exception") == []
    if depth >= 1025:
        assert response.status == 400


@pytest.mark.parametrize("depth", [100, 260, 5000])
async def test_s18_nor_is_one_of_the_backends(depth: int, backend: ScriptedBackend, proxy: Proxy) -> None:
    """S28: in arguments, in fields nobody reads, in an error."""
    deep = nested(depth).decode()
    call = {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": deep}}
    backend.answers(reply(delta(tool_calls=[call])))
    assert (await told(proxy)).split()[0] in ("completed", "failed")
    raw_chunk = b'data: {"choices":[{"index":0,"delta":{"content":"x","y":%b}}]}\n\n' % nested(depth)
    backend.answers(HEAD + b"%x\r\n%b\r\n" % (len(raw_chunk), raw_chunk) + END)
    assert (await told(proxy, model="n")).split()[0] in ("completed", "failed", "502")
    assert proxy.log.named("unhandled_exception") == []


BROAD = {
    "tools": {"tools": [WEATHER | {"name": f"f{n}"} for n in range(20_000)]},
    "items": {"input": [{"role": "user", "content": "x"}] * 100_000},
    "parts": {"input": [{"role": "user", "content": [{"type": "input_text", "text": "x"}] * 100_000}]},
    "metadata": {"metadata": {f"k{n}": "v" for n in range(100_000)}},
    "a name": {"tools": [WEATHER | {"name": "f" * 100_000}]},
    "a model": {"model": "m" * 100_000},
    "unknown fields": {f"x{n}": [] for n in range(100_000)},
    "numbers": {"x": [1] * 1_000_000},
}


@pytest.mark.parametrize("what", BROAD)
async def test_s19_no_breadth_holds_up_the_others(what: str, proxy: Proxy) -> None:
    """F79: counts have limits, so the work is that of reading the bytes and little more."""
    body = orjson.dumps({"model": "m", "input": "Hi"} | BROAD[what])
    async with watching() as watch:
        status, _ = await post_aside(f"{proxy.url}/v1/responses", body)
    assert status in (200, 400)
    assert watch.longest < HELD_SECONDS + len(body) * SECONDS_PER_BYTE


@pytest.mark.parametrize("value", [b"1", b"{}", b'""'])
async def test_s19_millions_of_small_things_are_not_even_read(value: bytes, proxy: Proxy) -> None:
    """F79: counting commas is a hundred times as fast as reading what is between them."""
    body = b'{"model":"m","input":"Hi","x":[' + (value + b",") * 5_000_000 + b"1]}"
    async with watching() as watch:
        status, said = await post_aside(f"{proxy.url}/v1/responses", body)
    assert (status, said["error"]["code"]) == (400, "too_many_values")  # type: ignore[index]
    assert watch.longest < HELD_SECONDS


# ── schemas ──


def doubled(levels: int) -> dict[str, Any]:
    """Each level holds the next one twice: 2^levels objects when written out."""
    step = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {
        "type": "object",
        "$defs": step | {f"l{levels}": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/l0"}},
    }


def wide(count: int) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {f"p{n}": {"type": ["string", "null"], "enum": ["a", "b"]} for n in range(count)},
    }


SCHEMAS = {
    "itself": {"$ref": "#"},
    "itself, in a circle": {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "doubling": doubled(20),
    "unique": {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}},
    "a pattern": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
    "patterns for names": {"type": "object", "patternProperties": {"^(a|a)*$": {"pattern": "(.*)*x"}}},
    "a format": {"type": "object", "properties": {"a": {"type": "string", "format": "regex"}}},
    "wide": wide(5000),
    "as wide as may be": wide(990),
    "dense": {"type": "object", "properties": {f"{n}": {} for n in range(12_000)}},
    "dense, in an older form": {"type": "object", "properties": {"a": {"items": [{}] * 30_000}}},
    "choices": {"anyOf": [wide(20) for _ in range(100)]},
    "a list of values": {"type": "object", "properties": {"a": {"enum": [f"v{n}" for n in range(50_000)]}}},
}  # fmt: skip
ARGUMENTS = {
    "unique": {"a": [{"x": n, "y": [n]} for n in range(3000)]},
    "a pattern": {"a": "a" * 40 + "!"},
    "patterns for names": {"a" * 40 + "!": "x" * 5000},
}


@pytest.mark.parametrize("validate", ["off", "enforce"])
@pytest.mark.parametrize("name", SCHEMAS)
async def test_s21_no_schema_holds_up_the_others(
    name: str, validate: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """F79: neither when it is read, nor when a call is held against it."""
    limits = {"validate_tool_arguments": validate, "argument_bytes": 262144}
    proxy = await start_proxy(limits=limits)
    arguments = jsontext.compact(ARGUMENTS.get(name, {"a": "b"}))
    call = {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": arguments}}
    backend.answers(reply(delta(tool_calls=[call])))
    tool = WEATHER | {"parameters": SCHEMAS[name]}
    body = orjson.dumps({"model": "m", "input": "Hi", "tools": [tool]})
    async with watching() as watch:
        status, said = await post_aside(f"{proxy.url}/v1/responses", body)
    assert status in (200, 400, 502), said
    assert proxy.log.named("unhandled_exception") == []
    assert watch.longest < HELD_SECONDS


@pytest.mark.parametrize("validate", ["off", "enforce"])
async def test_s20_no_schema_makes_us_fetch_another(
    validate: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(limits={"validate_tool_arguments": validate})
    backend.answers(
        reply(
            delta(
                tool_calls=[{"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": "{}"}}]
            )
        )
    )
    async with scripted() as inside:
        inside.answers(answer(200, {"type": "object"}))
        for key in ("$ref", "$schema", "$dynamicRef", "$id"):
            parameters = {"type": "object", key: f"{inside.root}/schema.json"}
            status = (await told(proxy, tools=[WEATHER | {"parameters": parameters}])).split()[0]
            assert status in ("completed", "400", "failed", "502")
        assert inside.connections == 0


# ── floods ──


async def test_s36_a_flood_of_tiny_chunks_is_read_at_its_price(proxy: Proxy) -> None:
    """Linear, and others are served meanwhile."""
    body = orjson.dumps({"model": "m", "input": "x" * 30_000})
    data = b"".join(b"1\r\n%b\r\n" % body[at : at + 1] for at in range(len(body))) + b"0\r\n\r\n"
    async with watching() as watch:
        status = await asyncio.to_thread(_flood, proxy.url.removeprefix("http://"), data)
    assert status == 200
    assert watch.longest < HELD_SECONDS


def _flood(address: str, data: bytes) -> int:
    connection = http.client.HTTPConnection(address, timeout=30)
    connection.connect()
    connection.sock.sendall(
        POST + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + data
    )
    response = http.client.HTTPResponse(connection.sock, method="POST")
    response.begin()
    connection.close()
    return response.status
