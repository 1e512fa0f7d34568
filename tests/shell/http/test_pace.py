"""What comes at once is taken in turns, whole and in order, whatever else happens to the connection (attack-23)."""

import asyncio
from typing import Any

import pytest
from aiohttp.client_proto import ResponseHandler

from proxy.shell.http import pace as module
from proxy.shell.http.pace import PIECE_BYTES, Paced

MUCH = bytes(range(256)) * (PIECE_BYTES // 16)


class Transport:
    """As far as flow control goes."""

    def __init__(self) -> None:
        self.reads = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True


class Taker(Paced):
    def __init__(self) -> None:
        super().__init__(asyncio.get_running_loop(), parser=None)
        self.taken: list[bytes] = []
        self._upgraded = True  # no parser is asked to pause
        self.flow = Transport()
        self.transport: Any = self.flow

    def take(self, data: bytes) -> None:
        self.taken.append(data)


@pytest.fixture
async def taker(monkeypatch: pytest.MonkeyPatch) -> Taker:
    monkeypatch.setattr(module, "TURN_SECONDS", -1.0)  # each turn is over with its first piece
    return Taker()


async def turn() -> None:
    await asyncio.sleep(0)


async def test_what_is_small_is_taken_at_once(taker: Taker) -> None:
    for data in (b"a", b"", MUCH[:PIECE_BYTES]):
        taker.data_received(data)
    assert taker.taken == [b"a", b"", MUCH[:PIECE_BYTES]]
    assert taker.flow.reads


async def test_what_is_large_is_taken_in_turns_and_nothing_is_read_meanwhile(
    taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(module, "TURN_SECONDS", 0.5)
    monkeypatch.setattr(module, "monotonic", lambda: next(clock))
    taker.data_received(MUCH)
    turns = 1
    while b"".join(taker.taken) != MUCH:
        assert not taker.flow.reads
        assert len(taker.taken) == turns, "one piece in each"
        await turn()
        turns += 1
    assert turns == len(MUCH) // PIECE_BYTES
    assert max(map(len, taker.taken)) <= PIECE_BYTES
    assert taker.flow.reads


async def test_what_comes_behind_it_waits_behind_it(taker: Taker) -> None:
    taker.data_received(MUCH)
    taker.data_received(b"end")
    taker.data_received(b"")
    assert taker.taken == [MUCH[:PIECE_BYTES], b""], "aiohttp goes on with its own, which came before"
    while taker._held:
        module.TURN_SECONDS = 1
        await turn()
    assert b"".join(taker.taken) == MUCH + b"end"


async def test_a_full_reader_is_waited_for(taker: Taker, monkeypatch: pytest.MonkeyPatch) -> None:
    """F67: and what is held comes before anything that is read anew."""
    monkeypatch.setattr(module, "TURN_SECONDS", 1.0)
    taker.pause_reading()
    taker.data_received(MUCH)
    assert taker.taken == []
    taker.resume_reading(resume_parser=False)
    assert not taker.flow.reads
    await turn()
    assert b"".join(taker.taken) == MUCH
    assert taker.flow.reads


async def test_reads_that_follow_each_other_at_once_share_a_turn(
    taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """attack-30: uvloop reads up to 32 times before anybody else has the loop, and each read had a turn of its own."""
    clock = iter(range(1000))
    monkeypatch.setattr(module, "TURN_SECONDS", 2.5)
    monkeypatch.setattr(module, "monotonic", lambda: next(clock))
    read = MUCH[: PIECE_BYTES + 1]
    for _ in range(2):
        taker.data_received(read)
    assert not taker.flow.reads
    await turn()
    assert b"".join(taker.taken) == read * 2
    assert taker.flow.reads


async def test_a_turn_is_the_only_one_whatever_happens_in_it(taker: Taker) -> None:
    """Room that is made while something is taken would ask for another turn, and the next for two more."""
    turns = 0

    def take(data: bytes) -> None:
        taker.taken.append(data)
        taker.pause_reading()
        taker.resume_reading(resume_parser=False)

    taker.take = take  # type: ignore[method-assign]
    taker.data_received(MUCH)
    while b"".join(taker.taken) != MUCH:
        turns += 1
        assert len(taker.taken) == turns
        await turn()
    assert taker.flow.reads


class Tail(Transport):
    """Of a connection."""

    def get_extra_info(self, name: str) -> None:
        """Nothing is known of it."""


class Reading(Paced, ResponseHandler):
    """Gives what comes to aiohttp's parser."""


@pytest.mark.parametrize("behind", [b"1\r\ny\r\n1\r\nz\r\n0\r\n\r\n", b"1\r\ny\r\n0\r\n\r\n"])
async def test_what_comes_last_does_not_wait_for_more(behind: bytes) -> None:
    """attack-23: a pause that is asked for at the very end of a chunk is remembered by the parser beyond its time. It
    stopped there when there was room again, and a reply never ended."""
    wire = Reading(asyncio.get_running_loop())
    wire.connection_made(Tail())  # type: ignore[arg-type]
    wire.set_response_params(read_until_eof=True, read_bufsize=64 * 1024)
    wire.data_received(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    _, content = await wire.read()
    while not wire._reading_paused:
        wire.data_received(b"1\r\nx\r\n")
    content.read_nowait()
    wire.data_received(behind)
    assert content.is_eof()
    assert content.read_nowait() in {b"y", b"yz"}


async def test_what_had_come_before_the_connection_broke_counts(taker: Taker) -> None:
    """F42."""
    taker.data_received(MUCH)
    taker.connection_lost(None)
    await turn()
    assert b"".join(taker.taken) == MUCH


async def test_it_uses_names_of_aiohttps_that_exist() -> None:
    """Private ones, for want of others."""
    for name in (
        "_pause_transport_reading",
        "_resume_transport_reading",
        "_reading_paused",
        "_buffer_paused",
    ):
        assert hasattr(Taker(), name)


async def test_who_is_to_read_no_more_is_not_made_to(taker: Taker) -> None:
    taker.data_received(MUCH)
    taker.stop_reading()
    taken = list(taker.taken)
    for _ in range(3):
        await turn()
    assert taker.taken == taken
    assert not taker.flow.reads
