"""The real process: asked to stop, killed, restarted, and everything it ever writes (F74, F75, S06)."""

import asyncio
import re
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.outcomes import ASK, final, in_short
from tests.support.programs import SECONDS, Process, served
from tests.support.replies import read_stream
from tests.support.sockets import END, HEAD, Line, ScriptedBackend, answer, delta, event, finish, reply, text
from tests.support.two_tenants import KEYS, TENANTS, shown_by


class Beginning:
    """A backend that begins, and goes on when it is told."""

    def __init__(self) -> None:
        self.goes_on, self.left = asyncio.Event(), asyncio.Event()

    async def play(self, line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await self.goes_on.wait()
        line.send(text("lo"), finish(), END)
        try:
            await line.closed()
        finally:
            self.left.set()


@asynccontextmanager
async def streaming(process: Process) -> AsyncIterator[aiohttp.ClientResponse]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{process.url}/v1/responses", json=ASK) as response,
    ):
        await response.content.readuntil(b'"delta":"Hel"')
        yield response


async def test_f74_a_stream_may_end_when_the_process_is_asked_to_stop(
    backend: ScriptedBackend, tmp_path: Path
) -> None:
    """It takes no more requests, lets the stream come to its end, and ends well."""
    beginning = Beginning()
    backend.plays(beginning.play)
    async with (
        served(backend, tmp_path, server={"grace_seconds": SECONDS}) as process,
        streaming(process) as stream,
    ):
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{process.url}/readyz") as response:
                assert response.status == 200
            process.signal(signal.SIGTERM)
            async with asyncio.timeout(SECONDS):
                while response.status == 200:
                    async with session.get(f"{process.url}/readyz") as response:
                        pass
            assert response.status == 503
        beginning.goes_on.set()
        rest = await stream.read()
        assert b"event: response.completed" in rest
        assert rest.endswith(b"data: [DONE]\n\n")
        assert await process.ended() == 0


async def test_f74_and_is_told_why_it_ends_if_it_does_not(backend: ScriptedBackend, tmp_path: Path) -> None:
    backend.plays(Beginning().play)
    async with (
        served(backend, tmp_path, server={"grace_seconds": 0.2}) as process,
        streaming(process) as stream,
    ):
        process.signal(signal.SIGTERM)
        rest = await stream.read()
        assert b"event: response.failed" in rest
        assert b"server_shutting_down" in rest
        assert rest.endswith(b"data: [DONE]\n\n")
        assert await process.ended() == 0


@pytest.mark.parametrize("workers", [1, 2])
async def test_f74_a_second_signal_leaves_it_no_more_time(
    backend: ScriptedBackend, tmp_path: Path, workers: int
) -> None:
    """U34: it is told all the same, and the process ends well."""
    backend.plays(Beginning().play)
    server = {"grace_seconds": 10 * SECONDS, "workers": workers}
    async with served(backend, tmp_path, server=server) as process, streaming(process) as stream:
        process.signal(signal.SIGTERM)
        await _refuses(process)
        process.signal(signal.SIGTERM)
        rest = await stream.read()
        assert b"event: response.failed" in rest
        assert b"server_shutting_down" in rest
        assert rest.endswith(b"data: [DONE]\n\n")
        assert await process.ended() == 0


async def _refuses(process: Process) -> None:
    """Every new connection, whichever worker gets it."""
    in_a_row = 0
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session, asyncio.timeout(SECONDS):
        while in_a_row < 20:
            async with session.get(f"{process.url}/readyz") as response:
                in_a_row = in_a_row + 1 if response.status == 503 else 0


async def test_f75_a_process_that_is_killed_leaves_no_false_ending_and_no_trace(
    backend: ScriptedBackend, tmp_path: Path
) -> None:
    """The client sees a break, the backend is left, and the next process serves on the same port."""
    beginning = Beginning()
    backend.plays(beginning.play)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with served(backend, tmp_path, port=port) as process, streaming(process) as stream:
        process.signal(signal.SIGKILL)
        with pytest.raises(aiohttp.ClientError):
            await stream.read()
        beginning.goes_on.set()
        async with asyncio.timeout(SECONDS):
            await beginning.left.wait()
    backend.answers(reply(text("Hello")))
    async with (
        served(backend, tmp_path, port=port) as process,
        aiohttp.ClientSession() as session,
        session.post(f"{process.url}/v1/responses", json=ASK) as response,
    ):
        assert in_short(final(await response.read())) == "completed | Hello"


async def test_f01_a_backend_that_was_restarted_is_used_again(
    backend: ScriptedBackend, tmp_path: Path
) -> None:
    """F06: whatever connections were kept; what it was saying meanwhile is told as broken off."""
    backend.plays(Beginning().play)
    port = int(backend.root.rpartition(":")[2])
    async with served(backend, tmp_path) as process, aiohttp.ClientSession() as session:
        async with streaming(process) as stream:
            await backend.stop()
            rest = await stream.read()
        assert b"upstream_stream_truncated" in rest
        assert b"response.completed" not in rest
        backend.answers(reply(text("Hello")))
        await backend.start(port)
        async with session.post(f"{process.url}/v1/responses", json=ASK) as response:
            assert in_short(final(await response.read())) == "completed | Hello"


async def test_s06_no_key_no_prompt_and_no_answer_stands_in_anything_it_writes(
    backend: ScriptedBackend, tmp_path: Path
) -> None:
    """Canaries in every place that a secret may come from; then both outputs, every answer and the metrics are
    searched. S03: a tenant's key is known by its digest alone."""
    key = "canary-backend-key-0123"
    quoting = {"error": {"message": f"Bad key {key} for canary-prompt, Bearer canary-quoted-0123456789"}}
    backend.answers(
        reply(delta(reasoning_content="canary-thought"), text("canary-answer")),
        answer(401, quoting),
        answer(429, {"error": {"message": "Slow down, Bearer canary-quoted-0123456789"}}),
        HEAD + text("canary-answer") + event({"error": {"message": f"api_key={key}"}}) + END,
        answer(200, b"<html>canary-page"),
        HEAD + b"zz\r\ncanary-garbage\r\n",
    )
    settings = {
        "server": {"signing_key": "canary-seal-key-0123456789"},
        "backend": {"key": key, "headers": {"X-Extra": "canary-header-0123"}},
        "tenants": TENANTS,
        "logs": {"level": "debug"},
    }
    told: list[str] = []
    async with served(backend, tmp_path, **settings) as process, aiohttp.ClientSession() as session:

        async def ask(body: Any, headers: dict[str, str], path: str = "/v1/responses") -> bytes:
            async with session.post(process.url + path, json=body, headers=headers) as response:
                data = await response.read()
                told.append(str(response.headers))
                return data

        asked = ASK | {"input": "canary-prompt", "instructions": "canary-instructions", "user": "canary-user"}
        stream = await ask(asked, shown_by("ann"))
        assert any(found["type"] == "response.completed" for found in read_stream(stream))
        for _ in range(5):
            failed = (await ask(asked, shown_by("ann"))).decode()
            told.append(failed.replace("canary-answer", "").replace("canary-instructions", ""))
        told.append((await ask(asked, {"Authorization": "Bearer canary-wrong"})).decode())
        told.append((await ask({"input": [{"role": "canary-role"}], "model": 7}, shown_by("bob"))).decode())
        for path in ("/metrics", "/healthz", "/v1/models"):
            async with session.get(process.url + path, headers=shown_by("bob")) as response:
                told.append(await response.text())
        process.signal(signal.SIGTERM)
        assert await process.ended() == 0
    written = process.written.decode()
    assert written.count('"event":"request"') >= 6
    assert "canary" not in written
    secrets = [
        key,
        *KEYS.values(),
        "canary-seal",
        "canary-header",
        "canary-quoted",
        "canary-wrong",
        "canary-page",
    ]
    for answered in told:
        assert not re.search("|".join(secrets), answered)
