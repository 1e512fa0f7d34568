"""What the Chat surface promises that is seen only from outside: between its client and its backend."""

import random  # noqa: TID251 - its state must not matter
import re
from hashlib import sha256

import pytest

from tests.contract.rows import CHAT, CITY, HI, Json, Told, call, calls, client_of, tool, whole_call
from tests.support.sockets import DONE, END, HEAD, answer, event, finish, reply, text

OURS = re.compile(r"call_[0-9a-f]{32}")
STRICT = tool(strict=True, parameters=CITY | {"additionalProperties": False})
MARKUP = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
WRONG = {
    "unknown_tool_call": whole_call("{}", name="launch"),
    "malformed_tool_arguments": whole_call('{"city":'),
    "invalid_tool_arguments": whole_call('{"city":5}'),
}
KEY = "a tenant's own key"
CHECKED = {"one": {"keys": [sha256(KEY.encode()).hexdigest()], "validate_tool_arguments": "enforce"}}

streamed_or_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


# ── the way in ──


@pytest.mark.parametrize("fields", [{}, {"stream": False}, {"stream": None}])
async def test_a_whole_answer_unless_a_stream_is_wished_for(fields: dict[str, bool]) -> None:
    """C01"""
    async with client_of(CHAT, reply(text("Hel"), text("lo"))) as client:
        whole, streamed = await client.ask(**fields), await client.ask(stream=True)
        assert whole.headers["Content-Type"] == "application/json"
        assert streamed.headers["Content-Type"] == "text/event-stream"
        assert [each.choice["message"]["content"] for each in (whole, streamed)] == ["Hello", "Hello"]
        assert (whole.body["object"], len(streamed.chunks)) == ("chat.completion", 4)


async def test_every_role_is_heard_by_the_backend() -> None:
    """C01; it calls the developer's words the system's, as most do."""
    said = [
        {"role": "system", "content": "S"},
        {"role": "developer", "content": "D"},
        {"role": "user", "content": "U"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "T"},
    ]
    async with client_of(CHAT, reply(text("x"))) as client:
        await client.ask(messages=said, tools=[tool()])
        system, user, assistant, result = client.last["messages"]
        assert (system["role"], system["content"].split()) == ("system", ["S", "D"])
        assert (user["role"], user["content"]) == ("user", "U")
        assert (assistant["role"], len(assistant["tool_calls"])) == ("assistant", 1)
        assert (result["role"], result["content"]) == ("tool", "T")


@streamed_or_whole
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [HI | {"role": "bot"}]}, "messages[0].role"),  # C01
        (
            {"messages": [HI, {"role": "tool", "tool_call_id": "z", "content": "x"}]},
            "messages[1].tool_call_id",
        ),  # C02
        ({"tools": [tool("a b")]}, "tools[0].function.name"),  # C03
        ({"tools": [tool() | {"type": "fn"}]}, "tools[0].type"),  # C03
        ({"temperature": 2.5}, "temperature"),  # C04
    ],
)
async def test_what_breaks_a_rule_is_a_400_and_goes_no_further(
    fields: dict[str, object], param: str, stream: bool
) -> None:
    """C01, C02, C03, C04: a status, for a client that streams too."""
    async with client_of(CHAT, reply(text("x"))) as client:
        told = await client.ask(stream=stream, **fields)
        assert told.status == 400
        assert told.fault is not None
        assert (told.fault["param"], told.fault["type"]) == (param, "invalid_request_error")
        assert client.received == []


@pytest.mark.parametrize("message", [HI, {"role": "assistant", "content": "x"}])
async def test_the_id_of_a_call_where_none_is_answered_is_ignored_with_a_warning(message: Json) -> None:
    """C02"""
    async with client_of(CHAT, reply(text("x"))) as client:
        told = await client.ask(messages=[message | {"tool_call_id": "z"}, HI | {"tool_call_id": None}])
        assert told.status == 200
        assert [each for each in told.warnings if "tool_call_id" in each]
        assert "tool_call_id" not in str(client.last["messages"])
        assert not (await client.ask(messages=[message, HI])).warnings


# ── the same pipeline ──


@streamed_or_whole
async def test_calls_that_a_model_writes_into_its_text_are_calls(stream: bool) -> None:
    """C01"""
    async with client_of(CHAT, reply(text(MARKUP[:20]), text(MARKUP[20:]))) as client:
        told = await client.ask(tools=[tool()], stream=stream)
        (made,) = told.calls
        assert made["function"] == {"name": "get_weather", "arguments": '{"city":"Oslo"}'}
        assert OURS.fullmatch(made["id"])
        assert not told.choice["message"]["content"]
        assert told.choice["finish_reason"] == "tool_calls"


@streamed_or_whole
async def test_limits_on_tools_are_looked_at(stream: bool) -> None:
    """C01: beside the answer, as on the other surfaces (P06)."""
    async with client_of(CHAT, reply(text("x"))) as client:
        told = await client.ask(tools=[tool(description="d" * 1025)], stream=stream)
        assert any("description" in warning for warning in told.warnings), told.body


@streamed_or_whole
async def test_a_backend_that_keeps_failing_is_left_alone(stream: bool) -> None:
    """C01: by its breaker, with tools like without (R12)."""
    async with client_of(CHAT, answer(502, {"error": {"message": "Broken."}})) as client:
        for _ in range(5):
            assert (await client.ask(tools=[tool()], stream=stream)).status == 502
        asked = len(client.received)
        assert (await client.ask(tools=[tool()], stream=stream)).status == 503
        assert len(client.received) == asked


# ── what the backend is asked ──


@pytest.mark.parametrize(
    ("fields", "enforced", "sent"),
    [
        ({"tools": [STRICT]}, True, False),
        ({"tools": [STRICT], "parallel_tool_calls": None}, True, False),
        ({"tools": [tool("other"), STRICT]}, True, False),
        ({"tools": [STRICT]}, False, None),
        ({"tools": [STRICT], "parallel_tool_calls": True}, False, None),
        ({"tools": [STRICT], "parallel_tool_calls": False}, False, False),
        ({"tools": [tool()], "parallel_tool_calls": False}, True, False),
        ({"tools": [tool()]}, True, None),
        ({"tools": [tool()], "parallel_tool_calls": True}, True, None),
    ],
)
async def test_beside_a_strict_tool_calls_in_parallel_are_forbidden_where_limits_are_enforced(
    fields: dict[str, object], enforced: bool, sent: bool | None
) -> None:
    """C03, V04: what was left out is sent as false; to a backend that knows the word (C05). True is everybody's
    default, also of the frameworks that declare every tool as strict; who says it is warned and served."""
    rules = {"limits": {"mode": "enforce"}} if enforced else {}
    async with client_of(CHAT, whole_call(), profile={"parallel": "obey"}, **rules) as client:
        told = await client.ask(**fields)
        assert client.last.get("parallel_tool_calls") is sent
        warned = [each for each in told.warnings if "parallel_tool_calls" in each]
        assert bool(warned) is (fields == {"tools": [STRICT], "parallel_tool_calls": True})


@pytest.mark.parametrize("effort", ["low", "high", "a new word"])
async def test_what_the_backend_does_not_know_is_accepted_and_not_forwarded(effort: str) -> None:
    """C05"""
    fields = {
        "reasoning_effort": effort,
        "verbosity": "low",
        "temperature": 0.5,
        "a_new_field": {"x": 1},
        "user": "u",
    }
    async with client_of(CHAT, reply(text("x"))) as client:
        assert (await client.ask(**fields)).status == 200
        assert client.last.keys() == {"model", "messages", "stream", "stream_options", "temperature"}
    knowing = {"effort_field": "reasoning_effort", "tuning": ["verbosity"]}
    async with client_of(CHAT, reply(text("x")), profile=knowing) as client:
        assert (await client.ask(**fields)).status == 200
        assert client.last["reasoning_effort"] == effort
        assert client.last["verbosity"] == "low"
        assert not {"temperature", "a_new_field", "user"} & client.last.keys()


async def test_unknown_members_are_accepted_everywhere_and_forwarded_nowhere() -> None:
    """C05: in messages, parts, calls, tools, and beside them."""
    new = {"a_new_member": {"x": 1}}
    function = {"name": "get_weather", "arguments": "{}"} | new
    said = [
        HI | new,
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "x"} | new],
            "tool_calls": [{"id": "a", "type": "function", "function": function} | new],
        }
        | new,
        {"role": "tool", "tool_call_id": "a", "content": "x"} | new,
    ]
    async with client_of(CHAT, reply(text("x"))) as client:
        told = await client.ask(
            messages=said,
            tools=[tool(**new) | new],
            tool_choice={"type": "function", "function": {"name": "get_weather"} | new} | new,
            stream=True,
            stream_options={"include_usage": True} | new,
            response_format={"type": "text"} | new,
            **new,
        )
        assert told.status == 200
        assert b"a_new_member" not in client.received[-1].body


# ── the answer ──


@streamed_or_whole
async def test_ids_are_our_own_and_new_in_the_conversation(stream: bool) -> None:
    """C06: a backend that calls all its calls the same confuses nobody."""
    both = reply(
        calls(call(0, "call_0", "get_weather", '{"city":"Oslo"}')), calls(call(1, "call_0", "get_time", "{}"))
    )
    async with client_of(CHAT, both) as client:
        answers = [await client.ask(tools=[tool(), tool("get_time")], stream=stream) for _ in range(2)]
        for each in answers:
            assert re.fullmatch(r"chatcmpl-[0-9a-f]{32}", each.body["id"])
        assert answers[0].body["id"] != answers[1].body["id"]
        ids = [made["id"] for each in answers for made in each.calls]
        assert all(OURS.fullmatch(each) for each in ids), ids
        assert len(set(ids)) == 4


async def test_ids_cannot_be_foretold() -> None:
    """C06: whoever has seen them all, and knows the state of every generator that has one, does not know the next."""
    state = random.getstate()

    async def told() -> list[str]:
        random.seed(7)
        async with client_of(CHAT, whole_call()) as client:
            answered = await client.ask(tools=[tool()])
            return [answered.body["id"], answered.calls[0]["id"]]

    try:
        first, second = await told(), await told()
    finally:
        random.setstate(state)
    assert not set(first) & set(second)


@streamed_or_whole
@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ({"city": "Oslo"}, '{"city":"Oslo"}'),
        ('{"city": "Oslo"}', '{"city": "Oslo"}'),
        ({}, "{}"),
        ("", "{}"),
        (None, "{}"),
        ([1], "[1]"),
        ('{"city":', '{"city":'),
        (5, "5"),
    ],
)
async def test_arguments_are_always_a_string(said: object, heard: str, stream: bool) -> None:
    """C06: whatever the backend makes of them, and broken ones as they are."""
    async with client_of(CHAT, whole_call(said)) as client:
        (made,) = (await client.ask(tools=[tool()], stream=stream)).calls
        assert made["function"]["arguments"] == heard


@streamed_or_whole
@pytest.mark.parametrize(
    "reason", ["stop", "tool_calls", "function_call", "length", "content_filter", "a new word"]
)
async def test_with_calls_the_reason_is_tool_calls(reason: str, stream: bool) -> None:
    """C06: whatever the backend says, as long as it has finished them. The reader sees that it stands in the last
    chunk, and null in all others."""
    said = b"".join((HEAD, calls(call(0, "a", "get_weather", '{"city":"Oslo"}')), finish(reason), DONE, END))
    async with client_of(CHAT, said) as client:
        told = await client.ask(tools=[tool()], stream=stream)
        assert told.choice["finish_reason"] == "tool_calls"


WRONG_SUM = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 99}
UNASKED = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": WRONG_SUM}


@pytest.mark.parametrize(
    "ending",
    [finish() + event({"choices": [], "usage": WRONG_SUM}), event(UNASKED)],
    ids=["apart", "with the reason"],
)
async def test_usage_is_the_sum_and_comes_before_done_when_it_is_asked_for(ending: bytes) -> None:
    """C06: the backend is asked for it in any case, for the tenant's count."""
    said = b"".join((HEAD, text("x"), ending, DONE, END))
    async with client_of(CHAT, said) as client:
        whole = await client.ask()
        plain = await client.ask(stream=True)
        asked = await client.ask(stream=True, stream_options={"include_usage": True})
        assert all(each.json["stream_options"] == {"include_usage": True} for each in client.received)
    assert all("usage" not in chunk for chunk in plain.chunks)
    *chunks, last = asked.chunks
    assert {str(chunk["usage"]) for chunk in chunks} == {"None"}
    assert last["choices"] == []
    for counted in (last["usage"], whole.body["usage"]):
        assert [counted[f"{kind}_tokens"] for kind in ("prompt", "completion", "total")] == [3, 5, 8]


# ── calls that are wrong, and calls that are right ──


@streamed_or_whole
@pytest.mark.parametrize("by", ["request", "tenant", "nobody"])
@pytest.mark.parametrize("code", WRONG)
async def test_a_wrong_call_is_an_error_where_calls_are_checked(code: str, by: str, stream: bool) -> None:
    """C07, C01: by the wish of the request or of the tenant. Nothing of the call is seen; unchecked it is passed on."""
    fields = {"request_options": {"validate_tool_arguments": True}} if by == "request" else {}
    tenants = CHECKED if by == "tenant" else {}
    async with client_of(CHAT, WRONG[code], tenants=tenants) as client:
        told = await client.ask({"Authorization": f"Bearer {KEY}"}, tools=[tool()], stream=stream, **fields)
        if by == "nobody":
            assert len(told.calls) == 1
            return
        assert told.code == code
        assert told.fault is not None
        assert told.fault["type"] == "semantic_error"
        assert "tool_calls" not in str(told.chunks)


async def test_a_right_call_passes_the_checks() -> None:
    """C07"""
    async with client_of(CHAT, whole_call()) as client:
        wish = {"validate_tool_arguments": True}
        assert len((await client.ask(tools=[tool()], request_options=wish)).calls) == 1


def advice(told: Told) -> list[str]:
    return [said for said in told.warnings if "runs no tools" in said]


async def test_a_whole_answer_with_calls_says_that_the_client_must_run_them() -> None:
    """C08: and no other answer does."""
    said = (whole_call(), whole_call(), reply(text("x")))
    async with client_of(CHAT, *said) as client:
        (told,) = advice(await client.ask(tools=[tool()]))
        assert "run each call" in told
        assert "send its result" in told
        assert advice(await client.ask(tools=[tool()], stream=True)) == []
        assert advice(await client.ask(tools=[tool()])) == []


async def test_the_old_form_is_told_so_in_its_own_words() -> None:
    """C08"""
    async with client_of(CHAT, whole_call()) as client:
        told = await client.ask(functions=[{"name": "get_weather", "parameters": CITY}])
        assert told.choice["message"]["function_call"]["name"] == "get_weather"
        (said,) = advice(told)
        assert "function_call" in said
