"""The openai SDK's lanes: several conversations on one WebSocket, each of which hears what is meant for it alone."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.lib.responses_websocket import (
    ResponsesWebSocketError,
    ResponsesWebSocketLane,
    ResponsesWebSocketLimits,
    ResponsesWebSocketSession,
)
from openai.types.responses import Response

from tests.clients.weather import WEATHER

LIMITS = ResponsesWebSocketLimits(
    max_lanes=4, max_events_per_lane=1000, max_events=4000, max_bytes_per_lane=1 << 24, max_bytes=1 << 26
)
PROMPTLY = 10
"""Seconds; a lane that hears nothing would wait for ever."""


@pytest.fixture
def session(client: openai.OpenAI) -> Iterator[ResponsesWebSocketSession]:
    with (
        client.responses.connect() as connection,
        ResponsesWebSocketSession(connection, limits=LIMITS) as session,
    ):
        yield session


def asks(lane: ResponsesWebSocketLane, **body: Any) -> None:
    lane.send({"type": "response.create", "model": "demo", "store": False, **body})


def hears(lane: ResponsesWebSocketLane) -> Response:
    return lane.get_final_response(timeout=PROMPTLY)


def test_v05_each_lane_hears_its_own_answer(session: ResponsesWebSocketSession) -> None:
    """All are asked before any has answered."""
    lanes = [session.lane("left"), session.lane("right"), session.default]
    for number, lane in enumerate(lanes):
        asks(lane, input=f"Say {number}")
    for number, lane in reversed([*enumerate(lanes)]):
        assert f"“Say {number}”" in hears(lane).output_text


def test_v05_lanes_are_conversations_of_their_own(session: ResponsesWebSocketSession) -> None:
    left, right = session.lane("left"), session.lane("right")
    calls = {}
    for lane, city in ((left, "Paris"), (right, "Oslo")):
        asks(lane, input=f"What is the weather in {city}?", tools=[WEATHER])
        answer = hears(lane)
        calls[city] = answer.id, answer.output[0].to_dict()["call_id"]
    for lane, city in ((left, "Paris"), (right, "Oslo")):
        previous, call_id = calls[city]
        output = {"type": "function_call_output", "call_id": call_id, "output": f"18 degrees in {city}"}
        asks(lane, input=[output], previous_response_id=previous, tools=[WEATHER])
        assert f"18 degrees in {city}" in hears(lane).output_text


def test_v05_a_refusal_reaches_the_lane_that_asked(session: ResponsesWebSocketSession) -> None:
    left, right = session.lane("left"), session.lane("right")
    asks(left, input="Hello", previous_response_id="resp_0")
    asks(right, input="Hello")
    with pytest.raises(ResponsesWebSocketError) as refused:
        hears(left)
    assert refused.value.event.to_dict()["error"]["code"] == "previous_response_not_found"
    assert hears(right).output_text
    asks(left, input="Hello")
    assert hears(left).output_text
