"""One turn on a socket: its messages in their order, each with its lane."""

import asyncio
from collections.abc import AsyncIterator

import orjson
import pytest

from proxy.shell.http.heartbeat import StreamTiming
from proxy.shell.ops.logs import make_log
from proxy.shell.ops.tasks import Tasks
from proxy.shell.websocket.stream import SocketStream


class Socket:
    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.is_cut = False
        self.free = asyncio.Event()
        self.free.set()

    async def send(self, message: bytes) -> None:
        await self.free.wait()
        self.sent.append(message)

    def cut(self) -> None:
        self.is_cut = True


@pytest.fixture
async def socket() -> Socket:
    return Socket()


@pytest.fixture
async def stream(socket: Socket) -> AsyncIterator[SocketStream]:
    tasks = Tasks(make_log())
    yield SocketStream(socket.send, socket.cut, "req_1.1", StreamTiming(patience=60, heartbeat=60), tasks)
    await tasks.close()


async def test_each_event_is_a_message(socket: Socket, stream: SocketStream) -> None:
    stream.emit(b'{"type":"one"}')
    stream.emit(b'{"type":"two"}')
    await stream.flush()
    stream.emit(b'{"type":"three"}')
    await stream.finish()
    assert socket.sent == [b'{"type":"one"}', b'{"type":"two"}', b'{"type":"three"}']
    assert stream.bytes_out == sum(map(len, socket.sent))
    assert stream.opened


async def test_on_a_lane_each_names_it(socket: Socket, stream: SocketStream) -> None:
    stream.lane = "b"
    stream.emit(b'{"type":"one"}')
    await stream.finish()
    assert orjson.loads(socket.sent[0]) == {"type": "one", "stream_id": "b"}


async def test_a_heartbeat_does_not_overtake_what_waits(socket: Socket, stream: SocketStream) -> None:
    socket.free.clear()
    stream.emit(b"1")
    first = asyncio.ensure_future(stream.flush())  # noqa: TID251
    await asyncio.sleep(0)
    stream.emit(b"2")
    second = asyncio.ensure_future(stream.flush())  # noqa: TID251
    await asyncio.sleep(0)
    socket.free.set()
    await asyncio.gather(first, second)
    assert socket.sent == [b"1", b"2"]


async def test_what_an_interrupted_turn_has_not_sent_leaves_before_its_ending(
    socket: Socket, stream: SocketStream
) -> None:
    socket.free.clear()
    for message in (b"1", b"2"):
        stream.emit(message)
    flushing = asyncio.ensure_future(stream.flush())  # noqa: TID251
    await asyncio.sleep(0)
    flushing.cancel()
    await asyncio.gather(flushing, return_exceptions=True)
    socket.free.set()
    stream.emit(b"end")
    await stream.finish()
    assert socket.sent == [b"2", b"end"]


async def test_nothing_leaves_without_waiting_and_no_comment_at_all(
    socket: Socket, stream: SocketStream
) -> None:
    stream.emit(b"1")
    stream.comment()
    assert (stream.flows, stream.push(), socket.sent) == (False, False, [])


async def test_a_whole_answer_is_one_message(socket: Socket, stream: SocketStream) -> None:
    await stream.answer({"a": 1})
    assert socket.sent == [b'{"a":1}']


async def test_it_can_be_cut(socket: Socket, stream: SocketStream) -> None:
    stream.abort()
    assert socket.is_cut
