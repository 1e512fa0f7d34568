"""What arrives is handed over as it arrives; whatever else happens is left to the plain reader."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing

import aiohttp
import pytest

from proxy.shell.http import client as http_client
from proxy.shell.http.client import Answer, HttpClient
from proxy.shell.http.deadlines import Deadlines
from proxy.shell.http.push_reader import PushReader
from tests.support.sockets import END, HEAD, PROMPTLY, Line, ScriptedBackend, http_chunk, scripted


@pytest.fixture
async def backend() -> AsyncIterator[ScriptedBackend]:
    async with scripted() as backend:
        yield backend


class Asking:
    def __init__(self, client: HttpClient) -> None:
        self._client = client

    @asynccontextmanager
    async def get(self, url: str) -> AsyncIterator[Answer]:
        until = asyncio.get_running_loop().time() + PROMPTLY
        with closing(await self._client.ask("GET", url, {}, b"", connect=PROMPTLY, until=until)) as answer:
            yield answer


@pytest.fixture
async def asking(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asking]:
    monkeypatch.setattr(http_client, "READ_BYTES", 1024)
    client = HttpClient("a test", Deadlines())
    yield Asking(client)
    await client.close()


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
    backend: ScriptedBackend, asking: Asking
) -> None:
    steps = Steps(http_chunk(b"one"), http_chunk(b"two"), http_chunk(b"enough"), http_chunk(b"rest") + END)
    backend.plays(steps.play)
    async with asking.get(backend.url) as answer:
        await asyncio.wait_for(PushReader(answer, steps.take).run(), PROMPTLY)
        assert steps.seen == [b"one", b"two", b"enough"]
        assert await asyncio.wait_for(answer.content.read(), PROMPTLY) == b"rest"


async def test_what_was_there_before_comes_first_however_much_it_is(
    backend: ScriptedBackend, asking: Asking
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

    async with asking.get(backend.url) as answer:
        await asyncio.wait_for(PushReader(answer, take).run(), PROMPTLY)
        assert bytes(taken) == whole
        assert answer.content.at_eof()


async def test_a_full_reader_is_emptied_to_the_last_piece(
    backend: ScriptedBackend, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """attack-23: a small piece behind a large one makes room for more, which nobody else would ask for."""
    monkeypatch.setattr(http_client, "READ_BYTES", 64 * 1024)
    two = [http_chunk(b"xx")] * 20_000
    backend.answers(HEAD + b"".join(two) + END)
    taken = bytearray()

    def take(data: bytes) -> bool:
        taken.extend(data)
        return True

    async with asking.get(backend.url) as answer:
        assert answer.connection is not None
        wire = answer.connection.protocol
        async with asyncio.timeout(PROMPTLY):
            while not wire._reading_paused:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0)
        await asyncio.wait_for(PushReader(answer, take).run(), PROMPTLY)
        assert len(taken) == len(two) * 2


async def test_a_reply_that_has_come_whole_is_left_to_the_reader(
    backend: ScriptedBackend, asking: Asking
) -> None:
    backend.answers(HEAD + http_chunk(b"all") + END)
    async with asking.get(backend.url) as answer:
        await answer.content.wait_eof()
        seen: list[bytes] = []
        await asyncio.wait_for(PushReader(answer, lambda data: not seen.append(data)).run(), PROMPTLY)
        assert b"".join(seen) + await answer.content.read() == b"all"


@pytest.mark.parametrize("break_off", [Line.reset, Line.close], ids=["F60", "F61"])
async def test_a_broken_line_ends_it_and_the_reader_tells_how(
    backend: ScriptedBackend, asking: Asking, break_off: Callable[[Line], None]
) -> None:
    go = asyncio.Event()

    async def breaks(line: Line) -> None:
        await line.request()
        line.send(HEAD, http_chunk(b"one"))
        await go.wait()
        break_off(line)

    backend.plays(breaks)
    async with asking.get(backend.url) as answer:
        push_reader = PushReader(answer, lambda data: not go.set())
        await asyncio.wait_for(push_reader.run(), PROMPTLY)
        with pytest.raises((aiohttp.ClientError, OSError)):
            await answer.content.readany()


async def test_a_failure_set_by_whoever_watches_ends_it(backend: ScriptedBackend, asking: Asking) -> None:
    steps = Steps()
    backend.plays(steps.play)
    async with asking.get(backend.url) as answer:
        push_reader = PushReader(answer, steps.take)
        running = asyncio.get_running_loop().create_task(push_reader.run())
        await asyncio.sleep(0)
        answer.content.set_exception(TimeoutError("late"))
        push_reader.deliver()
        await asyncio.wait_for(running, PROMPTLY)
        push_reader.deliver()  # and once more, when it is over
        answer.close()


async def test_what_the_taker_raises_is_raised_here(backend: ScriptedBackend, asking: Asking) -> None:
    backend.plays(Steps(http_chunk(b"one"), http_chunk(b"two")).play)

    def leave(data: bytes) -> bool:
        raise ConnectionResetError("gone")

    async with asking.get(backend.url) as answer:
        with pytest.raises(ConnectionResetError, match="gone"):
            await asyncio.wait_for(PushReader(answer, leave).run(), PROMPTLY)


async def test_the_connection_is_aiohttps_again_and_is_pooled(
    backend: ScriptedBackend, asking: Asking
) -> None:
    steps = Steps(http_chunk(b"one"), http_chunk(b"two") + END)
    backend.plays(steps.play)
    for _ in range(3):
        async with asking.get(backend.url) as answer:
            await asyncio.wait_for(PushReader(answer, steps.take).run(), PROMPTLY)
    assert steps.seen == [b"one", b"two"] * 3
    assert backend.connections == 1
