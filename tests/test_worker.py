"""One worker as its supervisor starts it: orders in, an address out, and an end for three reasons."""

import asyncio
import fcntl
import os
import signal
import socket
import sys
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from proxy.settings.root import Settings
from proxy.shell.ops.worker_questions import WorkerSlot
from proxy.worker import BEATS, COMMAND, Orders

ROOT = Path(__file__).parents[1]
PROMPTLY = 20.0


@asynccontextmanager
async def worker(
    folder: Path, port: int = 0, stdout: int = asyncio.subprocess.PIPE, **server: Any
) -> AsyncIterator[asyncio.subprocess.Process]:
    settings = Settings.model_validate(
        {
            "server": {"port": port, "workers": 2} | server,
            "backend": {"url": "http://127.0.0.1:9", "key": "sk-secret"},
        }
    )
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=stdout,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(Orders(settings, WorkerSlot(1, 2, folder)).packed())
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def url_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(PROMPTLY):
        return (await process.stdout.readline()).decode().strip()


async def ended(process: asyncio.subprocess.Process) -> tuple[int | None, str]:
    assert process.stderr is not None
    async with asyncio.timeout(PROMPTLY):
        said = await process.stderr.read()
        return await process.wait(), said.decode()


async def test_it_says_where_it_listens_and_serves_there(tmp_path: Path) -> None:
    async with worker(tmp_path) as process, aiohttp.ClientSession() as session:
        url = await url_of(process)
        async with session.get(f"{url}/readyz") as response:
            assert response.status == 200
        async with session.get(f"{url}/metrics") as response:
            told = await response.text()
    assert 'responses_proxy_worker_up{worker="0"} 0.0' in told
    assert 'responses_proxy_worker_up{worker="1"} 1.0' in told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_ends_when_it_is_asked(tmp_path: Path, number: signal.Signals) -> None:
    """F74."""
    async with worker(tmp_path) as process:
        await url_of(process)
        process.send_signal(number)
        assert await ended(process) == (0, "")


async def test_it_ends_when_its_supervisor_is_gone_and_tidies_up_after_it(tmp_path: Path) -> None:
    folder = tmp_path / "doors"
    folder.mkdir()
    async with worker(folder) as process:
        await url_of(process)
        assert process.stdin is not None
        process.stdin.close()
        assert await ended(process) == (0, "")
    assert not folder.exists()


async def test_f79_it_shows_that_its_loop_turns(tmp_path: Path) -> None:
    async with worker(tmp_path, stuck_seconds=0.5) as process:
        await url_of(process)
        assert process.stdout is not None
        async with asyncio.timeout(PROMPTLY):
            assert await process.stdout.readexactly(2 * BEATS) == b"\n" * 2 * BEATS


@pytest.mark.parametrize("gone", [False, True])
async def test_f79_but_does_not_wait_for_anybody_to_look(tmp_path: Path, gone: bool) -> None:
    """A supervisor that hangs, or dies while streams are open, takes nobody along."""
    theirs, ours = os.pipe()
    size = fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, 4096)
    async with (
        worker(tmp_path, stdout=ours, stuck_seconds=0.001) as process,
        aiohttp.ClientSession() as session,
    ):
        os.close(ours)
        url = await asyncio.to_thread(_line, theirs)
        if gone:
            os.close(theirs)
        for _ in range(20 if gone else 2 * size):
            async with session.get(f"{url}/readyz") as response:
                assert response.status == 200
            if not gone and _waiting(theirs) == size:
                break
        async with asyncio.timeout(PROMPTLY), session.get(f"{url}/readyz") as response:
            assert response.status == 200
        process.terminate()
        assert await ended(process) == (0, "")
    if not gone:
        os.close(theirs)


def _line(pipe: int) -> str:
    said = b""
    while not said.endswith(b"\n"):
        said += os.read(pipe, 1)
    return said.decode().strip()


def _waiting(pipe: int) -> int:
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


async def test_an_address_that_is_not_shared_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with worker(tmp_path, port) as process:
            assert await url_of(process) == ""
            assert await ended(process) == (
                1,
                f"Cannot listen on 127.0.0.1:{port}: Address already in use. "
                "Choose another port: --port, server.port.\n",
            )
