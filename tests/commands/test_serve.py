"""`serve` as a process of its own, as people meet it."""

import asyncio
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path

import aiohttp
import orjson
import pytest

from proxy.commands.serve import quieted
from proxy.core import jsontext
from proxy.settings.root import Settings
from proxy.shell.stores.sqlite.schema import is_fixed
from tests.support.processes import free_port

ROOT = Path(__file__).parents[2]
PROMPTLY = 20.0


class Running:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said = ""

    async def url(self) -> str:
        """The address, once it is announced together with an example."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PROMPTLY):
            while not self.said.endswith("}'\n"):
                line = await self.process.stdout.readline()
                assert line, "it ended"
                self.said += line.decode()
        found = re.search(r"curl -N (http://\S+)/v1/responses", self.said)
        assert found is not None
        return found[1]

    async def end(self) -> tuple[int, str]:
        async with asyncio.timeout(PROMPTLY):
            _, errors = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, errors.decode()


@asynccontextmanager
async def serving(*options: str) -> AsyncIterator[Running]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proxy", "serve", "--port", "0", *options,
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def test_without_a_backend_a_demo_answers_the_example_that_was_printed() -> None:
    async with serving() as running:
        await running.url()
        assert "demo model" in running.said
        example = running.said[running.said.index("curl ") :]
        told = await asyncio.to_thread(
            subprocess.run, ["sh", "-c", example], capture_output=True, timeout=PROMPTLY, check=True
        )
        assert b"event: response.function_call_arguments.delta" in told.stdout
        assert b'"city' in told.stdout
        assert told.stdout.endswith(b"data: [DONE]\n\n")
        running.process.terminate()
        code, errors = await running.end()
    assert code == 0
    assert [line["event"] for line in map(orjson.loads, errors.splitlines())] == ["store_chosen", "request"]


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_the_log_names_the_sqlite_and_what_it_lacks_once(tmp_path: Path, workers: str) -> None:
    """U13: however many workers there are."""
    options = ("--store", f"sqlite:{tmp_path}", "--backend", "http://127.0.0.1:9", "--workers", workers)
    async with serving(*options) as running:
        await running.url()
        running.process.terminate()
        _, errors = await running.end()
    (line,) = [line for line in map(orjson.loads, errors.splitlines()) if line["event"] == "store_chosen"]
    assert (line["level"], line["engine"]) == ("info", f"SQLite {sqlite3.sqlite_version}")
    assert ("This SQLite lacks a correction" in line.get("caution", "")) is not is_fixed()


async def test_the_demo_is_said_to_run_no_tools_of_its_own() -> None:
    """The response listed a search that nobody had made, and was silent about the choice."""
    search = {"type": "web_search"}
    asked = {"model": "demo", "input": "Cats", "tools": [search], "tool_choice": search}
    async with serving() as running, aiohttp.ClientSession() as session:
        url = await running.url()
        async with session.post(f"{url}/v1/responses", json=asked) as response:
            told = await response.json()
    assert (told["status"], told["tools"], told["tool_choice"]) == ("completed", [], "auto")
    assert "tool_choice" in told["_proxy"]["warnings"][0]


async def test_it_says_where_its_requests_are_shown() -> None:
    async with serving() as running, aiohttp.ClientSession() as session:
        url = await running.url()
        assert running.process.stdout is not None
        told = await running.process.stdout.readuntil(b"/inspector\n")
        assert told.decode() == f"\nWhat becomes of each request: {url}/inspector\n"
        async with session.get(f"{url}/inspector") as response:
            assert response.status == 200


async def test_the_example_says_where_the_key_goes_if_one_is_wanted(tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text(f'[tenants.one]\nkeys = ["{sha256(b"key").hexdigest()}"]\n')
    async with serving("--config", str(config)) as running:
        await running.url()
        example = running.said[running.said.index("curl ") :].replace("YOUR-KEY", "key")
        told = await asyncio.to_thread(
            subprocess.run, ["sh", "-c", example], capture_output=True, timeout=PROMPTLY, check=True
        )
        assert told.stdout.endswith(b"data: [DONE]\n\n")


async def test_a_backend_that_is_not_there_yet_is_no_reason_not_to_start() -> None:
    async with (
        serving("--backend", "http://127.0.0.1:9?region=eu") as running,
        aiohttp.ClientSession() as session,
    ):
        url = await running.url()
        assert "in front of http://127.0.0.1:9. " in running.said
        async with session.get(f"{url}/readyz") as response:
            assert response.status == 200
        async with session.post(f"{url}/v1/responses", json={"model": "m", "input": "Hi"}) as response:
            assert response.status == 502


async def test_an_address_in_use_is_one_line_and_exit_code_1() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with serving("--port", str(port), "--backend", "http://127.0.0.1:9") as running:
            code, errors = await running.end()
    assert code == 1
    assert (
        errors
        == f"Cannot listen on 127.0.0.1:{port}: Address already in use. Choose another port: --port, server.port.\n"
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_it_stops_when_it_is_asked(number: signal.Signals) -> None:
    async with serving() as running:
        await running.url()
        running.process.send_signal(number)
        code, errors = await running.end()
        assert (code, jsontext.loads(errors)["event"]) == (0, "store_chosen")


@pytest.mark.parametrize("workers", [1, 2])
async def test_it_goes_on_when_nobody_reads_what_it_says(workers: int) -> None:
    """As behind `| head -1`: nobody has asked it to stop."""
    port = free_port()
    reading, writing = os.pipe()
    os.close(reading)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proxy", "serve", "--port", str(port), "--workers", str(workers),
        cwd=ROOT, stdout=writing, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    os.close(writing)
    try:
        async with asyncio.timeout(PROMPTLY), aiohttp.ClientSession() as session:
            await until_ready(session, port)
            process.terminate()
            await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    assert process.returncode == 0


async def until_ready(session: aiohttp.ClientSession, port: int) -> None:
    while True:
        with suppress(aiohttp.ClientConnectorError):
            async with session.get(f"http://127.0.0.1:{port}/readyz") as response:
                assert response.status == 200
                return


@pytest.mark.parametrize(
    ("level", "quieter"),
    [("debug", "warning"), ("info", "warning"), ("warning", "warning"), ("error", "error")],
)
def test_quiet_makes_no_line_louder(level: str, quieter: str) -> None:
    settings = Settings.model_validate({"logs": {"level": level}})
    assert quieted(settings).logs.level == quieter
    assert quieted(settings).logs.format == settings.logs.format
