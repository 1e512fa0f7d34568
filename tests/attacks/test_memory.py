"""attack-14: what requests under way and remembered conversations take is bounded in sum, and shared out. 127.0.0.1 and
127.0.0.2 are two strangers here.
"""

import asyncio
import gc
import gzip
import io
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from hashlib import shake_256

import orjson
import pytest

from tests.attacks.strangers import BUSY, GOOD, OTHER, silent, stranger
from tests.support.outcomes import raw
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import PROMPTLY, ScriptedBackend
from tests.support.websockets import Talk, talking

MIB = 1 << 20
SMALL = {"memory_mib": 32}
"""24 MiB for requests, 12 of them for one alone; 8 for conversations."""

HALF_A_SHARE = orjson.dumps({"model": "m", "input": "x" * (2 * MIB)})
"""And a little more."""
QUARTER_OF_A_SHARE = orjson.dumps({"model": "m", "input": "x" * MIB})


@contextmanager
def measured() -> Iterator[Callable[[], int]]:
    """How much more is in use than before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]

        def more() -> int:
            gc.collect()
            return tracemalloc.get_traced_memory()[0] - before

        yield more
    finally:
        tracemalloc.stop()


# ── requests under way ──


async def status(proxy: Proxy, body: bytes, **headers: str) -> int:
    told = {"Content-Type": "application/json", **headers}
    async with (
        asyncio.timeout(2 * PROMPTLY),
        proxy.session.post(f"{proxy.url}/v1/responses", data=io.BytesIO(body), headers=told) as response,
    ):
        if response.status == BUSY:
            assert response.headers["Retry-After"] == "1"
            assert (await response.json())["error"]["code"] == "server_is_overloaded"
        return response.status


@asynccontextmanager
async def under_way(
    backend: ScriptedBackend, proxy: Proxy, *bodies: bytes, **headers: str
) -> AsyncIterator[None]:
    """At a backend that is silent."""
    loop, before = asyncio.get_running_loop(), len(backend.received)
    asked = [loop.create_task(status(proxy, body, **headers)) for body in bodies]
    async with asyncio.timeout(2 * PROMPTLY):
        while len(backend.received) < before + len(bodies):
            done, _ = await asyncio.wait(asked, timeout=0.01, return_when=asyncio.FIRST_COMPLETED)
            assert not done, [each.result() for each in done]
    yield
    for each in asked:
        each.cancel()
    await asyncio.wait(asked)


@pytest.mark.parametrize("packed", [False, True])
async def test_requests_under_way(packed: bool, backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """attack-14. Who has its share comes back later, others are served, and what has ended is given back."""
    backend.plays(silent)
    proxy = await start_proxy(server=SMALL)
    body = gzip.compress(HALF_A_SHARE, 1) if packed else HALF_A_SHARE
    headers = {"Content-Encoding": "gzip"} if packed else {}
    async with stranger(proxy, OTHER) as other:
        for times in (1, 2):
            async with under_way(backend, proxy, body, **headers):
                assert await status(proxy, body, **headers) == BUSY
                async with under_way(backend, other, QUARTER_OF_A_SHARE):
                    pass
            await proxy.log.wait_for("request", times * 3)


async def test_values_weigh_more_than_their_bytes(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """attack-14."""
    backend.plays(silent)
    proxy = await start_proxy(server=SMALL)
    body = orjson.dumps({"model": "m", "input": "Hi", "unknown": [[]] * 25_000})
    async with under_way(backend, proxy, body):
        assert await status(proxy, body) == BUSY


async def test_bodies_that_do_not_end(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """attack-14. Held for as long as a byte comes now and then."""
    proxy = await start_proxy(server=SMALL)
    head = b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (60 * MIB)
    async with AsyncExitStack() as stack, stranger(proxy, OTHER) as other:
        said = []
        for _ in range(4):
            reader, writer = await stack.enter_async_context(raw(proxy))
            writer.write(head + b" " * (5 * MIB))
            said.append(asyncio.get_running_loop().create_task(reader.readline()))
        async with asyncio.timeout(PROMPTLY):
            done, held = await asyncio.wait(said, return_when=asyncio.FIRST_COMPLETED)
            while len(done) < 2:
                more, held = await asyncio.wait(held, return_when=asyncio.FIRST_COMPLETED)
                done |= more
        assert {each.result() for each in done} == {b"HTTP/1.1 503 Service Unavailable\r\n"}
        assert await status(other, HALF_A_SHARE) == GOOD
        for each in held:
            each.cancel()


# ── WebSockets ──


def noise(seed: int) -> str:
    """Of which packing leaves half."""
    return shake_256(bytes([seed])).hexdigest(MIB // 2)


async def idle(stack: AsyncExitStack, proxy: Proxy, words: str) -> tuple[Talk, str]:
    """A socket after a turn that asked no backend, and the response that may be continued there."""
    talk = await stack.enter_async_context(talking(proxy.url, max_msg_size=0))
    response = await talk.turn(input=words, generate=False)
    return talk, response["id"]


async def test_a_socket_without_a_turn_holds_next_to_nothing(start_proxy: StartProxy) -> None:
    """attack-14. What was said is packed, and the message itself is let go of."""
    proxy = await start_proxy(server=SMALL)
    async with AsyncExitStack() as stack:
        await idle(stack, proxy, "Hi")
        with measured() as more:
            for _ in range(5):
                talk, response = await idle(stack, proxy, "x" * (3 * MIB))
                await talk.turn(generate=False, previous_response_id="unknown")
            assert more() < 6 * MIB
        assert (await talk.turn(input="More", previous_response_id=response))["status"] == "completed"


async def test_conversations_of_sockets_are_bounded_together(start_proxy: StartProxy) -> None:
    """attack-14. The oldest of whoever has most is forgotten, and nobody else's."""
    proxy = await start_proxy(server=SMALL)
    async with AsyncExitStack() as stack, stranger(proxy, OTHER) as other:
        socket = await stack.enter_async_context(other.session.ws_connect(f"{proxy.url}/v1/responses"))
        theirs = Talk(socket)
        known = (await theirs.turn(input="Hello", generate=False))["id"]
        kept = [await idle(stack, proxy, noise(seed)) for seed in range(20)]
        assert (await theirs.turn(input="More", previous_response_id=known))["status"] == "completed"
        found = [(await talk.turn(input="More", previous_response_id=id)) for talk, id in kept]
    assert found[0]["error"]["code"] == "previous_response_not_found"
    assert [each["status"] for each in found][-10:] == ["completed"] * 10
    async with AsyncExitStack() as stack:
        kept = [await idle(stack, proxy, noise(seed)) for seed in range(3)]
        found = [(await talk.turn(input="More", previous_response_id=id)) for talk, id in kept]
        assert [each["status"] for each in found] == ["completed"] * 3, "the closed ones have left their room"


async def test_a_turn_finds_no_memory(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """attack-14. It is refused in its place, and may be sent again; what it would have continued is still known."""
    proxy = await start_proxy(server=SMALL)
    async with AsyncExitStack() as stack:
        talk, response = await idle(stack, proxy, "x" * MIB)
        small, _ = await idle(stack, proxy, "x")
        backend.plays(silent)
        async with under_way(backend, proxy, HALF_A_SHARE, QUARTER_OF_A_SHARE):
            assert await talk.refused(previous_response_id=response) == (503, "server_is_overloaded")
            await small.ask(input="x" * (4 * MIB))
            assert await small.closed() == 1013, "a message that cannot be taken cannot be answered"
        assert (await talk.turn(generate=False, previous_response_id=response))["status"] == "completed"


async def test_a_message_that_does_not_end(start_proxy: StartProxy) -> None:
    """attack-14. It is counted as it comes."""
    proxy = await start_proxy(server=SMALL)
    upgrade = (
        b"GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    async with raw(proxy) as (reader, writer):
        writer.write(upgrade)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\x81\xff" + (60 * MIB).to_bytes(8, "big") + b"\0\0\0\0")
        writer.write(b" " * (14 * MIB))
        async with asyncio.timeout(PROMPTLY):
            assert (await reader.readexactly(4))[2:] == (1013).to_bytes(2, "big")
    await proxy.log.wait_for("websocket")
    (line,) = proxy.log.named("websocket")
    assert line["code"] == "request_too_large"
    assert await status(proxy, HALF_A_SHARE) == GOOD


# ── what is unknown ──


async def test_a_small_machine_has_a_small_room(start_proxy: StartProxy) -> None:
    """attack-14. What could never fit is not told to come again."""
    proxy = await start_proxy(server=SMALL)
    assert await status(proxy, orjson.dumps({"model": "m", "input": "x" * (5 * MIB)})) == 413
