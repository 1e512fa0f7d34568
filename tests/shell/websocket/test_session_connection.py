"""The connection below the turns: pings, clients that leave, limits, and an end after an hour."""

import asyncio
import gc

import aiohttp
import pytest
from aiohttp import WSCloseCode, WSMsgType, web

from proxy.shell.websocket.session import SocketSession
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import (
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    text,
)
from tests.support.weather import CALL, WEATHER
from tests.support.websockets import ENDINGS, Talk, talking, waits

# ── the connection ──


async def test_silence_is_filled_with_pings(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """During a turn and between turns; and what is no event is no message."""
    proxy = await start_proxy(server={"heartbeat_seconds": 0.03})
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    async with talking(proxy.url, autoping=False) as talk:
        assert (await talk.socket.receive(PROMPTLY)).type is WSMsgType.PING
        await talk.ask()
        pings, ended = 0, False
        while not ended:
            message = await talk.socket.receive(PROMPTLY)
            if message.type is WSMsgType.PING:
                pings += 1
                if pings == 3:
                    goes_on.set()
            else:
                ended = message.json()["type"] == "response.completed"


async def test_a_ping_is_answered_while_a_turn_is_under_way(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Some clients hang up after twenty seconds without it."""
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    async with talking(proxy.url, autoping=False) as talk:
        await talk.ask()
        await talk.until("response.output_text.delta")
        await talk.socket.ping(b"there?")
        pong = await talk.socket.receive(PROMPTLY)
        assert (pong.type, bytes(pong.data)) == (WSMsgType.PONG, b"there?")
        goes_on.set()


@pytest.mark.parametrize("politely", [True, False])
async def test_a_client_that_leaves_takes_the_backends_work_along(
    backend: ScriptedBackend, proxy: Proxy, politely: bool
) -> None:
    gone = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await line.closed()
        gone.set()

    backend.plays(plays)
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.output_text.delta")
        if politely:
            await talk.socket.close()
        else:
            talk.socket._conn.transport.abort()
        async with asyncio.timeout(1):
            await gone.wait()
        assert (await proxy.log.wait_for("request"))["status"] == 499
        await proxy.log.wait_for("websocket")
    assert proxy.log.named("unhandled_exception") == []


async def test_a_client_that_leaves_pays_for_what_it_has_seen(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """P08, P10: the next turn, on another socket, is told so."""

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, CALL)
        await line.closed()

    backend.plays(plays)
    proxy = await start_proxy(limits={"tool_calls_per_minute": 1, "requests_per_minute": 1})
    async with talking(proxy.url) as talk:
        await talk.ask(tools=[WEATHER])
        await talk.until("response.output_item.added")
    assert (await proxy.log.wait_for("request"))["calls"] == 1
    async with talking(proxy.url) as talk:
        await talk.ask()
        (refusal,) = await talk.heard()
    assert refusal["status"] == 429
    assert refusal["headers"]["x-ratelimit-remaining-tool-calls"] == "0"
    assert 55 <= int(refusal["headers"]["Retry-After"]) <= 60


async def test_a_client_that_is_found_gone_when_it_is_written_to(
    proxy: Proxy, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is no bug of ours."""

    async def closing(*_: object) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    monkeypatch.setattr(web.WebSocketResponse, "send_frame", closing)
    await talk.ask()
    assert (await proxy.log.wait_for("request"))["status"] == 499
    await talk.socket.close()
    await proxy.log.wait_for("websocket")
    assert proxy.log.named("unhandled_exception") == []


async def test_a_connection_that_is_over_is_forgotten(proxy: Proxy) -> None:
    """With the conversation that it remembered, and not only when its hour is over."""
    async with talking(proxy.url) as talk:
        await talk.turn()
    await proxy.log.wait_for("websocket")
    for _ in range(10):
        await asyncio.sleep(0)
    gc.collect()
    assert [held for held in gc.get_objects() if type(held) is SocketSession] == []


async def test_too_many_messages_end_the_connection(
    backend: ScriptedBackend, proxy: Proxy, talk: Talk
) -> None:
    """Each may be as large as a body: they cannot wait without a bound."""
    backend.plays(waits(asyncio.Event()))
    await talk.ask()
    await talk.until("response.output_text.delta")
    for _ in range(33):
        await talk.ask()
    assert await talk.closed() == WSCloseCode.POLICY_VIOLATION
    assert (await proxy.log.wait_for("websocket"))["turns"] == 1


async def test_its_last_turn_does_not_take_the_answer_to_the_close_away(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    async with talking(proxy.url, autoclose=False) as talk:
        for _ in range(40):
            await talk.ask()
        while (message := await talk.socket.receive(timeout=PROMPTLY)).type is WSMsgType.TEXT:
            pass
        assert message.data == WSCloseCode.POLICY_VIOLATION
        goes_on.set()
        assert (await proxy.log.wait_for("request"))["status"] == 499
        await talk.socket.close(code=4321)
        assert (await proxy.log.wait_for("websocket"))["code"] == 4321


async def test_so_do_too_many_bytes(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    proxy = await start_proxy(server={"body_limit_mib": 1})
    backend.plays(waits(asyncio.Event()))
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.output_text.delta")
        for _ in range(2):
            await talk.ask(input="x" * 600_000)
        assert await talk.closed() == WSCloseCode.POLICY_VIOLATION


async def test_what_was_answered_does_not_wait_any_more(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(server={"body_limit_mib": 1})
    async with talking(proxy.url) as talk:
        for _ in range(2):
            assert (await talk.turn(input="x" * 600_000))["status"] == "completed"
        goes_on = asyncio.Event()
        backend.plays(waits(goes_on))
        for _ in range(3):
            await talk.ask()
        asyncio.get_running_loop().call_later(0.05, goes_on.set)
        for _ in range(3):
            assert (await talk.until(*ENDINGS))[-1]["type"] == "response.completed"


async def test_a_message_over_the_limit_ends_the_connection(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(server={"body_limit_mib": 1})
    async with talking(proxy.url, compress=15) as talk:
        await talk.ask(input="x" * 900_000)
        assert (await talk.heard())[-1]["type"] == "response.completed"
        await talk.ask(input="x" * 1_100_000)
        assert await talk.closed() == WSCloseCode.MESSAGE_TOO_BIG


async def test_after_an_hour_it_is_over(start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.shell.websocket.session.LIFETIME_SECONDS", 0.1)
    proxy = await start_proxy()
    async with talking(proxy.url) as talk:
        assert (await talk.turn())["status"] == "completed"
        last = await talk.next()
        assert (last["type"], last["error"]["code"]) == ("error", "websocket_connection_limit_reached")
        assert await talk.closed() == WSCloseCode.GOING_AWAY


async def test_but_not_in_the_middle_of_a_turn(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.websocket.session.LIFETIME_SECONDS", 0.05)
    proxy = await start_proxy()
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.output_text.delta")
        asyncio.get_running_loop().call_later(0.1, goes_on.set)
        assert (await talk.until(*ENDINGS))[-1]["type"] == "response.completed"
        assert (await talk.next())["error"]["code"] == "websocket_connection_limit_reached"
