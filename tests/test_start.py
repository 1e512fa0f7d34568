"""What is imported before the proxy listens, and what waits until it is needed. A real process tells, and no clock."""

import re
from importlib.util import find_spec
from pathlib import Path

import aiohttp
import pytest

from tests.support.programs import Process, served
from tests.support.sockets import delta, reply, scripted

IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)

WAITS = {
    "aiohttp.web": "its applications, its router and its files serve nobody",
    "asyncpg": "the store is no database",
    "cryptography": "nothing is sealed",
    "google.protobuf": "there are no traces",
    "opentelemetry": "there are no traces",
    "proxy.commands.codex": "is another command",
    "proxy.commands.doctor": "is another command",
    "proxy.commands.replay": "is another command",
    "proxy.commands.store": "is another command",
    "proxy.core.dialects.anthropic": "the backend speaks Chat",
    "proxy.core.dialects.google": "the backend speaks Chat",
    "proxy.core.dialects.responses": "the backend speaks Chat",
    "proxy.core.examination": "the doctor examines",
    "proxy.core.inspected.findings": "nobody looks",
    "proxy.core.recorded": "nothing is recorded",
    "proxy.core.surfaces.openapi.schemas": "nobody asks for the description",
    "proxy.demo": "there is a backend",
    "proxy.shell.recorder": "nothing is recorded",
    "proxy.shell.stores.memory": "the store is a file",
    "proxy.shell.stores.postgres.connections": "the store is no database",
    "proxy.shell.stores.redis.live": "there is no Redis",
    "proxy.shell.tracing": "there are no traces",
    "redis": "there is no Redis",
    "structlog": "nobody reads along",
}
"""What a plain `serve` does without, and why."""

TOOL = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {"at": {}}}}
ASKED = {"model": "m", "input": "Look.", "stream": True, "tools": [TOOL]}
CALL = {"index": 0, "id": "c", "function": {"name": "look", "arguments": '{"at": 1}'}}


def imported(process: Process) -> set[str]:
    return set(IMPORTED.findall(process.written.decode()))


async def test_a_start_imports_what_serves_and_a_request_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    async with (
        scripted() as backend,
        served(backend, tmp_path, store={"url": f"sqlite:{tmp_path / 'state'}"}) as process,
    ):
        before = imported(process)
        backend.answers(reply(delta(tool_calls=[CALL])))
        for _ in range(2):
            async with (
                aiohttp.ClientSession() as client,
                client.post(f"{process.url}/v1/responses", json=ASKED) as answer,
            ):
                assert "response.completed" in await answer.text()
    assert "proxy.app" in before
    assert not {name: why for name, why in WAITS.items() if name in before}
    assert not imported(process) - before, "paid by whoever asks first"


def test_what_waits_is_there() -> None:
    assert all(map(find_spec, WAITS))
