"""V22, V23, V26, V27, V35: servers that ignore a field are found out by their replies, those that refuse it by theirs.

Nothing that a model can be made to say costs anybody else anything.
"""

from typing import Any

import pytest

from tests.support.outcomes import CLOCK, WEATHER, told
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, answer, delta, finish, reply, text
from tests.support.two_tenants import TENANTS, shown_by

ANN, BOB = shown_by("ann"), shown_by("bob")
FORCED = {"type": "function", "name": "get_time"}
CALL = {"index": 0, "id": "c", "function": {"name": "get_time", "arguments": "{}"}}

UNCOUNTED = HEAD + text("Hello") + finish() + DONE + END
COUNTED = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8},
}


async def counts_when_whole(line: Line) -> None:
    while True:
        asked = await line.request()
        line.send(UNCOUNTED if asked.json["stream"] else answer(200, COUNTED))


async def usage_of(proxy: Proxy, **body: Any) -> Any:
    async with proxy.post({"model": "m", "input": "Hi"} | body) as response:
        assert response.status == 200
        return (await response.json())["usage"]


async def test_v26_usage_that_is_told_in_whole_answers_only_is_asked_for_so(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.plays(counts_when_whole)
    assert await usage_of(proxy) is None
    usage = await usage_of(proxy)
    assert (usage["input_tokens"], usage["output_tokens"]) == (3, 5)
    assert await told(proxy) == "completed | Hello"
    sent = [asked.json for asked in backend.received]
    assert [body["stream"] for body in sent] == [True, False, True]
    assert ["stream_options" in body for body in sent] == [True, False, True]
    (line,) = proxy.log.named("reply_learned")
    assert (line["model"], line["fields"], line["minutes"]) == ("m", {"usage_when_whole": True}, 10)


async def test_v26_a_whole_answer_that_does_not_come_is_given_up_as_a_stream_is(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"first_byte_seconds": 0.3})

    async def hangs(line: Line) -> None:
        while (await line.request()).json["stream"]:
            line.send(UNCOUNTED)
        await line.closed()

    backend.plays(hangs)
    assert await told(proxy, stream=False) == "completed | Hello"
    assert await told(proxy, stream=False) == "504 upstream_timeout"


@pytest.mark.parametrize("obeyed", ["object", "required"])
async def test_v27_v35_a_function_is_forced_in_the_way_that_the_server_heeds(
    obeyed: str, backend: ScriptedBackend, proxy: Proxy
) -> None:
    async def plays(line: Line) -> None:
        while True:
            asked = (await line.request()).json
            form = "object" if isinstance(asked["tool_choice"], dict) else asked["tool_choice"]
            line.send(reply(delta(tool_calls=[CALL])) if form == obeyed else reply(text("No.")))

    backend.plays(plays)
    first = "completed | get_time({})" if obeyed == "object" else "502 tool_call_required"
    for right in (first, "completed | get_time({})", "completed | get_time({})"):
        assert await told(proxy, tool_choice=FORCED, stream=False) == right
    named = {"type": "function", "function": {"name": "get_time"}}
    assert backend.received[0].json["tool_choice"] == named
    last = backend.received[-1].json
    assert last["tool_choice"] == (named if obeyed == "object" else "required")
    assert len(last["tools"]) == (2 if obeyed == "object" else 1)


@pytest.mark.parametrize("stream", [True, False])
async def test_v27_v35_where_several_may_be_called_all_are_declared_as_ever(
    stream: bool, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Whatever was learned of forcing one, and whatever a reply to this would seem to teach."""
    nothing, called = reply(text("No.")), reply(delta(tool_calls=[CALL]))
    backend.answers(nothing, nothing, called, called)
    for choice in ("required", FORCED, "required", FORCED):
        await told(proxy, tool_choice=choice, stream=stream)
    sent = [asked.json for asked in backend.received]
    assert [len(body["tools"]) for body in sent] == [2, 2, 2, 1]
    named = {"type": "function", "function": {"name": "get_time"}}
    assert [body["tool_choice"] for body in sent] == ["required", named, "required", "required"]


async def test_v27_a_call_that_is_kept_from_the_client_has_been_made(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """And one of which nothing was said yet when the reply was cut could still have been."""
    wrong = CALL | {"function": {"name": "get_time", "arguments": "5"}}
    cut = b"".join((HEAD, text("Well"), finish("length"), DONE, END))
    backend.answers(reply(delta(tool_calls=[wrong])), cut, reply(delta(tool_calls=[CALL])))
    ask: Any = {"tool_choice": FORCED, "request_options": {"validate_tool_arguments": True}, "stream": False}
    assert await told(proxy, **ask) == "502 malformed_tool_arguments"
    assert await told(proxy, **ask) == "incomplete max_output_tokens | Well…"
    assert await told(proxy, **ask) == "completed | get_time({})"
    assert all(isinstance(asked.json["tool_choice"], dict) for asked in backend.received)
    assert proxy.log.named("reply_learned") == []


async def test_v27_a_model_that_was_made_to_call_nothing_teaches_nobody_else(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(tenants=TENANTS)
    backend.answers(reply(text("No.")))
    assert await told(proxy, ANN, tool_choice=FORCED, stream=False) == "502 tool_call_required"
    backend.answers(reply(delta(tool_calls=[CALL])))
    await told(proxy, BOB, tool_choice=FORCED)
    assert isinstance(backend.received[-1].json["tool_choice"], dict)


async def test_v23_one_call_at_a_time_is_asked_for_until_it_is_refused(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    refusal = answer(400, {"error": {"message": "parallel_tool_calls is not supported by this model."}})
    backend.answers(refusal, reply(text("Hello")))
    for _ in range(2):
        assert await told(proxy, parallel_tool_calls=False) == "completed | Hello"
    sent = [asked.json.get("parallel_tool_calls") for asked in backend.received]
    assert sent == [False, None, None]


STRICT = {
    "type": "function",
    "name": "get_time",
    "strict": True,
    "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
}


@pytest.mark.parametrize("profile", ["openai", "azure", "vllm", "sglang", "xai", "groq", "mistral"])
async def test_v22_a_strict_tool_is_told_as_one_where_the_word_is_known(
    profile: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"profile": profile})
    backend.answers(
        answer(400, {"error": {"message": "tools.0.function.strict: this field is not supported"}}),
        reply(text("Hello")),
    )
    for _ in range(2):
        assert await told(proxy, tools=[STRICT, WEATHER]) == "completed | Hello"
    sent = [[tool["function"].get("strict") for tool in asked.json["tools"]] for asked in backend.received]
    assert sent == [[True, None], [None, None], [None, None]]


async def test_v22_elsewhere_the_word_is_left_out(backend: ScriptedBackend, proxy: Proxy) -> None:
    await told(proxy, tools=[STRICT, CLOCK | {"name": "other"}])
    assert "strict" not in backend.received[0].json["tools"][0]["function"]


@pytest.mark.parametrize(
    ("strict", "profile", "remarks"),
    [
        ({"strict": True}, "default", 1),
        ({"strict": False}, "default", 0),
        ({}, "default", 0),
        ({"strict": None}, "default", 0),
        ({"strict": True}, "openai", 0),
    ],
)
async def test_v22_what_a_backend_is_not_told_is_looked_at_here(
    strict: dict[str, Any], profile: str, remarks: int, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """The client has said it itself: that a schema is strict by default does not count."""
    proxy = await start_proxy(backend={"profile": profile})
    wrong = CALL | {"function": {"name": "get_time", "arguments": '{"zone":1}'}}
    backend.answers(reply(delta(tool_calls=[wrong])))
    clock = {key: value for key, value in STRICT.items() if key != "strict"} | strict
    assert await warned(proxy, tools=[clock]) == remarks


async def test_v22_and_where_it_has_refused_to_be_told(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"profile": "openai"})
    wrong = CALL | {"function": {"name": "get_time", "arguments": '{"zone":1}'}}
    refusal = answer(400, {"error": {"message": "tools.0.function.strict: this field is not supported"}})
    backend.answers(refusal, reply(delta(tool_calls=[wrong])))
    await warned(proxy, tools=[STRICT])
    assert await warned(proxy, tools=[STRICT]) == 1


async def warned(proxy: Proxy, **body: Any) -> int:
    """How often the answer, which is whole, says that a call is wrong."""
    async with proxy.post({"model": "m", "input": "Hi"} | body) as response:
        said = await response.json()
        assert (response.status, said["status"]) == (200, "completed")
        assert [item["type"] for item in said["output"]] == ["function_call"]
        return sum("is wrong" in each for each in said.get("_proxy", {}).get("warnings", ()))
