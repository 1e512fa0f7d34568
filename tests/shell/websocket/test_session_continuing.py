"""Turns over a socket that continue one another, each lane a conversation of its own."""

from tests.support.proxies import Proxy
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    ScriptedBackend,
    answer,
    delta,
    finish,
    reply,
    text,
)
from tests.support.weather import CALL, WEATHER
from tests.support.websockets import Talk, asked, talking

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
    first = await talk.turn(store=False)
    assert await talk.refused(previous_response_id=first["id"]) == (503, "server_is_overloaded")
    assert await talk.refused(previous_response_id=first["id"]) == (400, "previous_response_not_found")


async def test_a_failed_turn_cannot_be_continued(backend: ScriptedBackend, talk: Talk) -> None:
    backend.answers(HEAD + text("Hel") + END)
    failed = await talk.turn(store=False)
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
