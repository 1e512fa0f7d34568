"""The backend's side of an exchange, played for any client over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from proxy.commands.recorded_backend import RecordedBackend, serve
from proxy.core.recorded.lines import BadRecording
from proxy.core.recorded.recording import Recording
from tests.support.recordings import HELLO, attempt, fault, recording
from tests.support.sockets import PROMPTLY


@asynccontextmanager
async def played(made: Recording) -> AsyncIterator[str]:
    server = await asyncio.start_server(RecordedBackend(made).answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def test_status_headers_bytes_and_their_times() -> None:
    refused = attempt(b'{"error": "busy"}', status=429, answer_headers={"Retry-After": "1"})
    streamed = attempt(
        *HELLO, answer_headers={"Content-Type": "text/event-stream", "Content-Length": "7"}, place=0.0
    )
    clock = asyncio.get_running_loop().time
    async with played(recording(attempts=[refused, streamed])) as url, aiohttp.ClientSession() as session:
        async with session.get(f"{url}/models") as response:
            assert (await response.json())["data"][0]["id"] == "m"
        async with session.post(f"{url}/chat/completions", json={}) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "1")
        for _ in range(2):  # the last one again and again
            began = clock()
            async with session.post(f"{url}/chat/completions", json={}) as response:
                assert response.content_type == "text/event-stream"
                assert await response.read() == b"".join(HELLO)
            assert clock() - began >= streamed.reads[-1][0] * 0.9


async def test_what_broke_off_breaks_off_again() -> None:
    broken = attempt(HELLO[0], failure=fault(), ended=0.2)
    async with (
        played(recording(attempts=[broken])) as url,
        aiohttp.ClientSession() as session,
        session.post(url, json={}) as response,
    ):
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


async def test_what_never_answered_never_does() -> None:
    unheard = attempt(status=None, failure=fault("Unreachable"), ended=0.05)
    async with played(recording(attempts=[unheard])) as url, aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError):
            async with session.post(url, json={}):
                pass


async def test_what_is_no_http_is_hung_up_on() -> None:
    async with played(recording()) as url:
        port = int(url.rpartition(":")[2].partition("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n")
        async with asyncio.timeout(PROMPTLY):
            assert await reader.read() == b""
        writer.close()


async def test_it_serves_until_it_is_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await serve(recording(), 0)
    assert "Playing the backend of req_1 at http://127.0.0.1:" in capsys.readouterr().out


def test_where_nobody_was_asked_there_is_nobody_to_play() -> None:
    with pytest.raises(BadRecording):
        RecordedBackend(recording(attempts=[]))


async def test_no_page_of_a_browser_reads_it_or_takes_an_answer_away() -> None:
    """S31: neither one of another origin nor one whose name was made to mean this machine."""
    first, second = attempt(b"first"), attempt(b"second")
    first.answer_headers["Access-Control-Allow-Origin"] = "*"
    async with played(recording(attempts=[first, second])) as url, aiohttp.ClientSession() as session:
        for headers in (
            {"Origin": "http://evil.test"},
            {"Origin": "null"},
            {"Host": "evil.test"},
            {"Host": ""},
        ):
            async with session.post(url, json={}, headers=headers) as response:
                assert response.status == 403
                assert b"first" not in await response.read()
        for host in ("localhost:1", "127.0.0.1", "[::1]:80"):
            async with session.get(f"{url}/models", headers={"Host": host}) as response:
                assert response.status == 200
        async with session.post(url, json={}) as response:
            assert await response.read() == b"first"
            assert "Access-Control-Allow-Origin" not in response.headers


async def test_a_header_that_is_none_is_not_sent() -> None:
    """A recording may come from anybody."""
    hostile = {"X-A": "1\r\nX-B: 2", "X-C\r\nX-D": "3", "": "4", "X-E": "\x9b", "X-F": "5"}
    async with (
        played(recording(attempts=[attempt(b"", answer_headers=hostile)])) as url,
        aiohttp.ClientSession() as session,
        session.post(url, json={}) as response,
    ):
        assert dict(response.headers) == {"X-F": "5", "Transfer-Encoding": "chunked"}


async def test_who_plays_is_named_without_what_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    """S15."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await serve(recording(request_id="\x1b[2J\x9b1A"), 0)
    assert "\\u001b[2J\\u009b1A" in capsys.readouterr().out
