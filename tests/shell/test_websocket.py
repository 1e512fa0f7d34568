"""The Responses API on a WebSocket, over real sockets: turns, what they continue, and how a connection ends."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import WSCloseCode, WSMsgType, web

from proxy import app
from proxy.core.stream.pipeline import Pipeline
from proxy.settings import Settings
from proxy.shell.ops.logs import make_log
from proxy.shell.websocket import SocketSession
from tests.support.proxies import LogLines, Proxy, StartProxy
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    PROMPTLY,
    Line,
    Script,
    ScriptedBackend,
    answer,
    delta,
    event,
    finish,
    reply,
    text,
)

WEATHER = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}}
CALL = delta(
    tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "get_weather", "arguments": "{}"}}]
)
ENDINGS = {"response.completed", "response.failed", "response.incomplete", "error"}


class Talk:
    """A client that takes the first ending for the end of its turn, as the published ones do."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def ask(self, **body: Any) -> None:
        await self.socket.send_json({"type": "response.create", "model": "m", "input": "Hi"} | body)

    async def next(self) -> dict[str, Any]:
        said: dict[str, Any] = await self.socket.receive_json(timeout=PROMPTLY)
        return said

    async def until(self, *kinds: str) -> list[dict[str, Any]]:
        found = [await self.next()]
        while found[-1]["type"] not in kinds:
            found.append(await self.next())
        return found

    async def heard(self) -> list[dict[str, Any]]:
        """One turn."""
        found = await self.until(*ENDINGS)
        if found[-1]["type"] != "error":
            assert [said["sequence_number"] for said in found] == list(range(len(found)))
        return found

    async def turn(self, **body: Any) -> dict[str, Any]:
        """What a turn came to: the final response, or the refusal."""
        await self.ask(**body)
        last = (await self.heard())[-1]
        return last.get("response", last)

    async def refused(self, **body: Any) -> tuple[int, str]:
        """A turn of which nothing was streamed."""
        await self.ask(**body)
        (refusal,) = await self.heard()
        assert refusal.keys() - {"headers"} == {"type", "status", "error"}
        return refusal["status"], refusal["error"]["code"]

    async def closed(self) -> int | None:
        """Until the server's close, with nothing before it."""
        message = await self.socket.receive(timeout=PROMPTLY)
        assert message.type is WSMsgType.CLOSE, message
        return self.socket.close_code


@asynccontextmanager
async def talking(url: str, path: str = "/v1/responses", **options: Any) -> AsyncIterator[Talk]:
    async with aiohttp.ClientSession() as session, session.ws_connect(url + path, **options) as socket:
        yield Talk(socket)


@pytest.fixture
async def talk(proxy: Proxy) -> AsyncIterator[Talk]:
    async with talking(proxy.url) as talk:
        yield talk


def asked(backend: ScriptedBackend) -> list[list[tuple[str, Any]]]:
    """What the backend was told in each request: who said what."""
    return [
        [(message["role"], message.get("content")) for message in request.json["messages"]]
        for request in backend.received
    ]


def waits(goes_on: asyncio.Event, asked: asyncio.Event | None = None, *then: bytes) -> Script:
    """A backend that begins, and ends when it is told to."""

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        if asked is not None:
            asked.set()
        await goes_on.wait()
        line.send(*(then or (text("lo"), finish(), DONE, END)))

    return plays


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
    aside = {"stream": False, "stream_options": {"include_obfuscation": True}, "background": True}
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


# ── turns that continue ──


async def test_a_turn_continues_the_one_before_it(backend: ScriptedBackend, talk: Talk) -> None:
    """Previous input, previous output, new input; instructions are not carried over; `store` does not matter."""
    backend.answers(reply(text("One")), reply(text("Two")), reply(text("Three")))
    first = await talk.turn(input="1", instructions="Count.", store=False)
    second = await talk.turn(input="2", previous_response_id=first["id"], store=False)
    more = [{"type": "message", "role": "user", "content": "3"}]
    third = await talk.turn(input=more, previous_response_id=second["id"])
    assert third["previous_response_id"] == second["id"]
    assert asked(backend)[0] == [("system", "Count."), ("user", "1")]
    assert asked(backend)[2] == [
        ("user", "1"),
        ("assistant", "One"),
        ("user", "2"),
        ("assistant", "Two"),
        ("user", "3"),
    ]


async def test_a_call_is_answered_by_its_output_alone(backend: ScriptedBackend, talk: Talk) -> None:
    backend.answers(reply(CALL), reply(text("It is sunny.")))
    first = await talk.turn(tools=[WEATHER])
    output = {"type": "function_call_output", "call_id": first["output"][0]["call_id"], "output": "sunny"}
    second = await talk.turn(input=[output], previous_response_id=first["id"], tools=[WEATHER])
    assert second["status"] == "completed"
    _, call, result = backend.received[1].json["messages"]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]
    assert result["content"] == "sunny"


async def test_a_warm_up_answers_nothing_and_can_be_continued(backend: ScriptedBackend, talk: Talk) -> None:
    """As Codex begins: its first message and its tools, before the user has said anything."""
    developer = {"type": "message", "role": "developer", "content": "Be brief."}
    await talk.ask(input=[developer], tools=[WEATHER], generate=False)
    created, *_, completed = await talk.heard()
    assert (created["type"], completed["type"]) == ("response.created", "response.completed")
    response = completed["response"]
    assert (response["id"], response["output"]) == (created["response"]["id"], [])
    assert backend.received == []
    assert (await talk.turn(tools=[WEATHER], previous_response_id=response["id"]))["status"] == "completed"
    assert [said for _, said in asked(backend)[0]] == ["Be brief.", "Hi"]


async def test_what_another_connection_said_is_not_known(proxy: Proxy, talk: Talk) -> None:
    """`websocket-reconnect-store-false-recovery`: a new socket starts anew, and works."""
    first = await talk.turn(store=False)
    async with talking(proxy.url) as other:
        continued = {"previous_response_id": first["id"], "store": False}
        assert await other.refused(**continued) == (400, "previous_response_not_found")
        assert (await other.turn(store=False))["status"] == "completed"


async def test_an_unknown_id_harms_nothing(talk: Talk) -> None:
    """`websocket-previous-response-not-found`."""
    first = await talk.turn()
    assert await talk.refused(previous_response_id="resp_0") == (400, "previous_response_not_found")
    assert (await talk.turn(previous_response_id=first["id"]))["status"] == "completed"


async def test_a_bad_continuation_evicts_what_it_continued(talk: Talk) -> None:
    """`websocket-failed-continuation-evicts-cache`."""
    first = await talk.turn(store=False)
    orphan = {"type": "function_call_output", "call_id": "call_x", "output": "1"}
    status, _ = await talk.refused(input=[orphan], previous_response_id=first["id"], store=False)
    assert status == 400
    assert await talk.refused(previous_response_id=first["id"]) == (400, "previous_response_not_found")


async def test_so_does_one_that_the_backend_fails(backend: ScriptedBackend, talk: Talk) -> None:
    backend.answers(reply(text("Hello")), answer(503))
    first = await talk.turn()
    assert await talk.refused(previous_response_id=first["id"]) == (503, "server_is_overloaded")
    assert await talk.refused(previous_response_id=first["id"]) == (400, "previous_response_not_found")


async def test_a_failed_turn_cannot_be_continued(backend: ScriptedBackend, talk: Talk) -> None:
    backend.answers(HEAD + text("Hel") + END)
    failed = await talk.turn()
    assert failed["status"] == "failed"
    assert await talk.refused(previous_response_id=failed["id"]) == (400, "previous_response_not_found")


async def test_a_compacted_conversation_begins_a_new_chain(
    backend: ScriptedBackend, proxy: Proxy, talk: Talk
) -> None:
    """`websocket-compact-new-chain`."""
    backend.answers(reply(text("They greeted.")), reply(text("Hello")))
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]
    address = f"{proxy.url}/v1/responses/compact"
    async with proxy.session.post(address, json={"model": "m", "input": history}) as response:
        output = (await response.json())["output"]
    more = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "More"}]}
    assert (await talk.turn(input=[*output, more], tools=[]))["status"] == "completed"
    assert "They greeted." in str(asked(backend)[1])
    assert "More" in str(asked(backend)[1])


async def test_a_summary_takes_the_place_of_what_it_sums_up(backend: ScriptedBackend, talk: Talk) -> None:
    backend.answers(reply(text("They greeted.")), reply(text("Hello")))
    said = {"type": "message", "role": "user", "content": "A long story"}
    summary = await talk.turn(input=[said, {"type": "compaction_trigger"}])
    assert summary["output"][-1]["type"] == "compaction"
    await talk.turn(input="More", previous_response_id=summary["id"])
    assert "They greeted." in str(asked(backend)[1])
    assert "A long story" not in str(asked(backend)[1])


async def test_a_turn_that_was_cut_within_a_call_can_be_continued(
    backend: ScriptedBackend, talk: Talk
) -> None:
    """Nobody ran half a call, so the next turn has no output for it, and the model need not see it."""
    half = {"index": 0, "id": "call_1", "function": {"name": "get_weather", "arguments": '{"ci'}}
    backend.answers(HEAD + delta(tool_calls=[half]) + finish("length") + DONE + END, reply(text("Hello")))
    cut = await talk.turn(tools=[WEATHER])
    assert (cut["status"], cut["output"][0]["status"]) == ("incomplete", "incomplete")
    assert (await talk.turn(input="Go on", previous_response_id=cut["id"]))["status"] == "completed"
    assert "get_weather" not in str(asked(backend)[1])


# ── lanes ──


async def test_v05_every_message_of_a_turn_names_its_lane(talk: Talk) -> None:
    await talk.ask(stream_id="left")
    await talk.ask(stream_id="right", temperature=5)
    await talk.ask()
    assert {said.get("stream_id") for said in await talk.heard()} == {"left"}
    (refusal,) = await talk.heard()
    assert (refusal["stream_id"], refusal["error"]["param"]) == ("right", "temperature")
    assert not [said for said in await talk.heard() if "stream_id" in said]


async def test_v05_what_fails_names_its_lane_too(backend: ScriptedBackend, talk: Talk) -> None:
    backend.answers(HEAD + text("Hel") + END, answer(500), reply(text("Hello")))
    for ending in ("response.failed", "error", "response.completed"):
        await talk.ask(stream_id="a")
        found = await talk.heard()
        assert found[-1]["type"] == ending
        assert {said["stream_id"] for said in found} == {"a"}


async def test_v05_lanes_are_conversations_of_their_own(backend: ScriptedBackend, talk: Talk) -> None:
    first, other = await talk.turn(input="1", stream_id="a"), await talk.turn(input="2", stream_id="b")
    for before, lane in ((first, "a"), (other, "b")):
        await talk.turn(input="More", stream_id=lane, previous_response_id=before["id"])
    assert [said for _, said in asked(backend)[2]] == ["1", "Hello", "More"]
    assert [said for _, said in asked(backend)[3]] == ["2", "Hello", "More"]


async def test_v05_the_backend_is_told_nothing_of_lanes(backend: ScriptedBackend, talk: Talk) -> None:
    await talk.turn(stream_id="a")
    assert "stream_id" not in backend.received[0].json


# ── failures ──


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        (answer(429, {"error": {"message": "slow down"}}, Retry_After="7"), 429, "rate_limit_exceeded"),
        (answer(200, b""), 502, "upstream_empty_reply"),
    ],
)
async def test_while_nothing_was_said_a_failure_is_one_refusal(
    backend: ScriptedBackend, talk: Talk, said: bytes, status: int, code: str
) -> None:
    backend.answers(said, reply(text("Hello")))
    assert await talk.refused() == (status, code)
    assert (await talk.turn())["status"] == "completed"


@pytest.mark.parametrize(
    "said",
    [HEAD + text("Hel") + END, HEAD + text("Hel") + event({"error": {"message": "boom"}}) + DONE + END],
    ids=["it stops", "it says so"],
)
async def test_afterwards_it_is_one_ending(backend: ScriptedBackend, talk: Talk, said: bytes) -> None:
    """Neither an `error` before it nor anything after it: both would be read as a turn of their own."""
    backend.answers(said, reply(text("Hello")))
    await talk.ask()
    found = await talk.heard()
    assert found[-1]["type"] == "response.failed"
    assert "error" not in {said["type"] for said in found}
    assert (await talk.turn())["status"] == "completed"


async def test_what_is_no_message_is_refused_in_its_place(backend: ScriptedBackend, talk: Talk) -> None:
    """Not in the middle of a turn, which would seem to end."""
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    await talk.ask()
    await talk.until("response.output_text.delta")
    await talk.socket.send_str("{")
    await talk.socket.send_bytes(b'{"type":"response.create"}')
    await talk.socket.send_json({"type": "session.update"})
    goes_on.set()
    assert (await talk.until(*ENDINGS))[-1]["type"] == "response.completed"
    codes = [(await talk.next())["error"]["code"] for _ in range(3)]
    assert codes == ["invalid_json", "invalid_message", "unknown_message_type"]
    assert (await talk.turn())["status"] == "completed"


async def test_a_bug_of_ours_is_a_refusal_and_its_traceback_stays_here(
    proxy: Proxy, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F80."""
    monkeypatch.setattr(Pipeline, "feed", lambda *_: 1 / 0)
    assert await talk.refused() == (500, "server_error")
    assert "ZeroDivisionError" in proxy.log.named("unhandled_exception")[0]["exception"]
    monkeypatch.undo()
    assert (await talk.turn())["status"] == "completed"


async def test_one_that_cannot_be_told_breaks_the_connection(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Better a visible break than a turn that never ends."""
    for method in ("feed", "fail"):
        monkeypatch.setattr(Pipeline, method, lambda *_: 1 / 0)
    proxy = await start_proxy(server={"patience_seconds": 0.05})
    goes_on = asyncio.Event()

    async def slow(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(reply(text("Hello")))

    backend.plays(slow)
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.in_progress")
        goes_on.set()
        assert (await talk.socket.receive(PROMPTLY)).type is WSMsgType.CLOSED
        assert talk.socket.close_code == WSCloseCode.ABNORMAL_CLOSURE
    await proxy.log.wait_for("websocket")


async def test_messages_keep_their_order_though_a_timer_sends_some_of_them(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ones repeat all tools: a slow client takes its time for them."""
    proxy = await start_proxy(server={"patience_seconds": 0.02})
    goes_on, dawdling = asyncio.Event(), asyncio.Event()
    send_frame = web.WebSocketResponse.send_frame

    async def dawdle(self: Any, message: bytes, *more: Any) -> None:
        if b'"response.created"' in message:
            goes_on.set()
            await dawdling.wait()
        await send_frame(self, message, *more)

    async def plays(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(HEAD, text("Hel"))
        asyncio.get_running_loop().call_later(0.05, dawdling.set)
        await dawdling.wait()
        line.send(text("lo"), finish(), DONE, END)

    monkeypatch.setattr(web.WebSocketResponse, "send_frame", dawdle)
    backend.plays(plays)
    async with talking(proxy.url) as talk:
        await talk.ask()
        assert (await talk.heard())[-1]["type"] == "response.completed"


async def test_a_pause_in_a_turn_is_not_taken_for_a_client_that_does_not_read(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.http.connection.STALLED_SECONDS", 0.1)
    proxy = await start_proxy(server={"patience_seconds": 0.02, "heartbeat_seconds": 0.02})
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.output_text.delta")
        asyncio.get_running_loop().call_later(0.3, goes_on.set)
        assert (await talk.until(*ENDINGS))[-1]["type"] == "response.completed"


async def test_a_turn_opens_early_when_the_backend_takes_its_time(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(server={"patience_seconds": 0.05})
    goes_on = asyncio.Event()

    async def refuses_late(line: Line) -> None:
        await line.request()
        await goes_on.wait()
        line.send(answer(429, {"error": {"message": "slow down"}}))

    backend.plays(refuses_late)
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.in_progress")
        goes_on.set()
        (failed,) = await talk.until(*ENDINGS)
    assert (failed["type"], failed["sequence_number"]) == ("response.failed", 2)
    assert failed["response"]["error"]["code"] == "rate_limit_exceeded"


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
    monkeypatch.setattr("proxy.shell.websocket.LIFETIME_SECONDS", 0.1)
    proxy = await start_proxy()
    async with talking(proxy.url) as talk:
        assert (await talk.turn())["status"] == "completed"
        last = await talk.next()
        assert (last["type"], last["error"]["code"]) == ("error", "websocket_connection_limit_reached")
        assert await talk.closed() == WSCloseCode.GOING_AWAY


async def test_but_not_in_the_middle_of_a_turn(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.websocket.LIFETIME_SECONDS", 0.05)
    proxy = await start_proxy()
    goes_on = asyncio.Event()
    backend.plays(waits(goes_on))
    async with talking(proxy.url) as talk:
        await talk.ask()
        await talk.until("response.output_text.delta")
        asyncio.get_running_loop().call_later(0.1, goes_on.set)
        assert (await talk.until(*ENDINGS))[-1]["type"] == "response.completed"
        assert (await talk.next())["error"]["code"] == "websocket_connection_limit_reached"


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
    monkeypatch.setattr("proxy.shell.websocket.CLOSING_SECONDS", 0.05)
    async with stoppable(backend, grace=0, autoclose=False) as (_, stop, log):
        async with asyncio.timeout(1):
            await stop()
    assert log.named("websocket")[0]["code"] == WSCloseCode.ABNORMAL_CLOSURE


# ── the handshake ──


async def refused(connecting: Awaitable[Any]) -> int:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        await connecting
    return refusal.value.status


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
