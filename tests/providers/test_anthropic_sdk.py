"""Anthropic's own SDK as the judge: it reads what the scripted server says, and knows every field that we send."""

import types
import typing
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Union, get_args, get_origin

import anthropic
import pytest
import typing_extensions
from anthropic.types import Message, MessageTokensCount, RawMessageStreamEvent
from anthropic.types.beta import message_create_params as beta_params
from anthropic.types.message_count_tokens_params import MessageCountTokensParams
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import TypeAdapter

from proxy.core import jsontext
from proxy.core.dialects.anthropic import counting
from proxy.core.dialects.anthropic import lessons as anthropic_lessons
from proxy.core.dialects.reading import lessons
from proxy.core.model import (
    ChoiceMode,
    File,
    FormatKind,
    Image,
    OutputFormat,
    ReasoningWish,
    Result,
    Sampling,
    ToolChoice,
    ToolKind,
    ToolName,
    ToolSpec,
)
from tests.scripted.anthropic import PROVIDER, check_body, stream
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import in_halves, serving
from tests.support.anthropic_requests import ANTHROPIC, body_of, on, reasoning, thought
from tests.support.chat_requests import assistant, call, developer, result, system, tool, user
from tests.support.tables import table

Json = dict[str, Any]

# ── the scripted server ──

WEATHER = SayCall("toolu_1", "get_weather", {"city": "Oslo"})
NOW = SayCall("toolu_2", "now", {})
SAYS = {
    "text": Say(text="Hello"),
    "thinking": Say(thinking="Hm, well.", signature="U0lH", text="Hello"),
    "proof alone": Say(signature="U0lH", text="Hello"),
    "one call": Say(calls=[WEATHER]),
    "all": Say(thinking="Hm.", signature="U0lH", text="Both.", calls=[WEATHER, NOW], usage=(90, 30)),
    "length": Say(text="Hel", finish="length"),
    "filter": Say(text="Hel", finish="filter"),
    "refusal": Say(text="Hel", finish="refusal", refusal="Because."),
}
REASONS = {"length": "max_tokens", "filter": "refusal", "refusal": "refusal"}
ASKED: Json = {
    "model": "claude-opus-5-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
}


@asynccontextmanager
async def client(*answers: Say) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with (
        serving(PROVIDER, *answers, pieces=in_halves) as backend,
        anthropic.AsyncAnthropic(api_key="k", base_url=backend.url, max_retries=0) as sdk,
    ):
        yield sdk


def means(message: Message, say: Say) -> None:
    calls = [block for block in message.content if block.type == "tool_use"]
    thoughts = [block for block in message.content if block.type == "thinking"]
    assert "".join(block.text for block in message.content if block.type == "text") == say.text
    assert [(each.id, each.name, each.input) for each in calls] == [
        (each.id, each.name, each.arguments) for each in say.calls
    ]
    assert [(each.thinking, each.signature) for each in thoughts] == (
        [(say.thinking, say.signature)] if say.signature else []
    )
    assert message.stop_reason == REASONS.get(say.finish, "tool_use" if say.calls else "end_turn")
    assert (message.usage.input_tokens, message.usage.output_tokens) == say.usage
    if say.refusal:
        assert message.stop_details is not None
        assert message.stop_details.explanation == say.refusal


@table("say", SAYS.values(), ids=SAYS)
def test_every_event_is_one_that_the_sdk_knows(say: Say) -> None:
    """Strictly, by its types; only a ping is none of them."""
    known: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    for frame in stream(say):
        name, data = frame.decode().rstrip("\n").split("\n")
        event = jsontext.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        if event["type"] != "ping":
            known.validate_python(event)


@pytest.mark.parametrize("say", SAYS.values(), ids=SAYS)
async def test_the_sdk_hears_what_the_script_says(say: Say) -> None:
    async with client(say, say) as sdk:
        async with sdk.messages.stream(**ASKED) as streamed:
            means(await streamed.get_final_message(), say)
        means(await sdk.messages.create(**ASKED), say)


async def test_the_sdk_hears_errors() -> None:
    midway = Say(text="Hel", error_midway="Boom")
    async with client(midway, Say(status=529, refusal="Later."), Say(status=429, refusal="Slower.")) as sdk:
        with pytest.raises(anthropic.APIStatusError, match="Boom") as failed:
            async with sdk.messages.stream(**ASKED) as streamed:
                await streamed.get_final_message()
        assert failed.value.type == "api_error"
        with pytest.raises(anthropic.APIStatusError, match=r"Later\.") as overloaded:
            await sdk.messages.create(**ASKED)
        assert overloaded.value.status_code == 529
        with pytest.raises(anthropic.RateLimitError, match=r"Slower\."):
            await sdk.messages.create(**ASKED)


# ── our requests ──

PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,JVBERi0="
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Oslo", "Rome"]}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [
    ToolSpec(ToolName("f"), description="Does f.", parameters=SCHEMA, strict=True),
    ToolSpec(ToolName("g", "ns")),
    ToolSpec(ToolName("patch"), ToolKind.CUSTOM, description="Edits."),
]
FORCED = ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("f")}))
HISTORY = (
    system("S"),
    user("A", Image(PNG), Image("https://x/y.png"), File("a.pdf", data=PDF), File(url="https://x/a.pdf")),
    developer("B"),
    assistant(
        reasoning(thought(), {"type": "redacted_thinking", "data": "RU5D"}), "C", call("x.1"), call("c2")
    ),
    tool(Result("x.1", ["no", Image(PNG)], is_error=True), result("c2", "ok", Image(PNG))),
    user(File("a.txt", data="data:text/plain,Hi"), File(id="file_1")),
)
REQUESTS: dict[str, Json] = {
    "plain": {},
    "history": {"turns": HISTORY, "tools": TOOLS},
    "history of another model": {"turns": HISTORY, "tools": TOOLS, "model": "claude-sonnet-4-5"},
    "foreign": {"turns": HISTORY, "tools": TOOLS, "model": "kimi-k2", "choice": FORCED},
    "forced": {"tools": TOOLS, "choice": FORCED, "model": "claude-opus-5", "parallel_calls": False},
    "forced in words": {"tools": TOOLS, "choice": FORCED},
    "required": {"tools": TOOLS, "choice": ToolChoice(ChoiceMode.REQUIRED), "model": "claude-sonnet-4-6"},
    "none": {"tools": TOOLS, "choice": ToolChoice(ChoiceMode.NONE)},
    "one at a time": {"tools": TOOLS, "parallel_calls": False},
    "form": {"format": OutputFormat(FormatKind.JSON_SCHEMA, "n", SCHEMA), "tools": TOOLS},
    "any object": {"format": OutputFormat(FormatKind.JSON_OBJECT)},
    "between tools": {"model": "claude-sonnet-5-5", "reasoning": ReasoningWish("none")},
    "disabled": {"model": "claude-haiku-5-5", "reasoning": ReasoningWish("none")},
    "budget": {"model": "claude-sonnet-4-5", "reasoning": ReasoningWish("high")},
    **{
        f"effort {word}": {"reasoning": ReasoningWish(word)}
        for word in ("none", "minimal", "low", "high", "max")
    },
    "tuned": {
        "model": "claude-sonnet-4-6",
        "sampling": Sampling(temperature=1.5, top_p=0.5, stop=["x"], max_tokens=5, seed=1),
    },
    "top_p": {"model": "claude-sonnet-4-5", "sampling": Sampling(top_p=0.5)},
    "orphans": {"turns": HISTORY, "profile": on(orphan_tools="declare")},
}

OLDER = {"body.temperature", "body.top_p"}
"""Known to the version of the API that we ask for and to older models, but not to this SDK any more."""


@table("how", REQUESTS.values(), ids=REQUESTS)
def test_every_request_is_one_that_the_sdk_could_send(how: Json) -> None:
    """P01, P11: by its types, and without a key that they do not have."""
    how = dict(how)
    body = body_of(*how.pop("turns", ()), **how)
    adapter: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsStreaming)  # must outlive the lazy lists
    consume(adapter.validate_python(body))
    assert set(unknown(body, MessageCreateParamsStreaming)) <= OLDER


def test_the_version_that_the_sdk_is_made_for_has_no_sampling() -> None:
    """Configured, it gets no field that it would refuse."""
    newer = on(headers={"anthropic-version": "2026-10-21"})
    body = body_of(profile=newer, **REQUESTS["tuned"])
    assert not list(unknown(body, MessageCreateParamsStreaming))


def test_a_request_that_learned_of_the_binding_is_one_of_the_beta() -> None:
    lesson = lessons.learn(
        anthropic_lessons.LESSONS, ANTHROPIC, "The block is bound to a different conversation"
    )
    assert lesson is not None
    body = body_of(*HISTORY, tools=TOOLS, profile=lesson.profile)
    params = beta_params.MessageCreateParamsStreaming
    adapter: TypeAdapter[Any] = TypeAdapter(params)
    consume(adapter.validate_python(body))
    assert not list(unknown(body, params))


def consume(value: Any) -> None:
    """The SDK's lists are read lazily, and check nothing until they are."""
    if isinstance(value, Mapping):
        for inner in value.values():
            consume(inner)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for inner in value:
            consume(inner)


UNIONS = (Union, types.UnionType)
WRAPPERS = (typing.Annotated, typing_extensions.Required, typing_extensions.NotRequired, typing.Required)


def unknown(value: Any, kind: Any, path: str = "body") -> Iterable[str]:
    """The keys of a value that its type does not have, anywhere inside it."""
    while get_origin(kind) in WRAPPERS:
        kind = get_args(kind)[0]
    if get_origin(kind) in UNIONS:
        found = [list(unknown(value, each, path)) for each in get_args(kind) if _may_be(value, each)]
        yield from min(found, key=len, default=[])
    elif isinstance(value, list) and get_args(kind):
        for index, inner in enumerate(value):
            yield from unknown(inner, get_args(kind)[0], f"{path}[{index}]")
    elif isinstance(value, dict) and typing_extensions.is_typeddict(kind):
        fields = typing_extensions.get_type_hints(kind, include_extras=True)
        for name, inner in value.items():
            if name in fields:
                yield from unknown(inner, fields[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}"


def _may_be(value: Any, kind: Any) -> bool:
    """Is this member of a union of the value's shape, and does it say the same of its type and role?"""
    if not isinstance(value, dict):
        return isinstance(value, list) is (get_origin(kind) not in (None, dict, typing.Literal))
    if not typing_extensions.is_typeddict(kind):
        return get_origin(kind) in (dict, *UNIONS)
    fields = typing_extensions.get_type_hints(kind)
    told = [(value[name], fields[name]) for name in ("type", "role") if name in value and name in fields]
    return all(word in get_args(of) for word, of in told if get_origin(of) is typing.Literal)


def test_the_check_for_unknown_keys_finds_them() -> None:
    body = body_of(*HISTORY, tools=TOOLS)
    body["n"] = 1
    body["thinking"]["effort"] = "low"
    body["messages"][0]["content"][1]["source"]["detail"] = "low"
    body["messages"][2]["content"][3]["arguments"] = "{}"
    body["tools"][0]["parameters"] = {}
    assert sorted(unknown(body, MessageCreateParamsStreaming)) == [
        "body.messages[0].content[1].source.detail",
        "body.messages[2].content[3].arguments",
        "body.n",
        "body.thinking.effort",
        "body.tools[0].parameters",
    ]


# ── the strict server's own rules ──


def broken(**changes: Any) -> Json:
    return ASKED | changes


TEXT = {"type": "text", "text": "A"}
USE = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
ANSWER = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
TOOL = {"name": "f", "input_schema": {"type": "object"}}


def talk(*messages: tuple[str, list[Json]]) -> list[Json]:
    return [{"role": role, "content": content} for role, content in messages]


@table(
    ("words", "body"),
    [
        ("first message", broken(messages=talk(("assistant", [TEXT]), ("user", [TEXT])))),
        ("roles must alternate", broken(messages=talk(("user", [TEXT]), ("user", [TEXT])))),
        ("prefill", broken(messages=talk(("user", [TEXT]), ("assistant", [TEXT])))),
        ("non-empty", broken(messages=talk(("user", [TEXT | {"text": " "}])))),
        ("non-empty content", broken(messages=talk(("user", [])))),
        (
            "misplaced role system",
            broken(messages=talk(("user", [TEXT]), ("system", [TEXT]), ("user", [TEXT]))),
        ),
        (
            "without tool_result",
            broken(messages=talk(("user", [TEXT]), ("assistant", [USE]), ("user", [TEXT]))),
        ),
        ("unexpected tool_use_id", broken(messages=talk(("user", [ANSWER])))),
        (
            "must come first",
            broken(messages=talk(("user", [TEXT]), ("assistant", [USE]), ("user", [TEXT, ANSWER]))),
        ),
        (
            "single result",
            broken(messages=talk(("user", [TEXT]), ("assistant", [USE]), ("user", [ANSWER, ANSWER]))),
        ),
        (
            "ids must be unique",
            broken(messages=talk(("user", [TEXT]), ("assistant", [USE, USE]), ("user", [ANSWER]))),
        ),
        (
            "match pattern",
            broken(messages=talk(("user", [TEXT]), ("assistant", [USE | {"id": "a.b"}]), ("user", [ANSWER]))),
        ),
        ("Extra inputs", broken(n=1)),
        ("deprecated", broken(temperature=1)),
        ("forces tool use", broken(tools=[TOOL], tool_choice={"type": "any"})),
        ("while providing tools", broken(tool_choice={"type": "auto"})),
        ("not supported for this model", broken(thinking={"type": "disabled"})),
        (
            "Expected `thinking`",
            broken(
                model="claude-sonnet-4-5",
                max_tokens=5000,
                thinking={"type": "enabled", "budget_tokens": 1024},
                messages=talk(("user", [TEXT]), ("assistant", [USE]), ("user", [ANSWER])),
            ),
        ),
        ("at the top level", broken(tools=[TOOL | {"input_schema": {"type": "object", "anyOf": []}}])),
        ("explicitly false", broken(tools=[TOOL | {"strict": True}])),
    ],
)
def test_the_strict_server_is_strict(words: str, body: Json) -> None:
    with pytest.raises(AssertionError, match=words):
        check_body(body)


# ── the counter of tokens ──


def test_the_counter_is_asked_only_what_it_takes_and_all_that_it_needs() -> None:
    taken = typing_extensions.get_type_hints(MessageCountTokensParams).keys()
    assert MessageCountTokensParams.__required_keys__ <= set(counting.COUNTED) <= taken


def test_the_sdk_and_the_proxy_read_the_same_number() -> None:
    said = b'{"input_tokens":14}'
    assert TypeAdapter(MessageTokensCount).validate_json(said).input_tokens == 14
    assert counting.COUNTERS["anthropic"].read(said) == 14
