"""What is on the wire, for those who read server-sent events themselves."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.support.replies import TERMINAL, read_stream

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
PARIS = {"model": "demo", "input": "Weather in Paris?", "tools": [WEATHER], "stream": True}
EXTENDED = ("response.output_tool_call.", "response.done")


@pytest.fixture
async def http(proxy: str) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(proxy) as session:
        yield session


async def streamed(
    http: aiohttp.ClientSession, body: dict[str, Any], headers: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    async with http.post("/v1/responses", json=body, headers=headers) as reply:
        assert reply.status == 200
        assert reply.content_type == "text/event-stream"
        return read_stream(await reply.read())


def kinds(events: list[dict[str, Any]]) -> list[str]:
    """Event types, each run of deltas once."""
    types = [event["type"] for event in events]
    return [kind for place, kind in enumerate(types) if kind not in types[max(0, place - 2) : place]]


async def test_a_call_has_the_whole_sequence_of_events(http: aiohttp.ClientSession) -> None:
    """R04"""
    events = await streamed(http, PARIS)
    assert kinds(events) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.output_tool_call.begin",
        "response.output_tool_call.delta",
        "response.function_call_arguments.delta",
        "response.output_tool_call.end",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
        "response.done",
    ]
    begin = events[3]
    assert begin["name"] == "get_weather"
    assert begin["item_id"] == events[2]["item"]["id"]
    assert begin["call_id"] == events[2]["item"]["call_id"]


@pytest.mark.parametrize(
    ("changes", "headers", "extended"),
    [
        ({}, {}, True),
        ({"tools": []}, {}, False),
        ({}, {"x-stainless-lang": "js"}, False),
        ({}, {"x-stainless-lang": "python"}, True),
        ({}, {"x-proxy-events": "standard"}, False),
        ({"tools": []}, {"x-proxy-events": "extended"}, True),
        ({}, {"x-stainless-lang": "js", "x-proxy-events": "extended"}, True),
    ],
)
async def test_who_gets_the_extended_events(
    http: aiohttp.ClientSession, changes: dict[str, Any], headers: dict[str, str], extended: bool
) -> None:
    """R05"""
    events = await streamed(http, PARIS | changes, headers)
    assert any(event["type"].startswith(EXTENDED) for event in events) is extended


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        ({"model": "demo", "input": "hello"}, "response.completed"),
        ({"model": "demo-think", "input": "hello"}, "response.completed"),
        (
            {"model": "demo-talk", "input": "Weather in Paris and Rome?", "tools": [WEATHER]},
            "response.completed",
        ),
        ({"model": "demo", "input": "hello", "max_output_tokens": 16}, "response.incomplete"),
        ({"model": "demo-error", "input": "hello"}, "response.failed"),
        ({"model": "demo-cut", "input": "hello"}, "response.failed"),
    ],
)
async def test_every_stream_keeps_what_all_streams_promise(
    http: aiohttp.ClientSession, body: dict[str, Any], ending: str
) -> None:
    """Numbers from 0 without a gap, dense indexes, one ending, last: the strict reader checks them all."""
    events = await streamed(http, body | {"stream": True})
    assert [event["type"] for event in events if event["type"] in TERMINAL] == [ending]


async def test_the_whole_answer_is_what_the_stream_ends_with(http: aiohttp.ClientSession) -> None:
    events = await streamed(http, PARIS)
    async with http.post("/v1/responses", json=PARIS | {"stream": False}) as reply:
        assert reply.content_type == "application/json"
        whole = await reply.json()
    final = events[-1]["response"]
    for response in (whole, final):
        for item in response["output"]:
            del item["id"], item["call_id"]
        for minted in ("id", "created_at", "completed_at"):
            del response[minted]
    assert whole == final


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b"[]", None),
        (b'{"input": "hi"}', "model"),
        (b'{"model": "demo"}', "input"),
        (b'{"model": "demo", "input": 3}', "input"),
        (b'{"model": "demo", "input": "x", "tools": [{"type": "function"}]}', "tools[0].name"),
    ],
)
async def test_what_is_wrong_is_refused_by_name(
    http: aiohttp.ClientSession, body: bytes, param: str | None
) -> None:
    async with http.post("/v1/responses", data=body, headers={"Content-Type": "application/json"}) as reply:
        assert reply.status == 400
        error = (await reply.json())["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert (error["type"], error["param"]) == ("invalid_request_error", param)


async def test_it_says_that_it_lives_and_is_ready(http: aiohttp.ClientSession) -> None:
    for path in ("/healthz", "/readyz"):
        async with http.get(path) as reply:
            assert reply.status == 200
