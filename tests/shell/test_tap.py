"""What arrives is handed over as it arrives; whatever else happens is left to the plain reader."""

import asyncio
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest

from proxy.shell.tap import Tap
from tests.shell.backend import END, HEAD, PROMPTLY, Line, ScriptedBackend, http_chunk, scripted


@pytest.fixture
async def backend() -> AsyncIterator[ScriptedBackend]:
    async with scripted() as backend:
        yield backend


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(read_bufsize=1024) as session:
        yield session


class Steps:
    """A backend that sends each piece when the one before was taken."""

    def __init__(self, *pieces: bytes) -> None:
        self.seen: list[bytes] = []
        self._pieces = pieces
        self._taken = asyncio.Semaphore(1)

    async def play(self, line: Line) -> None:
        while True:
            await line.request()
            line.send(HEAD)
            for piece in self._pieces:
                async with asyncio.timeout(PROMPTLY):
                    await self._taken.acquire()
                line.send(piece)

    def take(self, data: bytes) -> bool:
        self.seen.append(data)
        self._taken.release()
        return data != b"enough"


async def test_each_piece_is_handed_over_when_it_comes_and_the_rest_is_the_readers(
    backend: ScriptedBackend, session: aiohttp.ClientSession
) -> None:
    steps = Steps(http_chunk(b"one"), http_chunk(b"two"), http_chunk(b"enough"), http_chunk(b"rest") + END)
    backend.plays(steps.play)
    async with session.get(backend.url) as response:
        await asyncio.wait_for(Tap(response, steps.take).run(), PROMPTLY)
        assert steps.seen == [b"one", b"two", b"enough"]
        assert await asyncio.wait_for(response.content.read(), PROMPTLY) == b"rest"


async def test_what_was_there_before_comes_first_however_much_it_is(
    backend: ScriptedBackend, session: aiohttp.ClientSession
) -> None:
    """A full reader pauses; emptying it lets more arrive in the same moment, past whoever looks only once."""
    whole = b"".join(b"%06d" % number for number in range(20_000))
    backend.answers(
        HEAD + b"".join(http_chunk(whole[at : at + 100]) for at in range(0, len(whole), 100)) + END
    )
    taken = bytearray()

    def take(data: bytes) -> bool:
        taken.extend(data)
        return True

    async with session.get(backend.url) as response:
        await asyncio.wait_for(Tap(response, take).run(), PROMPTLY)
        assert bytes(taken) == whole
        assert response.content.at_eof()


async def test_a_reply_that_has_come_whole_is_left_to_the_reader(
    backend: ScriptedBackend, session: aiohttp.ClientSession
) -> None:
    backend.answers(HEAD + http_chunk(b"all") + END)
    async with session.get(backend.url) as response:
        await response.content.wait_eof()
        seen: list[bytes] = []
        await asyncio.wait_for(Tap(response, lambda data: not seen.append(data)).run(), PROMPTLY)
        assert b"".join(seen) + await response.content.read() == b"all"


@pytest.mark.parametrize("break_off", [Line.reset, Line.close], ids=["F60", "F61"])
async def test_a_broken_line_ends_it_and_the_reader_tells_how(
    backend: ScriptedBackend, session: aiohttp.ClientSession, break_off: Callable[[Line], None]
) -> None:
    go = asyncio.Event()

    async def breaks(line: Line) -> None:
        await line.request()
        line.send(HEAD, http_chunk(b"one"))
        await go.wait()
        break_off(line)

    backend.plays(breaks)
    async with session.get(backend.url) as response:
        tap = Tap(response, lambda data: not go.set())
        await asyncio.wait_for(tap.run(), PROMPTLY)
        with pytest.raises((aiohttp.ClientError, OSError)):
            await response.content.readany()


async def test_a_failure_set_by_whoever_watches_ends_it(
    backend: ScriptedBackend, session: aiohttp.ClientSession
) -> None:
    steps = Steps()
    backend.plays(steps.play)
    async with session.get(backend.url) as response:
        tap = Tap(response, steps.take)
        running = asyncio.get_running_loop().create_task(tap.run())
        await asyncio.sleep(0)
        response.content.set_exception(TimeoutError("late"))
        tap.pour()
        await asyncio.wait_for(running, PROMPTLY)
        tap.pour()  # and once more, when it is over
        response.close()


async def test_what_the_taker_raises_is_raised_here(
    backend: ScriptedBackend, session: aiohttp.ClientSession
) -> None:
    backend.plays(Steps(http_chunk(b"one"), http_chunk(b"two")).play)

    def leave(data: bytes) -> bool:
        raise ConnectionResetError("gone")

    async with session.get(backend.url) as response:
        with pytest.raises(ConnectionResetError, match="gone"):
            await asyncio.wait_for(Tap(response, leave).run(), PROMPTLY)


async def test_the_connection_is_aiohttps_again_and_is_pooled(
    backend: ScriptedBackend, session: aiohttp.ClientSession
) -> None:
    steps = Steps(http_chunk(b"one"), http_chunk(b"two") + END)
    backend.plays(steps.play)
    for _ in range(3):
        async with session.get(backend.url) as response:
            await asyncio.wait_for(Tap(response, steps.take).run(), PROMPTLY)
    assert steps.seen == [b"one", b"two"] * 3
    assert backend.connections == 1
