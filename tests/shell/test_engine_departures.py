"""A client that leaves takes the backend's work along, and pays for what it has seen."""

import asyncio
from typing import Any

import aiohttp
import pytest

from proxy.shell.http.stream import HttpStream
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import (
    HEAD,
    Line,
    ScriptedBackend,
    delta,
    reply,
    text,
    usage,
)
from tests.support.weather import CALL, WEATHER

# ── clients that leave ──


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("said", [b"", HEAD, HEAD + text("Hel")], ids=["nothing", "a head", "a beginning"])
async def test_a_client_that_leaves_takes_the_backends_work_along(
    backend: ScriptedBackend, proxy: Proxy, stream: bool, said: bytes
) -> None:
    """E5, F65, F66: whatever had been said, streaming or not."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(said)
        asked.set()
        await line.closed()
        gone.set()

    backend.plays(plays)
    body = {"model": "m", "input": "Hi", "stream": stream}

    async def ask() -> None:
        async with proxy.post(body) as response:
            await response.read()

    asking = asyncio.get_running_loop().create_task(ask())
    await asked.wait()
    asking.cancel()
    async with asyncio.timeout(1):
        await gone.wait()
    assert (await proxy.log.wait_for("request"))["status"] == 499


TOOL = {"type": "function", "function": WEATHER | {"description": "The weather."}}
ASKED_IN_A_CHAT = {"messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL]}
LATER_CALL = {"index": 1, "id": "call_2", "function": {"name": "get_weather", "arguments": "{"}}


@pytest.mark.parametrize(
    ("path", "body", "seen", "calls"),
    [
        ("/v1/responses", {"input": "Hi", "tools": [WEATHER]}, b'"delta":"{"', 2),
        ("/v1/chat/completions", ASKED_IN_A_CHAT, b'"arguments":"{"', 2),
        (
            "/native/v1/chat/completions",
            ASKED_IN_A_CHAT,
            b'"arguments":{}',
            1,
        ),  # a call is told when it is whole
    ],
)
async def test_a_client_that_leaves_pays_for_what_it_has_seen(
    backend: ScriptedBackend,
    start_proxy: StartProxy,
    path: str,
    body: dict[str, Any],
    seen: bytes,
    calls: int,
) -> None:
    """P08, P10: else whoever hangs up at the right time has everything for nothing."""
    gone = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, CALL, usage(7, 2), delta(tool_calls=[LATER_CALL]))
        await line.closed()
        gone.set()

    backend.plays(plays)
    proxy = await start_proxy(limits={"tool_calls_per_minute": calls}, metrics={"open": True})
    asked = {"model": "m", "stream": True, **body}
    async with proxy.session.post(proxy.url + path, json=asked) as response:
        await response.content.readuntil(seen)
    async with asyncio.timeout(1):
        await gone.wait()
    line = await proxy.log.wait_for("request")
    assert (line["status"], line["calls"], line["input_tokens"], line["output_tokens"]) == (499, calls, 7, 2)
    assert "ending" not in line
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        counted = await response.text()
    assert f'tenant_tool_calls_total{{tenant="anybody",worker="0"}} {calls}.0' in counted
    backend.answers(reply(text("Hello")))
    async with proxy.session.post(proxy.url + path, json=asked) as response:
        assert response.headers["x-ratelimit-remaining-tool-calls"] == "0"


async def test_a_client_that_is_found_gone_when_it_is_written_to(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transport may know before anybody was told: that is no bug of ours, nor the backend's failure."""

    async def closing(*_: object) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    monkeypatch.setattr(HttpStream, "_send", closing)
    with pytest.raises(aiohttp.ClientError):
        await proxy.stream()
    assert proxy.log.request["status"] == 499
    assert proxy.log.named("unhandled_exception") == []


async def test_a_client_that_is_found_gone_in_the_middle(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def closing(*_: object) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    gone = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await line.closed()
        gone.set()

    monkeypatch.setattr(HttpStream, "_send", closing)
    backend.plays(plays)
    with pytest.raises(aiohttp.ClientError):
        await proxy.stream()
    async with asyncio.timeout(1):
        await gone.wait()
    assert proxy.log.request["status"] == 499
