"""What clients send to hold up everybody else: more values than bytes, packed bodies without an end."""

import asyncio
import gzip
import tracemalloc
import zlib

import pytest
from aiohttp import WSMsgType

from proxy.core import jsontext
from tests.support.loop_delay import post_aside, watching
from tests.support.outcomes import POST, raw
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import PROMPTLY

MIB = 1 << 20
HELD_SECONDS = 0.1
"""Twice what is aimed at, as machines differ."""

MANY = {
    "lists": (b"[],", 600_000),
    "objects": (b"{},", 600_000),
    "numbers": (b"0,", 1_100_000),
    "texts": (b'"",', 600_000),
    "nested": (b"[" * 500 + b"]" * 500 + b",", 2_100),
}


def request(kind: str) -> bytes:
    unit, times = MANY[kind]
    return b'{"type":"response.create","model":"m","input":"Hi","x":[%b0]}' % (unit * times)


@pytest.mark.parametrize("kind", MANY)
async def test_attack_04_values_are_counted_on_a_socket_as_in_a_body(kind: str, proxy: Proxy) -> None:
    """attack-04: before the parser makes objects of them."""
    data = request(kind)
    assert (await post_aside(f"{proxy.url}/v1/responses", data))[1]["error"]["code"] == "too_many_values"  # type: ignore[index]
    async with proxy.session.ws_connect(f"{proxy.url}/v1/responses") as socket:
        async with watching() as watch:
            await socket.send_str(data.decode())
            said = jsontext.loads((await socket.receive(PROMPTLY)).data)
        assert (said["status"], said["error"]["code"]) == (400, "too_many_values")
        assert watch.longest < HELD_SECONDS
        await socket.send_json({"type": "response.create", "model": "m", "input": "Hi"})
        assert (await socket.receive(PROMPTLY)).type is WSMsgType.TEXT, "and the conversation goes on"


async def test_attack_22_a_text_full_of_commas_holds_no_values(proxy: Proxy) -> None:
    """What a tool has read from a table, and what a program has printed."""
    data = jsontext.dumps({"model": "m", "input": '"a",[1,{' * 300_000})
    assert (await post_aside(f"{proxy.url}/v1/responses", data))[0] == 200


SLOW = {
    "half characters": rb"\ud83d",
    "escapes behind one": rb"\n",
    "digits": b"1" * 3999,
}


@pytest.mark.parametrize("kind", SLOW)
async def test_attack_22_what_only_the_slow_parser_reads_may_not_be_large(kind: str, proxy: Proxy) -> None:
    """attack-22: 60 MB of it took 14 s."""
    body = (
        b'{"model":"m","input":"Hi","x":"%b"}'
        if kind != "digits"
        else b'{"model":"m","input":"Hi","x":[NaN,%b]}'
    )
    data = body % ((rb"\ud83d" if kind != "digits" else b"") + SLOW[kind] * (4 * MIB // len(SLOW[kind])))
    async with watching() as watch:
        status, said = await post_aside(f"{proxy.url}/v1/responses", data)
    assert (status, said["error"]["code"]) == (400, "invalid_json")  # type: ignore[index]
    assert watch.longest < HELD_SECONDS


# ── packed bodies ──

GZIP = (
    POST + b"Content-Type: application/json\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
)
WHOLE = gzip.compress(b'{"model":"m","input":"Hi"}', mtime=0)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@pytest.mark.parametrize("more", [b"\0", b"\0" * 70_000, WHOLE], ids=["a byte", "many", "another body"])
@pytest.mark.parametrize("apart", [True, False])
async def test_attack_08_nothing_is_taken_behind_the_end_of_a_packed_body(
    more: bytes, apart: bool, proxy: Proxy
) -> None:
    """attack-08: 180 MiB were, each read with a copy of all of them. Refused at the first byte."""
    async with asyncio.timeout(PROMPTLY), raw(proxy) as (reader, writer):
        writer.write(GZIP + (chunk(WHOLE) + chunk(more) if apart else chunk(WHOLE + more)))
        head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"Connection: close" in head


async def test_attack_08_no_bytes_are_taken_that_unpack_to_nothing(proxy: Proxy) -> None:
    """attack-08: blocks of deflate that are empty, without end."""
    packer = zlib.compressobj(wbits=31)
    begun = packer.compress(b"{") + packer.flush(zlib.Z_SYNC_FLUSH)
    empty = chunk(b"\0\0\0\xff\xff" * 13_000)
    async with asyncio.timeout(PROMPTLY), raw(proxy) as (reader, writer):
        writer.write(GZIP + chunk(begun))
        said = asyncio.get_running_loop().create_task(reader.readuntil(b"\r\n\r\n"))
        sent = 0
        while not said.done():
            writer.write(empty)
            sent += len(empty)
            await asyncio.wait([said], timeout=0.001)
        assert (await said).startswith(b"HTTP/1.1 400 ")
    assert sent < 16 * MIB


async def test_attack_08_what_is_fed_counts_too(start_proxy: StartProxy) -> None:
    """The limit holds as sent and after unpacking, whatever the frame does not tell."""
    proxy = await start_proxy(server={"body_limit_mib": 1})
    packer = zlib.compressobj(0, wbits=31)
    stored = packer.compress(b" " * (MIB - 2)) + packer.compress(b"{}") + packer.flush()
    async with asyncio.timeout(PROMPTLY), raw(proxy) as (reader, writer):
        writer.write(GZIP + chunk(stored) + b"0\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 413 ")


async def test_attack_04_a_message_that_is_packed_all_the_same_is_none(proxy: Proxy) -> None:
    """Nobody has agreed to unpack it."""
    bomb = zlib.compress(b"[" * MIB)[2:-4]
    frame = bytes([0xC1, 0xFE]) + len(bomb).to_bytes(2, "big") + b"\0\0\0\0" + bomb
    upgrade = (
        b"GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    )
    tracemalloc.start()
    try:
        async with asyncio.timeout(PROMPTLY), raw(proxy) as (reader, writer):
            writer.write(upgrade)
            assert b"deflate" not in await reader.readuntil(b"\r\n\r\n")
            writer.write(frame)
            assert (await reader.readexactly(2))[0] == 0x88, "closed"
        assert tracemalloc.get_traced_memory()[1] < MIB
    finally:
        tracemalloc.stop()
