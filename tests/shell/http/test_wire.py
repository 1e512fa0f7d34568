"""One connection to a backend that frames its answers in every way, and breaks off in some (F22, S28, E4)."""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

import aiohttp
import pytest
from aiohttp.http import HttpProcessingError

from proxy.shell.http import wire as module
from proxy.shell.http.answer_body import FULL_BYTES, AnswerBody
from proxy.shell.http.wire import (
    MAX_FIELD_BYTES,
    MAX_FIELDS,
    MAX_FRAMING_BYTES,
    MAX_INTERIM,
    Wire,
)

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
MOST = 1 << 20


class Transport:
    """What the wire asks of the connection below it."""

    def __init__(self) -> None:
        self.sent = bytearray()
        self.aborted = False
        self.reads = True

    def writelines(self, pieces: Any) -> None:
        for piece in pieces:
            assert piece, "asyncio's own loop would try to send it for ever"
            self.write(piece)

    def write(self, data: bytes | memoryview) -> None:
        self.sent += data

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str) -> None:
        """Nothing is known of it."""

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True


class BegunAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: AnswerBody


class Asked:
    """A wire with a request on it."""

    def __init__(self) -> None:
        self.transport = Transport()
        self.wire = Wire()
        self.wire.connection_made(self.transport)  # type: ignore[arg-type]

    async def ask(self) -> None:
        self._head = self.wire.ask(b"GET / HTTP/1.1\r\n\r\n", b"")
        await asyncio.sleep(0)

    async def answer(self, *data: bytes) -> BegunAnswer:
        for piece in data:
            self.wire.data_received(piece)
        async with asyncio.timeout(5):
            return BegunAnswer(*await self._head)


@pytest.fixture
async def asked() -> Asked:
    asked = Asked()
    await asked.ask()
    return asked


async def whole(head: BegunAnswer) -> bytes:
    read = b""
    async with asyncio.timeout(5):
        while data := await head.body.read(MOST):
            read += data
    return read


@pytest.mark.parametrize("cut", [1, 2, 7, 1000])
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        CHUNKED + b"2\r\nbo\r\n2;a=b\r\ndy\r\n0\r\nTrailer: x\r\n\r\n",
        CHUNKED + b"2 \r\nbo\r\n2\r\ndy\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 4\n\nbody",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
    ],
    ids=["a length", "chunks and trailers", "a blank behind a size", "bare line feeds", "interim answers"],
)
async def test_an_answer_is_read_however_it_is_cut(asked: Asked, answer: bytes, cut: int) -> None:
    """F22: and the connection may be used again."""
    head = await asked.answer(*[answer[at : at + cut] for at in range(0, len(answer), cut)])
    assert (head.status, await whole(head)) == (200, b"body")
    assert not asked.wire.should_close


async def test_two_answers_one_after_the_other(asked: Asked) -> None:
    for word in (b"one", b"two"):
        head = await asked.answer(CHUNKED, b"3\r\n" + word + b"\r\n0\r\n\r\n")
        assert await whole(head) == word
        await asked.ask()


@pytest.mark.parametrize("interim", [b"", b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n"], ids=["alone", "hints"])
async def test_no_header_of_one_answer_is_anothers(asked: Asked, interim: bytes) -> None:
    """Neither a trailer behind a body, nor a hint before a head."""
    first = await asked.answer(interim + CHUNKED + b"2\r\nok\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\n")
    await asked.ask()
    second = await asked.answer(b"HTTP/1.1 200 OK\r\nName: z\r\nContent-Length: 0\r\n\r\n")
    assert dict(first.headers) == {"Transfer-Encoding": "chunked"}
    assert dict(second.headers) == {"Name": "z", "Content-Length": "0"}


async def test_headers_are_found_in_any_case(asked: Asked) -> None:
    head = await asked.answer(
        b"HTTP/1.1 429 No\r\nRetry-After: 3\r\nX-Name: M\xc3\xbcller\r\nContent-Length: 0\r\n\r\n"
    )
    assert (head.status, head.headers["retry-after"], head.headers["x-name"]) == (429, "3", "Müller")
    assert await whole(head) == b""


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nok",
    ],
    ids=["it says so", "an old version", "another protocol"],
)
async def test_a_connection_that_is_not_kept(asked: Asked, answer: bytes) -> None:
    await asked.answer(answer)
    assert asked.wire.should_close


async def test_the_end_of_the_connection_is_the_end_of_a_body_without_another(asked: Asked) -> None:
    head = await asked.answer(b"HTTP/1.1 200 OK\r\n\r\n", b"bo", b"dy")
    asked.wire.connection_lost(None)
    assert await whole(head) == b"body"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody",
        CHUNKED + b"4\r\nbody\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nbody",
    ],
    ids=["a length", "chunks", "reset"],
)
async def test_another_end_is_a_failure_behind_the_body(asked: Asked, answer: bytes) -> None:
    """F42, F60, F61."""
    head = await asked.answer(answer)
    asked.wire.connection_lost(ConnectionResetError(104, "reset") if b"\r\n\r\nbody" in answer else None)
    assert await head.body.read(MOST) == b"body"
    with pytest.raises(aiohttp.ClientPayloadError):
        await head.body.read(MOST)


async def test_a_connection_that_is_lost_before_the_head(asked: Asked) -> None:
    asked.wire.connection_lost(None)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await asked.answer()
    assert not asked.wire.heard
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await asked.wire.ask(b"", b"")


@pytest.mark.parametrize(
    "answer",
    [
        b"220 mail.example ESMTP\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * (MAX_FIELDS + 1) + b"\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * MAX_FIELD_BYTES + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * (MAX_FRAMING_BYTES + 1),
        b"HTTP/1.1 100 Continue\r\n\r\n" * (MAX_INTERIM + 1),
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    ],
    ids=[
        "no HTTP",
        "too many headers",
        "a long one",
        "one without an end",
        "a flood of interim answers",
        "no length",
    ],
)
async def test_a_head_that_is_none(asked: Asked, answer: bytes) -> None:
    """S28: it is refused as soon as it is too much."""
    with pytest.raises(HttpProcessingError):
        await asked.answer(*[answer[at : at + 4096] for at in range(0, len(answer), 4096)])
    assert asked.transport.aborted


@pytest.mark.parametrize(
    "vain",
    [
        b"5;" + b"x" * MAX_FRAMING_BYTES,
        b"0\r\n" + b"A: b\r\n" * (MAX_FRAMING_BYTES // 6 + 1),
        b"no chunk\r\n",
    ],
)
async def test_a_body_that_goes_on_without_content(asked: Asked, vain: bytes) -> None:
    head = await asked.answer(CHUNKED + b"4\r\nbody\r\n")
    for at in range(0, len(vain), 4096):
        asked.wire.data_received(vain[at : at + 4096])
    assert asked.transport.aborted
    assert await head.body.read(MOST) == b"body"
    with pytest.raises(aiohttp.ClientPayloadError):
        await head.body.read(MOST)


@pytest.mark.parametrize("together", [True, False])
async def test_what_nobody_has_asked_for_ends_the_connection(asked: Asked, together: bool) -> None:
    """E4: and the answer before it counts."""
    last, unasked = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"HTTP/1.1 408 Late\r\n\r\n"
    head = await asked.answer(*[last + unasked] if together else [last, unasked])
    assert await whole(head) == b"ok"
    assert asked.wire.should_close
    assert asked.transport.aborted


async def test_a_wait_for_the_head_ends(asked: Asked) -> None:
    asked.wire.until = 5.0
    assert asked.wire.check(4.0) == 5.0
    assert asked.wire.check(5.0) == module.NEVER
    with pytest.raises(TimeoutError):
        await asked.answer()


async def test_a_body_that_nobody_reads_lets_the_backend_wait(asked: Asked) -> None:
    """F67."""
    head = await asked.answer(CHUNKED)
    sent = 0
    while asked.transport.reads:
        asked.wire.data_received(b"400\r\n" + b"x" * 1024 + b"\r\n")
        sent += 1024
    assert len(await head.body.read(MOST)) == sent
    assert asked.transport.reads


@pytest.mark.parametrize("ends_well", [True, False])
async def test_what_was_not_read_of_a_body_holds_up_no_other(asked: Asked, ends_well: bool) -> None:
    """Its connection is kept as soon as all has come, and the next answer on it may be for somebody else."""
    head = await asked.answer(CHUNKED)
    while asked.transport.reads:
        asked.wire.data_received(b"400\r\n" + b"x" * 1024 + b"\r\n")
    if ends_well:
        asked.wire.data_received(b"0\r\n\r\n")
    else:
        head.body.fail(TimeoutError())
    assert asked.transport.reads
    assert len(await head.body.read(MOST)) > FULL_BYTES


async def test_a_request_without_a_body_is_its_head_alone(asked: Asked) -> None:
    assert asked.transport.sent == b"GET / HTTP/1.1\r\n\r\n"


async def test_a_large_request_waits_for_room() -> None:
    asked, body = Asked(), b"x" * (3 * module.PIECE_BYTES)
    asked.wire.pause_writing()
    head = asked.wire.ask(b"head", body)
    await asyncio.sleep(0)
    assert len(asked.transport.sent) == len(b"head") + module.PIECE_BYTES
    assert asked.wire.is_sending
    asked.wire.resume_writing()
    assert asked.transport.sent == b"head" + body
    assert not asked.wire.is_sending
    head.cancel()


async def test_it_closes_as_connectors_ask_for_it() -> None:
    for close in (Wire.close, Wire.abort):
        asked = Asked()
        close(asked.wire)
        close(asked.wire)
        assert asked.transport.aborted
        assert not asked.wire.is_connected()
        asked.wire.connection_lost(None)
        await asyncio.wait_for(asked.wire.closed, 5)
