"""P01, P04: what each provider is sent for tools, choices, calls and results, spelled out in its own words; and what
comes back of its calls. The matrix reads requests for their meaning; here is their form.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.contract.cases import CASES, TOOLS, Ask, Tool
from tests.contract.tenancy import SOCKET, Way, every_backend, every_way, says, talking
from tests.scripted.say import Say

Json = dict[str, Any]
SPOKEN = Say(text="Well.")
CALLED = Say(calls=CASES["parallel_calls"].rounds[0].says.calls[:1])


def in_chat(tool: Tool) -> Json:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }


def in_anthropic(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def in_google(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}


def in_responses(tool: Tool) -> Json:
    said = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "strict": False, **said}


DEFINITIONS = {
    "chat": [in_chat(tool) for tool in TOOLS.tools],
    "anthropic": [in_anthropic(tool) for tool in TOOLS.tools],
    "google": [{"functionDeclarations": [in_google(tool) for tool in TOOLS.tools]}],
    "responses": [in_responses(tool) for tool in TOOLS.tools],
}


@every_way
@every_backend
async def test_the_definition_of_a_tool(way: Way, backend_name: str) -> None:
    """P01: name, description and parameters, each in its place."""
    async with talking(way, backend_name, TOOLS, [SPOKEN], {}) as (talk, url, provider):
        await talk.round(url, replace(CASES["text"].rounds[0], says=SPOKEN))
        assert provider.last.body["tools"] == DEFINITIONS[backend_name]


def calling(mode: str, *names: str) -> Json:
    config = {"mode": mode} | ({"allowedFunctionNames": [*names]} if names else {})
    return {"toolConfig": {"functionCallingConfig": config}}


FUNCTION = {"type": "function", "function": {"name": "get_weather"}}
CHOICES: Mapping[str, Mapping[str | None, Json]] = {
    "chat": {
        None: {},
        "none": {"tool_choice": "none"},
        "required": {"tool_choice": "required"},
        "get_weather": {"tool_choice": FUNCTION},
    },
    "anthropic": {
        None: {},
        "none": {"tool_choice": {"type": "none"}},
        "required": {"tool_choice": {"type": "any"}},
        "get_weather": {"tool_choice": {"type": "tool", "name": "get_weather"}},
    },
    "google": {
        None: calling("AUTO"),
        "none": calling("NONE"),
        "required": calling("ANY"),
        "get_weather": calling("ANY", "get_weather"),
    },
    "responses": {
        None: {},
        "none": {"tool_choice": "none"},
        "required": {"tool_choice": "required"},
        "get_weather": {"tool_choice": {"type": "function", "name": "get_weather"}},
    },
}
"""`auto` is what is done anyway, and said where it is a mode among others."""


@every_way
@every_backend
@pytest.mark.parametrize("choice", [None, "none", "required", "get_weather"])
async def test_the_choice_of_a_tool(way: Way, backend_name: str, choice: str | None) -> None:
    """P01, and P02 for Gemini: its modes are used, none of them is called unsupported."""
    ask, say = replace(TOOLS, choice=choice), SPOKEN if choice == "none" else CALLED
    async with talking(way, backend_name, ask, [say], {}) as (talk, url, provider):
        await talk.round(url, replace(CASES["text"].rounds[0], says=say))
        body = provider.last.body
        told = {name: body[name] for name in ("tool_choice", "toolConfig") if name in body}
        assert told == CHOICES[backend_name][choice]


def chat_history(body: Json) -> list[Any]:
    _, said, *results = body["messages"]
    assert said["role"] == "assistant"
    calls = [
        (call["id"], call["type"], call["function"]["name"], call["function"]["arguments"])
        for call in said["tool_calls"]
    ]
    return [calls, [(each["role"], each["tool_call_id"], each["content"]) for each in results]]


def anthropic_history(body: Json) -> list[Any]:
    _, said, told = body["messages"]
    assert (said["role"], told["role"]) == ("assistant", "user")
    calls = [(block["id"], block["type"], block["name"], block["input"]) for block in said["content"]]
    return [calls, [(block["type"], block["tool_use_id"], block["content"]) for block in told["content"]]]


def google_history(body: Json) -> list[Any]:
    _, said, told = body["contents"]
    assert (said["role"], told["role"]) == ("model", "user")
    calls = [part["functionCall"] for part in said["parts"]]
    results = [part["functionResponse"] for part in told["parts"]]
    return [
        [(call["id"], "functionCall", call["name"], call["args"]) for call in calls],
        [(each["name"], each["id"], each["response"]) for each in results],
    ]


def responses_history(body: Json) -> list[Any]:
    _, *said = body["input"]
    calls = [
        (item["call_id"], item["type"], item["name"], item["arguments"]) for item in said if "name" in item
    ]
    results = [item for item in said if "output" in item]
    assert len(calls) + len(results) == len(said)
    return [calls, [(item["type"], item["call_id"], item["output"]) for item in results]]


ARGUMENTS = {"city": "Oslo", "why": 'quotes " and ünïcode'}
WRITTEN = '{"city":"Oslo","why":"quotes \\" and ünïcode"}'
HISTORIES = {
    "chat": (
        chat_history,
        [("function", "get_weather", WRITTEN), ("function", "get_time", "{}")],
        [("tool", '{"degrees":-4}'), ("tool", "noon")],
    ),
    "anthropic": (
        anthropic_history,
        [("tool_use", "get_weather", ARGUMENTS), ("tool_use", "get_time", {})],
        [("tool_result", '{"degrees":-4}'), ("tool_result", "noon")],
    ),
    "google": (
        google_history,
        [("functionCall", "get_weather", ARGUMENTS), ("functionCall", "get_time", {})],
        [("get_weather", {"output": {"degrees": -4}}), ("get_time", {"output": "noon"})],
    ),
    "responses": (
        responses_history,
        [("function_call", "get_weather", WRITTEN), ("function_call", "get_time", "{}")],
        [("function_call_output", '{"degrees":-4}'), ("function_call_output", "noon")],
    ),
}


@every_way
@every_backend
async def test_calls_come_back_and_their_results_follow(way: Way, backend_name: str) -> None:
    """P01: the provider's form becomes the surface's, with an id for each call and arguments that are JSON; both go
    back in the provider's, where the results stand in the order of the calls whatever order they came in."""
    read, calls, results = HISTORIES[backend_name]
    case = CASES["parallel_calls"]
    async with talking(way, backend_name, case.ask, says(case), {}) as (talk, url, provider):
        answer = await talk.round(url, case.rounds[0])
        assert answer.outcome.calls == (("get_weather", ARGUMENTS), ("get_time", {}))
        ids = [call_id for call_id, _ in answer.calls]
        assert len({*ids}) == 2
        if way[0] in ("responses", SOCKET):  # the others have ids of the proxy's own
            assert ids == [call.id for call in case.rounds[0].says.calls]
        await talk.round(url, case.rounds[1])
        told_calls, told_results = read(provider.last.body)
    assert [(kind, name, said) for _, kind, name, said in told_calls] == calls
    assert [(kind, said) for kind, _, said in told_results] == results
    assert [call_id for _, call_id, _ in told_results] == [call_id for call_id, *_ in told_calls]


@every_way
@every_backend
@pytest.mark.parametrize("tools", [[], None], ids=["empty", "null"])
async def test_no_tools_is_no_tool_calling(way: Way, backend_name: str, tools: list[Any] | None) -> None:
    """P04: nothing is said of tools then, a choice among them included."""
    async with talking(way, backend_name, Ask(), [SPOKEN], {}) as (talk, url, provider):
        talk.body |= {"tools": tools, "tool_choice": "auto", "parallel_tool_calls": False}
        answer = await talk.round(url, replace(CASES["text"].rounds[0], says=SPOKEN))
        assert answer.outcome.text == "Well."
        assert [name for name in provider.last.body if "tool" in name.lower()] == []


RESULTS: Mapping[str, tuple[str, str, Any, str, Any]] = {
    "responses": ("input", "output", [{"type": "input_text", "text": "-4"}], "-4", "-4"),
    "chat": ("messages", "content", [{"type": "text", "text": "[1, null]"}], "[1, null]", "[1, null]"),
    "native": ("messages", "content", {"é": [1.5, None]}, '{"é":[1.5,null]}', {"é": [1.5, None]}),
}
"""Where a surface has a result, one that is no string there, the string that it is, and what Gemini gets."""


@pytest.mark.parametrize("surface_name", RESULTS)
@every_backend
async def test_a_result_is_a_string_for_the_backend(surface_name: str, backend_name: str) -> None:
    """P09: whatever form it had. Only Gemini's own form has objects, and is given them."""
    case = CASES["two_turn_loop"]
    turns, field, value, text, for_gemini = RESULTS[surface_name]
    async with talking((surface_name, False), backend_name, case.ask, says(case), {}) as (
        talk,
        url,
        provider,
    ):
        await talk.round(url, case.rounds[0])
        talk.body[turns][-1][field] = value
        await talk.round(url, case.rounds[1])
        body = provider.last.body
    match backend_name:
        case "chat":
            told, wanted = body["messages"][-1]["content"], text
        case "anthropic":
            told, wanted = body["messages"][-1]["content"][0]["content"], text
        case "responses":
            told, wanted = body["input"][-1]["output"], text
        case _:
            told, wanted = (
                body["contents"][-1]["parts"][0]["functionResponse"]["response"],
                {"output": for_gemini},
            )
    assert told == wanted


HOSTED = (
    {"type": "web_search"},
    {"type": "code_interpreter", "container": {"type": "auto"}},
    {"type": "file_search", "vector_store_ids": ["v"]},
    {"type": "mcp", "server_label": "s", "server_url": "https://example.com"},
    {"type": "image_generation"},
)


@every_backend
async def test_what_a_server_would_run_is_handed_to_no_other_server(backend_name: str) -> None:
    """P03: neither the proxy runs a tool, nor its provider, though some have tools of their own by these names."""
    async with talking(("responses", False), backend_name, Ask(), [SPOKEN], {}) as (talk, url, provider):
        talk.body["tools"] = [*HOSTED]
        assert (await talk.round(url, replace(CASES["text"].rounds[0], says=SPOKEN))).outcome.text == "Well."
        assert [name for name in provider.last.body if "tool" in name.lower()] == []
