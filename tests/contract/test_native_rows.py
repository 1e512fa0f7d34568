"""What the native surface promises that is seen only from outside: between its client and its backend."""

import asyncio
import re
from collections.abc import Mapping
from hashlib import sha256
from uuid import UUID

import aiohttp
import pytest

from tests.contract.backends import BACKENDS
from tests.contract.cases import TOOLS
from tests.contract.client import proxy
from tests.contract.native import HEADER, Native
from tests.contract.rows import CITY, HI, NATIVE, Client, Json, Told, call, calls, client_of, tool, whole_call
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import serving
from tests.support.sockets import DONE, END, HEAD, Line, finish, reply, text, usage

streamed_or_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def results(told: Told, content: object = "sunny", **more: object) -> list[Json]:
    """The conversation so far, and what the tools gave back."""
    said = {"role": "assistant", "content": None, "tool_calls": told.calls}
    given = [{"role": "tool", "tool_call_id": made["id"], "content": content, **more} for made in told.calls]
    return [HI, said, *given]


# ── the way in ──


@pytest.mark.parametrize("fields", [{}, {"stream": False}, {"stream": None}])
async def test_a_whole_answer_unless_a_stream_is_wished_for(fields: dict[str, bool]) -> None:
    """N01"""
    async with client_of(NATIVE, reply(text("Hel"), text("lo"))) as client:
        whole, streamed = await client.ask(**fields), await client.ask(stream=True)
        assert whole.headers["Content-Type"] == "application/json"
        assert streamed.headers["Content-Type"] == "text/event-stream"
        assert [each.choice["message"]["content"] for each in (whole, streamed)] == ["Hello", "Hello"]


@streamed_or_whole
@pytest.mark.parametrize(
    ("fields", "param", "way_out"),
    [
        ({"tools": [tool("a-b")]}, "tools[0].function.name", "underscores"),
        ({"tools": [tool("x" * 65)]}, "tools[0].function.name", "64"),
        ({"tools": [tool(description=None)]}, "tools[0].function.description", "required"),
        ({"tools": [tool(parameters={"type": "array"})]}, "tools[0].function.parameters.type", "object"),
        (
            {"tools": [tool(parameters=CITY | {"required": ["city", 5]})]},
            "tools[0].function.parameters.required[1]",
            "",
        ),
        ({"functions": [{"name": "f"}]}, "functions", "tools"),
        ({"function_call": "auto"}, "function_call", "tool_choice"),
        (
            {"tools": [tool(strict=True)]},
            "tools[0].function.strict",
            "request_options.validate_tool_arguments",
        ),
        (
            {"messages": [HI, {"role": "tool", "tool_call_id": "z", "content": "x"}]},
            "messages[1].tool_call_id",
            "call",
        ),
        ({"messages": [HI | {"tool_call_id": "a"}]}, "messages[0].tool_call_id", "leave it out"),
    ],
)
async def test_what_breaks_a_rule_is_a_400_and_goes_no_further(
    fields: dict[str, object], param: str, way_out: str, stream: bool
) -> None:
    """N01, N02, N03"""
    async with client_of(NATIVE, reply(text("x"))) as client:
        told = await client.ask(stream=stream, **fields)
        assert told.status == 400
        assert told.fault is not None
        assert told.fault["param"] == param
        assert way_out in told.fault["message"]
        assert client.received == []


# ── ids ──


@streamed_or_whole
async def test_an_id_is_a_uuid_of_ours(stream: bool) -> None:
    """N03"""
    async with client_of(NATIVE, whole_call(id="their-1")) as client:
        (made,) = (await client.ask(tools=[tool()], stream=stream)).calls
        assert re.fullmatch(r"call_[0-9a-f]{32}", made["id"])
        assert UUID(made["id"].removeprefix("call_")).version == 4


@streamed_or_whole
@pytest.mark.parametrize("place", ["header", "body"])
async def test_a_client_gets_the_map_and_gives_it_back(place: str, stream: bool) -> None:
    """N03: in a header, and in the body for streams, whose headers are sent before there are calls."""
    async with client_of(NATIVE, whole_call(id="their-1"), reply(text("x"))) as client:
        first = await client.ask(tools=[tool()], stream=stream)
        token = first.body["_proxy"]["call_ids"]
        assert first.headers.get(HEADER) == (None if stream else token)
        headers = {HEADER: token} if place == "header" else {}
        fields = {"_proxy": {"call_ids": token}} if place == "body" else {}
        last = await client.ask(headers, messages=results(first), tools=[tool()], **fields)
        assert last.status == 200
        assert told_ids(client) == ["their-1", "their-1"]


def told_ids(client: Client) -> list[str]:
    """Those of calls and results in the last request to the backend."""
    _, said, *given = client.last["messages"]
    return [made["id"] for made in said["tool_calls"]] + [each["tool_call_id"] for each in given]


async def test_a_conversation_belongs_to_its_tenant() -> None:
    """N03: the same name is another conversation, in which the calls are unknown."""
    tenants = {name: {"keys": [sha256(name.encode()).hexdigest()]} for name in ("ann", "bob")}
    async with client_of(NATIVE, whole_call(), reply(text("x")), tenants=tenants) as client:
        first = await client.ask(key("ann"), tools=[tool()], conversation_id="c")
        following = {"messages": results(first), "tools": [tool()]}
        for who, conversation in (("bob", "c"), ("ann", "d")):
            refused = await client.ask(key(who), conversation_id=conversation, **following)
            assert refused.status == 400
            assert refused.fault is not None
            assert refused.fault["param"] == "messages[1].tool_calls[0].id"
        assert len(client.received) == 1
        assert (await client.ask(key("ann"), conversation_id="c", **following)).status == 200
        assert told_ids(client) == ["their-1", "their-1"]


def key(who: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {who}"}


# ── arguments ──


@streamed_or_whole
@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (
            '{"city": "Oslo", "n": [1, 2.5, null, true], "é": "😀"}',
            {"city": "Oslo", "n": [1, 2.5, None, True], "é": "😀"},
        ),
        ({"city": "Oslo"}, {"city": "Oslo"}),
        ("", {}),
        (None, {}),
        ('\n {"city":"Oslo"} ', {"city": "Oslo"}),
    ],
)
async def test_arguments_are_an_object(said: object, heard: Json, stream: bool) -> None:
    """N04"""
    async with client_of(NATIVE, whole_call(said)) as client:
        told = await client.ask(tools=[tool()], stream=stream)
        assert told.calls[0]["function"]["arguments"] == heard


@streamed_or_whole
@pytest.mark.parametrize("said", ['{"city":', "nonsense", "[1]", "5", "null", '"{}"', '{"a":1}{"b":2}', [1]])
async def test_what_is_no_object_is_an_error(said: object, stream: bool) -> None:
    """N04: nothing of the call is seen, of whatever else the reply holds."""
    async with client_of(NATIVE, reply(text("Look."), calls(call(0, "a", "get_weather", said)))) as client:
        told = await client.ask(tools=[tool()], stream=stream)
        assert told.code == "malformed_tool_arguments"
        assert "tool_calls" not in str(told.chunks)
        assert bool(told.chunks) is stream


@streamed_or_whole
async def test_arguments_are_read_when_they_have_ended(stream: bool) -> None:
    """N04: what looks whole half-way may go on, for as long as the backend likes."""
    pieces = ["{}", '{"city":', '"Oslo"', "}"]
    said = [calls(call(0, "a", "get_weather", ""))] + [calls(call(0, None, None, piece)) for piece in pieces]
    spoilt = calls(call(0, "a", "get_weather", '{"city":"Oslo"}')), calls(call(0, None, None, ', "x"'))
    async with client_of(NATIVE, reply(*said), reply(*spoilt)) as client:
        told = await client.ask(tools=[tool()], stream=stream)
        assert [made["function"]["arguments"] for made in told.calls] == [{"city": "Oslo"}]
        assert (await client.ask(tools=[tool()], stream=stream)).code == "malformed_tool_arguments"


async def test_nothing_is_told_of_a_call_that_is_still_coming() -> None:
    """N04: not even one that is whole, for all that can be seen; what was said before it is told at once."""
    told = asyncio.Event()

    async def slow(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Look."), calls(call(0, "a", "get_weather", '{"city":"Oslo"}')))
        await told.wait()
        line.send(finish(), usage(), DONE, END)

    async with client_of(NATIVE, script=slow) as client:
        body = {"model": "m", "messages": [HI], "tools": [tool()], "stream": True}
        async with client.session.post(client.url, json=body) as response:
            early = b""
            while b"Look." not in early:
                early += await response.content.readany()
            assert b"tool_calls" not in early
            told.set()
            assert b'"arguments":{"city":"Oslo"}' in await response.read()


@streamed_or_whole
async def test_calls_that_interleave_are_told_apart(stream: bool) -> None:
    """N04"""
    mixed = reply(
        calls(call(0, "a", "get_weather", '{"ci')),
        calls(call(1, "b", "get_time", '{"ci')),
        calls(call(0, None, None, 'ty":"Oslo"}')),
        calls(call(1, None, None, 'ty":"Bergen"}')),
    )
    async with client_of(NATIVE, mixed) as client:
        told = await client.ask(tools=[tool(), tool("get_time")], stream=stream)
        assert [made["function"] for made in told.calls] == [
            {"name": "get_weather", "arguments": {"city": "Oslo"}},
            {"name": "get_time", "arguments": {"city": "Bergen"}},
        ]


# ── results ──


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        ("sunny", "sunny"),
        ("", ""),
        ({"sky": "blue", "°C": [21, None]}, '{"sky":"blue","°C":[21,null]}'),
        ([1, 2], "[1,2]"),
        (False, "false"),
        (0, "0"),
    ],
)
async def test_a_result_is_a_string_to_the_backend(content: object, sent: str) -> None:
    """N05"""
    async with client_of(NATIVE, whole_call(), reply(text("x"))) as client:
        first = await client.ask(tools=[tool()])
        last = await client.ask(messages=results(first, content), tools=[tool()])
        assert last.status == 200
        assert client.last["messages"][-1]["content"] == sent


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"name": "get_weather"}, None),
        ({"name": None}, None),
        ({"name": "another"}, "messages[2].name"),
        ({"tool_call_id": "another"}, "messages[2].tool_call_id"),
        ({"tool_call_id": "another", "name": "get_weather"}, "messages[2].tool_call_id"),
    ],
)
async def test_the_name_is_found_or_the_result_is_refused(more: Json, param: str | None) -> None:
    """N05: in the history, by the id."""
    async with client_of(NATIVE, whole_call(), reply(text("x"))) as client:
        first = await client.ask(tools=[tool()])
        last = await client.ask(messages=results(first, **more), tools=[tool()])
        assert (last.fault or {}).get("param") == param
        assert last.status == (400 if param else 200)


# ── choices ──

CALLED = Say(calls=[SayCall("call_a1", "get_weather", {"city": "Oslo"})])
SAID = Say(text="x")
FORCED = {"type": "function", "function": {"name": "get_weather"}}
CHOICES: Mapping[str, tuple[Json, Say, str, int]] = {
    "missing": ({}, SAID, "auto", 2),
    "null": ({"tool_choice": None}, SAID, "auto", 2),
    "auto": ({"tool_choice": "auto"}, CALLED, "auto", 2),
    "none": ({"tool_choice": "none"}, SAID, "none", 2),
    "required": ({"tool_choice": "required"}, CALLED, "required", 2),
    "forced": ({"tool_choice": FORCED}, CALLED, "get_weather", 2),
    "allowed": (
        {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [FORCED]}}},
        CALLED,
        "auto",
        1,
    ),
}
"""What is sent, what the model says to it, the choice that the backend is told, and among how many tools."""


@pytest.mark.parametrize("backend_name", BACKENDS)
@pytest.mark.parametrize("name", CHOICES)
async def test_every_choice_is_told_to_the_backend(name: str, backend_name: str) -> None:
    """N06: none of them means anything else here, and each provider hears it in its own words."""
    backend, surface = BACKENDS[backend_name], Native()
    fields, say, choice, tools = CHOICES[name]
    body = surface.body(TOOLS, backend.model, stream=True) | fields
    async with (
        serving(backend.provider, say) as provider,
        proxy({"url": provider.url, **backend.settings}) as url,
        aiohttp.ClientSession() as session,
        session.post(url + surface.path, json=body) as response,
    ):
        answered = surface.streamed(await response.read(), response.headers)
        assert [name for _, name in answered.calls] == [made.name for made in say.calls]
        received = backend.read(provider.last.body)
        assert (received.choice, len(received.tools)) == (choice, tools)
