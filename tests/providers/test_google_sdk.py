"""Google's own SDK as the judge of both sides: of what the scripted Gemini says, and of what is asked of a real one.

Its types refuse unknown fields when they validate, in either spelling, which its client does not.
"""

from base64 import b64decode, urlsafe_b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from proxy.core import jsontext
from proxy.core.model import (
    Audio,
    ChoiceMode,
    File,
    FormatKind,
    Image,
    OutputFormat,
    ReasoningWish,
    Result,
    Sampling,
    ToolChoice,
    ToolName,
)
from tests.scripted import google as gemini
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import Scripted, serving
from tests.support.chat_requests import assistant, call, developer, result, system, tool, user
from tests.support.google_requests import NEW, OLD, body_of, google, signed, tool_spec

pytestmark = pytest.mark.filterwarnings(
    "ignore:Inheritance class AiohttpClientSession:DeprecationWarning"  # the SDK's own, each time it connects
)

PNG = "data:image/png;base64,iVBORw0KGgo="
SIGNATURE = "c2lnbmVk"
CALLS = (SayCall("c1", "get_weather", {"city": "Oslo"}), SayCall("c2", "now", {}))
SAYS = {
    "text": Say(text="Hello"),
    "signed text": Say(thinking="Hm", signature=SIGNATURE, text="Hello"),
    "one call": Say(calls=CALLS[:1]),
    "two calls": Say(thinking="Both?", signature=SIGNATURE, text="Both.", calls=CALLS),
    "arguments as text": Say(calls=[SayCall("c1", "f", '{"a":[1,2.5]}')]),
    "cut short": Say(text="Hel", finish="length"),
    "filtered": Say(text="Hel", finish="filter"),
    "refused": Say(text="Hel", finish="refusal", refusal="No."),
    "blocked": Say(finish="refusal", refusal="No."),
    "blocked in silence": Say(finish="refusal"),
}


# ── what the scripted server says ──


@pytest.mark.parametrize("name", SAYS)
def test_every_chunk_is_one_that_the_sdk_knows(name: str) -> None:
    say = SAYS[name]
    for event in gemini.stream(say):
        types.GenerateContentResponse.model_validate(jsontext.strict(event.removeprefix(b"data: ")))
    types.GenerateContentResponse.model_validate(gemini.body(say))


def test_the_list_of_models_is_one_that_the_sdk_knows() -> None:
    for entry in gemini.MODELS["models"]:
        assert types.Model.model_validate(_without(entry, "supportedGenerationMethods", "thinking"))


@asynccontextmanager
async def talking(*answers: Say) -> AsyncIterator[tuple[genai.Client, Scripted]]:
    async with serving(gemini.provider(), *answers) as backend:
        client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=backend.url))
        try:
            yield client, backend
        finally:
            await client.aio.aclose()
            client.close()


def wishes(**more: Any) -> types.GenerateContentConfig:
    manual = types.AutomaticFunctionCallingConfig(disable=True)
    return types.GenerateContentConfig(automatic_function_calling=manual, **more)


@pytest.mark.parametrize("name", SAYS)
async def test_the_sdk_reads_the_same_from_the_stream_and_from_the_whole(name: str) -> None:
    say = SAYS[name]
    async with talking(say, say) as (client, _):
        stream = await client.aio.models.generate_content_stream(model=NEW, contents="Hi", config=wishes())
        chunks = [chunk async for chunk in stream]
        whole = await client.aio.models.generate_content(model=NEW, contents="Hi", config=wishes())
    assert _understood(chunks) == _understood([whole])
    thought, text, calls, signatures, finish = _understood(chunks)
    assert (thought, text) == (say.thinking, say.text)
    assert [(one.id, one.name) for one in calls] == [(one.id, one.name) for one in say.calls]
    assert signatures == ([b64decode(SIGNATURE)] if say.signature else [])
    assert finish == (None if name.startswith("blocked") else gemini.WORDS[say.finish])
    assert chunks[-1].usage_metadata is not None


def _understood(chunks: list[types.GenerateContentResponse]) -> tuple[Any, ...]:
    candidates = [chunk.candidates[0] for chunk in chunks if chunk.candidates]
    parts = [part for one in candidates if one.content for part in one.content.parts or ()]
    return (
        "".join(part.text or "" for part in parts if part.thought),
        "".join(part.text or "" for part in parts if not part.thought),
        [part.function_call for part in parts if part.function_call],
        [part.thought_signature for part in parts if part.thought_signature],
        candidates[-1].finish_reason.value if candidates and candidates[-1].finish_reason else None,
    )


async def test_an_error_is_one_to_the_sdk_before_the_stream_and_in_it() -> None:
    refused = Say(status=429, refusal="Slow down.")
    broken = Say(text="Hel", error_midway="It broke.")
    async with talking(refused, broken) as (client, _):
        with pytest.raises(errors.ClientError) as before:
            await client.aio.models.generate_content(model=NEW, contents="Hi", config=wishes())
        stream = await client.aio.models.generate_content_stream(model=NEW, contents="Hi", config=wishes())
        with pytest.raises(errors.ServerError) as inside:
            [chunk async for chunk in stream]
    assert (before.value.status, before.value.message) == ("RESOURCE_EXHAUSTED", "Slow down.")
    assert (inside.value.status, inside.value.message) == ("INTERNAL", "It broke.")


async def test_the_sdks_own_requests_pass_the_rules() -> None:
    """Mixed spelling, as it sends it; and a second turn made of what it was given."""
    declared = types.FunctionDeclaration(
        name="f", parameters_json_schema={"type": "object", "properties": {}}
    )
    config = wishes(
        system_instruction="Be brief.",
        temperature=0.5,
        tools=[types.Tool(function_declarations=[declared])],
        tool_config=types.ToolConfig(
            function_calling_config=types.FunctionCallingConfig(mode="ANY", allowed_function_names=["f"])
        ),
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_level="LOW"),
        stop_sequences=["x"],
    )
    say = Say(signature=SIGNATURE, calls=[SayCall("c1", "f", {})])
    async with talking(say, SAYS["text"]) as (client, backend):
        first = await client.aio.models.generate_content(model=NEW, contents="Hi", config=config)
        answer = types.Part(
            function_response=types.FunctionResponse(id="c1", name="f", response={"output": "ok"})
        )
        second = await client.aio.models.generate_content(
            model=NEW,
            contents=[
                types.Content(role="user", parts=[types.Part(text="Hi")]),
                first.candidates[0].content,
                types.Content(role="user", parts=[answer]),
            ],
            config=config,
        )
    assert second.text == "Hello"
    assert len(backend.requests) == 2


# ── what is asked of the real one ──

LOOP = (
    system("Be brief."),
    user("Hi"),
    assistant(signed(), call("a", "f", '{"x":[1,{"y":null}]}'), call("b", "g")),
    tool(result("a", '{"ok":true}'), Result("b", ["no"], is_error=True)),
    assistant(signed("dGV4dA==", "text"), "Done.", signed("ZW5k", "end")),
    developer("Now in French."),
    user("And?"),
)
NESTED = {
    "type": "object",
    "properties": {
        "where": {"type": "object", "properties": {"city": {"type": "string", "description": "A city."}}},
        "days": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 7}},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "note": {"type": ["string", "null"]},
    },
    "required": ["where"],
}
TOOLS = [tool_spec("f", description="Does.", parameters=NESTED, strict=True), tool_spec("g"), tool_spec("3d")]
REQUESTS: dict[str, dict[str, Any]] = {
    "least": {},
    "loop": {"turns": LOOP, "tools": TOOLS},
    "loop on the second generation": {"turns": LOOP, "tools": TOOLS, "model": OLD},
    "loop without its signatures": {"turns": LOOP, "tools": TOOLS, "on": google(signed_calls=False)},
    "older schemas": {"tools": TOOLS, "on": google(schema=frozenset({"plain", "google_proto"}))},
    "none": {"tools": TOOLS, "choice": ToolChoice(ChoiceMode.NONE)},
    "required": {"tools": TOOLS, "choice": ToolChoice(ChoiceMode.REQUIRED)},
    "forced": {
        "tools": TOOLS,
        "choice": ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("3d")})),
    },
    "media": {
        "turns": (
            user("See", Image(PNG), Image("https://x/a.png"), Audio("UklGRg==", "wav")),
            assistant(call()),
            tool(result("c1", "see", Image(PNG), File("a.gif", "data:image/gif;base64,R0lGODlh"))),
        )
    },
    "tuning": {"sampling": Sampling(0.5, 0.9, 0.1, 0.2, 7, ["a"], 100, True, 3)},
    "level": {"reasoning": ReasoningWish("minimal", "auto")},
    "budget": {"reasoning": ReasoningWish("high", "auto"), "model": OLD},
    "schema": {"format": OutputFormat(FormatKind.JSON_SCHEMA, "a", NESTED), "tools": TOOLS},
    "schema as words": {
        "format": OutputFormat(FormatKind.JSON_SCHEMA, "a", NESTED),
        "tools": TOOLS,
        "model": OLD,
    },
    "older schema": {
        "format": OutputFormat(FormatKind.JSON_SCHEMA, "a", NESTED),
        "on": google(schema=frozenset({"plain", "google_proto"})),
    },
    "any object": {"format": OutputFormat(FormatKind.JSON_OBJECT)},
}
SHAPES: dict[str, type] = {
    "contents": types.Content,
    "systemInstruction": types.Content,
    "tools": types.Tool,
    "toolConfig": types.ToolConfig,
    "generationConfig": types.GenerationConfig,
}


@pytest.mark.parametrize("name", REQUESTS)
def test_what_we_ask_is_made_of_the_sdks_own_types(name: str) -> None:
    asked = dict(REQUESTS[name])
    body = body_of(*asked.pop("turns", ()), **asked)
    assert body.keys() <= SHAPES.keys()
    for field, value in body.items():
        for one in value if isinstance(value, list) else [value]:
            validated = SHAPES[field].model_validate(one)
            if field == "contents":
                assert _signatures(one) == [part.thought_signature for part in validated.parts]


def _signatures(content: dict[str, Any]) -> list[bytes | None]:
    """As bytes, which they are to the SDK."""
    said = [part.get("thoughtSignature") for part in content["parts"]]
    return [None if one is None else urlsafe_b64decode(one) for one in said]


def _without(entry: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in names}
