"""What arrives is handed over as it arrives; whatever else happens is left to the reader."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing

import aiohttp
import pytest

from proxy.shell.http.answer_body import FULL_BYTES, AnswerBody
from proxy.shell.http.client import Answer, HttpClient
from proxy.shell.http.deadlines import Deadlines
from proxy.shell.http.pace import PIECE_BYTES
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
async def asking() -> AsyncIterator[Asking]:
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


async def pushed(answer: Answer, take: Callable[[bytes], bool]) -> None:
    await asyncio.wait_for(answer.body.push_to(take), PROMPTLY)


async def read(answer: Answer) -> bytes:
    return await asyncio.wait_for(answer.body.read(PIECE_BYTES), PROMPTLY)


async def test_each_piece_is_handed_over_when_it_comes_and_the_rest_is_the_readers(
    backend: ScriptedBackend, asking: Asking
) -> None:
    steps = Steps(http_chunk(b"one"), http_chunk(b"two"), http_chunk(b"enough"), http_chunk(b"rest") + END)
    backend.plays(steps.play)
    async with asking.get(backend.url) as answer:
        await pushed(answer, steps.take)
        assert steps.seen == [b"one", b"two", b"enough"]
        assert [await read(answer), await read(answer)] == [b"rest", b""]


async def test_what_comes_in_one_packet_is_one_piece(backend: ScriptedBackend, asking: Asking) -> None:
    steps = Steps(http_chunk(b"one"), http_chunk(b"two ") + http_chunk(b"three") + END)
    backend.plays(steps.play)
    async with asking.get(backend.url) as answer:
        await pushed(answer, steps.take)
    assert steps.seen == [b"one", b"two three"]


async def test_what_was_there_before_comes_first_however_much_it_is(
    backend: ScriptedBackend, asking: Asking
) -> None:
    """attack-23, F67: what is full lets the backend wait, and asks for more when there is room."""
    whole = b"".join(b"%06d" % number for number in range(100_000))
    backend.answers(
        HEAD + b"".join(http_chunk(whole[at : at + 100]) for at in range(0, len(whole), 100)) + END
    )
    taken = bytearray()

    def take(data: bytes) -> bool:
        assert len(data) <= PIECE_BYTES
        taken.extend(data)
        return True

    async with asking.get(backend.url) as answer:
        async with asyncio.timeout(PROMPTLY):
            while answer.body.total_bytes <= FULL_BYTES:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0)
        assert answer.body.total_bytes < 2 * FULL_BYTES < len(whole)
        await pushed(answer, take)
        assert bytes(taken) == whole
        assert await read(answer) == b""


async def test_a_reply_that_has_come_whole_is_taken_too(backend: ScriptedBackend, asking: Asking) -> None:
    backend.answers(HEAD + http_chunk(b"all") + END)
    async with asking.get(backend.url) as answer:
        seen: list[bytes] = []
        await pushed(answer, lambda data: not seen.append(data))
        assert (seen, await read(answer)) == ([b"all"], b"")


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
        await pushed(answer, lambda data: not go.set())
        with pytest.raises(aiohttp.ClientError):
            await read(answer)


async def test_a_failure_set_by_whoever_watches_ends_it(backend: ScriptedBackend, asking: Asking) -> None:
    steps = Steps()
    backend.plays(steps.play)
    async with asking.get(backend.url) as answer:
        running = asyncio.get_running_loop().create_task(answer.body.push_to(steps.take))
        await asyncio.sleep(0)
        answer.body.fail(TimeoutError("late"))
        answer.body.fail(TimeoutError("later"))
        await asyncio.wait_for(running, PROMPTLY)
        with pytest.raises(TimeoutError, match=r"late$"):
            await read(answer)
        answer.close()


async def test_what_the_taker_raises_is_raised_here(backend: ScriptedBackend, asking: Asking) -> None:
    go = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD)
        await go.wait()
        line.send(http_chunk(b"one"))

    backend.plays(plays)

    def leave(data: bytes) -> bool:
        raise ConnectionResetError("gone")

    async with asking.get(backend.url) as answer:
        running = asyncio.get_running_loop().create_task(answer.body.push_to(leave))
        await asyncio.sleep(0)
        go.set()
        with pytest.raises(ConnectionResetError, match="gone"):
            await asyncio.wait_for(running, PROMPTLY)


async def test_the_connection_is_pooled_when_all_has_come(backend: ScriptedBackend, asking: Asking) -> None:
    steps = Steps(http_chunk(b"one"), http_chunk(b"two") + END)
    backend.plays(steps.play)
    for _ in range(3):
        async with asking.get(backend.url) as answer:
            await pushed(answer, steps.take)
    assert steps.seen == [b"one", b"two"] * 3
    assert backend.connections == 1


class Flow:
    def hold(self) -> None:
        raise AssertionError("there is room")

    def go_on(self) -> None:
        raise AssertionError("nothing was held")


async def test_what_comes_when_nobody_waits_for_it_is_not_kept() -> None:
    """F43: after a failure of the wait only the end counts, which gives the connection back."""
    body, ends = AnswerBody(Flow()), []
    body.when_whole(lambda: ends.append("whole"))
    body.feed(b"all")
    body.fail(TimeoutError())
    body.feed(b"x" * (FULL_BYTES + 1))
    assert await body.read(PIECE_BYTES) == b"all"
    with pytest.raises(TimeoutError):
        await body.read(PIECE_BYTES)
    assert ends == []
    body.end()
    assert ends == ["whole"]
