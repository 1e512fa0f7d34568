"""Codex over a WebSocket: one connection for a whole session, and in each message only what is new."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proxy import demo
from proxy.core import jsontext
from tests.codex.backend import Model, Request, cut, shell
from tests.codex.harness import Codex
from tests.support.processes import serving
from tests.support.programs import PROXY
from tests.support.sockets import PROMPTLY, Line, answer, reply, text

QUICK_HEARTBEAT = """
[server]
heartbeat_seconds = 0.5
patience_seconds = 0.5
"""
SILENCE_SECONDS = 3
OVER_WEBSOCKET = "supports_websockets = true"
DONE = reply(text("Done."))


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    return tmp_path / "proxy.log"


@pytest.fixture
def settings() -> str:
    return ""


@pytest.fixture
def proxy(backend: Model, tmp_path: Path, lines: Path, settings: str) -> Iterator[str]:
    """One whose log can be read: nothing else tells which way a request has come."""
    config = tmp_path / "proxy.toml"
    config.write_text(PROXY.format(url=backend.url, profile=demo.PROFILE) + settings, encoding="utf-8")
    with serving("-m", "proxy", "serve", "--port", "0", "--config", config, lines=lines) as url:
        yield url


def logged(lines: Path, event: str, times: int = 1) -> list[dict[str, Any]]:
    """All of this kind, once there are so many: Codex may have ended before the proxy notices that it is gone."""
    deadline = time.monotonic() + PROMPTLY
    while True:
        # What stands behind the last end of a line is still being written.
        said = map(jsontext.loads, lines.read_text(encoding="utf-8").split("\n")[:-1])
        found = [line for line in said if line["event"] == event]
        if len(found) >= times:
            return found
        assert time.monotonic() < deadline, f"{len(found)} of {times} were logged"
        time.sleep(0.01)  # noqa: TID251 - nothing tells that a file of another process has grown


def test_a_session(codex: Codex, model: Model, lines: Path) -> None:
    """Codex warms up, then sends only what is new; the model is told everything all the same."""
    codex.configure(provider=OVER_WEBSOCKET)
    model.plays(shell("echo one > one.txt"), shell("echo two > two.txt"), DONE)
    run = codex.run("Make two files")
    assert (run.said, run.failure, run.retries) == (["Done."], None, 0)
    assert (codex.file("one.txt"), codex.file("two.txt")) == ("one\n", "two\n")
    roles = [[message["role"] for message in request["messages"]] for request in model.requests]
    assert [row.count("tool") for row in roles] == [0, 1, 2]
    assert [row.count("developer") for row in roles] == [1, 1, 1]
    [connection] = logged(lines, "websocket")
    requests = logged(lines, "request", 4)
    assert connection["turns"] == len(requests) == 4
    ids = [line["response_id"] for line in requests]
    assert [line.get("continues") for line in requests] == [None, *ids[:-1]]


def test_a_reply_that_is_cut_off_is_asked_for_again(codex: Codex, model: Model, lines: Path) -> None:
    """On a new connection, which knows nothing: so Codex tells everything itself."""
    codex.configure(provider=OVER_WEBSOCKET)
    model.plays(shell("echo one > one.txt"), cut, DONE)
    run = codex.run("Make a file")
    assert (run.said[-1], run.failure) == ("Done.", None)
    assert len(model.requests) == 3
    assert len(logged(lines, "websocket", 2)) == 2
    assert [message["role"] for message in model.requests[2]["messages"]].count("tool") == 1


def test_what_no_retry_can_mend_is_said_once(codex: Codex, model: Model, lines: Path) -> None:
    codex.configure(provider=OVER_WEBSOCKET)
    model.plays(answer(400, {"error": {"message": "top_k is not welcome here"}}))
    run = codex.run("Hello")
    assert "top_k is not welcome here" in str(run.failure)
    assert len(model.requests) == 1
    assert [line["turns"] for line in logged(lines, "websocket")] == [2]


@pytest.mark.parametrize("settings", [QUICK_HEARTBEAT])
def test_a_model_may_be_silent_longer_than_codex_waits(codex: Codex, model: Model, lines: Path) -> None:
    """Pings do not count as events."""

    async def ponder(line: Line, request: Request) -> None:
        loop = asyncio.get_running_loop()
        enough = loop.create_future()
        loop.call_later(SILENCE_SECONDS, enough.set_result, None)
        await enough
        line.send(reply(text("Done.")))

    codex.configure(provider=f"{OVER_WEBSOCKET}\nstream_idle_timeout_ms = 1500\nstream_max_retries = 1")
    model.plays(ponder)
    run = codex.run("Hello")
    assert (run.said, run.failure) == (["Done."], None)
    assert len(model.requests) == len(logged(lines, "websocket")) == 1


@pytest.mark.parametrize("settings", ["[server]\nwebsocket = false\n"])
def test_where_it_is_switched_off_codex_uses_http(codex: Codex, model: Model, lines: Path) -> None:
    codex.configure(provider=OVER_WEBSOCKET)
    model.plays(DONE)
    run = codex.run("Hello")
    assert (run.said, run.failure, run.retries) == (["Done."], None, 0)
    assert logged(lines, "websocket", 0) == []
    assert len(logged(lines, "request")) == 1
