"""The Responses API on a WebSocket, over real sockets: turns, what they continue, and how a connection ends."""

import asyncio

import orjson
import pytest

from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import (
    ScriptedBackend,
    reply,
    text,
)
from tests.support.weather import CALL, WEATHER
from tests.support.websockets import ENDINGS, Talk, asked, refused, talking, waits

# ── one turn ──


@pytest.mark.parametrize("path", ["/v1/responses", "/responses", "/v1/responses/"])
async def test_a_turn_is_the_stream_with_a_message_for_each_event(proxy: Proxy, path: str) -> None:
    async with talking(proxy.url, path) as talk:
        await talk.ask()
        found = await talk.heard()
    assert [said["type"] for said in found] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    response = found[-1]["response"]
    assert response["output"][0]["content"][0]["text"] == "Hello"
    assert response["usage"]["total_tokens"] == 8


async def test_no_extended_event_comes_near_a_socket(backend: ScriptedBackend, proxy: Proxy) -> None:
    """They would be counted into the next turn, so not even the header brings them."""
    backend.answers(reply(CALL))
    async with talking(proxy.url, headers={"x-proxy-events": "extended"}) as talk:
        for _ in range(2):
            await talk.ask(tools=[WEATHER])
            kinds = {said["type"] for said in await talk.heard()}
            assert "response.function_call_arguments.done" in kinds
            assert not {kind for kind in kinds if "output_tool_call" in kind or kind == "response.done"}


async def test_members_without_meaning_here_are_ignored(talk: Talk) -> None:
    aside = {"stream": False, "stream_options": {"include_obfuscation": True}}
    assert (await talk.turn(**aside))["status"] == "completed"


async def test_turns_are_numbered_from_0_and_logged_one_by_one(proxy: Proxy, talk: Talk) -> None:
    first, second = await talk.turn(), await talk.turn(store=False)
    assert first["id"] != second["id"]
    one, two = proxy.log.named("request")
    connection = one["request_id"].removesuffix(".1")
    assert two["request_id"] == f"{connection}.2"
    assert (one["status"], one["ending"], one["response_id"]) == (200, "completed", first["id"])
    assert one["bytes_out"] > 1000
    await talk.socket.close()
    closed = await proxy.log.wait_for("websocket")
    assert (closed["request_id"], closed["turns"], closed["code"]) == (connection, 2, 1000)


async def test_messages_that_come_early_wait_for_their_turn(backend: ScriptedBackend, talk: Talk) -> None:
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    for number in range(3):
        await talk.ask(input=f"turn {number}")
    await talk.until("response.output_text.delta")
    assert len(backend.received) == 1
    goes_on.set()
    for _ in range(3):
        found = await talk.until(*ENDINGS)
        assert found[-1]["type"] == "response.completed"
    assert asked(backend) == [[("user", f"turn {number}")] for number in range(3)]


async def test_attack_04_who_offers_to_pack_is_served_without(proxy: Proxy) -> None:
    """Codex offers it: messages of a thousandth of what they unpack to, and unpacked before anybody can look."""
    async with talking(proxy.url, compress=15) as talk:
        assert talk.socket.compress == 0
        for _ in range(2):
            assert (await talk.turn(input="Hello " * 10_000))["status"] == "completed"


# ── the handshake ──


async def test_the_handshake_carries_the_requests_id_and_no_version(proxy: Proxy) -> None:
    async with talking(proxy.url, headers={"x-client-request-id": "thread-1"}) as talk:
        headers = talk.socket._response.headers
        assert (headers["X-Request-Id"], headers["Server"]) == ("thread-1", "responses-proxy")
        await talk.turn()
    assert proxy.log.request["request_id"] == "thread-1.1"


async def test_it_can_be_switched_off(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(server={"websocket": False})
    assert await refused(proxy.session.ws_connect(f"{proxy.url}/v1/responses")) == 426


async def test_no_turn_is_logged_with_its_content(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """S06."""
    proxy = await start_proxy(logs={"level": "debug"})
    backend.answers(reply(text("canary-answer")))
    async with talking(proxy.url) as talk:
        await talk.turn(input="canary-prompt")
        await talk.socket.send_bytes(orjson.dumps("canary-bytes"))
        await talk.next()
    assert len(proxy.log.named("request")) == 2
    assert "canary-" not in proxy.log.text
