"""A socket while the proxy stops: the turn under way may end, and no other begins."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from aiohttp import WSCloseCode, web

from proxy import app
from proxy.settings.root import Settings
from proxy.shell.ops.logs import make_log
from tests.support.proxies import LogLines
from tests.support.sockets import (
    PROMPTLY,
    ScriptedBackend,
)
from tests.support.websockets import ENDINGS, Talk, talking, waits

# ── stopping ──


Stop = Callable[[], asyncio.Task[None]]


@asynccontextmanager
async def stoppable(
    backend: ScriptedBackend, grace: float, **options: Any
) -> AsyncIterator[tuple[Talk, Stop, LogLines]]:
    settings = Settings.model_validate(
        {
            "server": {"port": 0, "grace_seconds": grace},
            "backend": {"url": backend.url, "profile": "default"},
        }
    )
    log, stack = LogLines(), AsyncExitStack()
    url = await stack.enter_async_context(app.running(settings, make_log("info", "json", stream=log.stream)))
    async with talking(url, **options) as talk:
        yield talk, lambda: asyncio.get_running_loop().create_task(stack.aclose()), log


async def test_a_turn_may_end_while_the_proxy_stops_and_no_other_begins(backend: ScriptedBackend) -> None:
    """F74."""
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    async with stoppable(backend, grace=5) as (talk, stop, log):
        for _ in range(2):
            await talk.ask()
        await talk.until("response.output_text.delta")
        stopped = stop()
        await asyncio.sleep(0)
        goes_on.set()
        assert (await talk.until(*ENDINGS))[-1]["type"] == "response.completed"
        assert await talk.closed() == WSCloseCode.GOING_AWAY
        await stopped
    assert len(backend.received) == 1
    assert log.request["status"] == 200


async def test_one_that_does_not_end_in_time_is_told_why_it_ends(backend: ScriptedBackend) -> None:
    backend.plays(waits(asyncio.Event()))
    async with stoppable(backend, grace=0) as (talk, stop, _):
        await talk.ask()
        await talk.until("response.output_text.delta")
        stopped = stop()
        failed = (await talk.until(*ENDINGS))[-1]
        assert (failed["type"], failed["response"]["error"]["code"]) == (
            "response.failed",
            "server_shutting_down",
        )
        assert await talk.closed() == WSCloseCode.GOING_AWAY
        await stopped


async def test_an_ending_leaves_nothing_out_that_was_still_to_be_sent(
    backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = asyncio.Event()
    send_frame = web.WebSocketResponse.send_frame

    async def stick(self: Any, message: bytes, *more: Any) -> None:
        await send_frame(self, message, *more)
        if b'"response.created"' in message:
            stuck.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(web.WebSocketResponse, "send_frame", stick)
    backend.plays(waits(asyncio.Event()))
    async with stoppable(backend, grace=0) as (talk, stop, _):
        await talk.ask()
        await stuck.wait()
        stopped = stop()
        assert (await talk.heard())[-1]["type"] == "response.failed"
        assert await talk.closed() == WSCloseCode.GOING_AWAY
        await stopped


async def test_a_connection_without_a_turn_is_closed_at_once(backend: ScriptedBackend) -> None:
    async with stoppable(backend, grace=5) as (talk, stop, _):
        stopped = stop()
        assert await talk.closed() == WSCloseCode.GOING_AWAY
        async with asyncio.timeout(1):
            await stopped


async def test_a_client_may_answer_the_close_with_its_own(backend: ScriptedBackend) -> None:
    """What it sends meanwhile must not meet a closed port, which would take the close away from it."""
    async with stoppable(backend, grace=0, autoclose=False) as (talk, stop, log):
        stopped = stop()
        assert (await talk.socket.receive(timeout=PROMPTLY)).data == WSCloseCode.GOING_AWAY
        await talk.ask()
        await talk.socket.close(code=4321)
        await stopped
    assert log.named("websocket")[0]["code"] == 4321


async def test_one_that_does_not_is_not_waited_for(
    backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.websocket.session.CLOSE_ANSWER_SECONDS", 0.05)
    async with stoppable(backend, grace=0, autoclose=False) as (_, stop, log):
        async with asyncio.timeout(1):
            await stop()
    assert log.named("websocket")[0]["code"] == WSCloseCode.ABNORMAL_CLOSURE
