"""Tools and the choice among them, in words where the model refuses to be forced."""

from typing import Any

import pytest

from proxy.core.dialects.anthropic.tools import MAX_TOOLS, StrictLimits
from proxy.core.errors import Incompatible
from proxy.core.ledger import Ledger
from proxy.core.model import ChoiceMode, ReasoningWish, ToolChoice, ToolName, ToolSpec
from tests.support.anthropic_requests import body_of, on, said
from tests.support.chat_requests import assistant, call, result, tool, user
from tests.support.tables import table

CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}
F = ToolSpec(ToolName("f"), description="Does f.", parameters={"type": "object", "properties": {"x": {}}})
G = ToolSpec(ToolName("g"))
TOOLS = [F, G]
REQUIRED = ToolChoice(ChoiceMode.REQUIRED)
FORCED = ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("f")}))
EITHER = ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("f"), ToolName("g")}))
OLD, FREE, NEW = "claude-sonnet-4-5", "claude-opus-5", "claude-opus-5-5"


def asked(**how: Any) -> dict[str, Any]:
    return body_of(**{"tools": TOOLS, "model": FREE} | how)


def names(body: dict[str, Any]) -> list[str]:
    return [each["name"] for each in body["tools"]]


def test_a_root_that_is_one_of_several_schemas() -> None:
    """It would be refused, with every other tool. What can be told is told, what cannot is named."""
    told = {
        "type": "object",
        "properties": {"a": {}, "b": {}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    schema = asked(tools=[ToolSpec(ToolName("f"), parameters=told)])["tools"][0]["input_schema"]
    assert "anyOf" not in schema
    assert "Constraint" in schema["description"]
    either = [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]
    with pytest.raises(Incompatible, match="'f'") as refused:
        asked(tools=[ToolSpec(ToolName("f"), parameters={"type": "object", "anyOf": either})])
    assert refused.value.details == {"incompatible_features": ["anyOf"]}


def test_a_long_name_is_cut_to_what_is_taken_everywhere() -> None:
    """The prefixes of MCP servers make names over 128 characters."""
    spec = ToolSpec(ToolName("t" * 90, "mcp__" + "s" * 60))
    (name,) = names(asked(tools=[spec]))
    assert len(name) == 64


def test_a_tool() -> None:
    assert asked()["tools"] == [
        {
            "name": "f",
            "description": "Does f.",
            "input_schema": {"type": "object", "properties": {"x": {}}},
        },
        {"name": "g", "input_schema": {"type": "object", "properties": {}}},
    ]


@table(
    ("choice", "expected"),
    [
        (ToolChoice(), None),
        (ToolChoice(ChoiceMode.NONE), {"type": "none"}),
        (REQUIRED, {"type": "any"}),
        (FORCED, {"type": "tool", "name": "f"}),
        (EITHER, {"type": "any"}),
    ],
)
def test_the_choice(choice: ToolChoice, expected: object) -> None:
    body = asked(choice=choice)
    assert body.get("tool_choice") == expected
    assert names(body) == ["f", "g"]


def test_a_choice_among_some_leaves_the_others_out() -> None:
    body = asked(choice=ToolChoice(ChoiceMode.AUTO, frozenset({ToolName("g")})))
    assert names(body) == ["g"]
    assert "tool_choice" not in body


@table(
    ("how", "offered", "which"),
    [
        ({"model": NEW, "choice": REQUIRED}, ["f", "g"], "one of the tools"),
        ({"model": NEW, "choice": FORCED}, ["f"], "the tool `f`"),
        ({"profile": on(force_tool="auto"), "choice": FORCED}, ["f"], "the tool `f`"),
        ({"profile": on(force_tool="auto"), "choice": REQUIRED}, ["f", "g"], "one of the tools"),
    ],
)
def test_a_model_that_cannot_be_forced_is_told_in_words(how: dict, offered: list[str], which: str) -> None:
    """Forced choice is refused by the newest. The words stand last, where no thought is bound to them."""
    body = asked(**how)
    assert body["tool_choice"] == {"type": "auto"}
    assert names(body) == offered
    assert body["messages"][-1] == said(f"Answer with a call of {which}, not with text.", "system")


def test_nobody_is_forced_while_thinking_by_a_budget() -> None:
    thinks = {"model": OLD, "choice": FORCED, "reasoning": ReasoningWish("low")}
    body = asked(**thinks)
    assert body["tool_choice"] == {"type": "auto"}
    told = "<system>\nAnswer with a call of the tool `f`, not with text.\n</system>"
    assert body["messages"][-1]["content"][-1] == {"type": "text", "text": told}
    assert asked(**thinks | {"reasoning": ReasoningWish()})["tool_choice"] == {"type": "tool", "name": "f"}


def test_after_results_the_words_come_last_too() -> None:
    turns = (user("A"), assistant(call()), tool(result("c1", "ok")))
    body = body_of(*turns, tools=TOOLS, choice=REQUIRED, model=NEW)
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user", "system"]


@table(
    ("choice", "how", "expected"),
    [
        (ToolChoice(), {}, {"type": "auto", "disable_parallel_tool_use": True}),
        (REQUIRED, {}, {"type": "any", "disable_parallel_tool_use": True}),
        (FORCED, {}, {"type": "tool", "name": "f", "disable_parallel_tool_use": True}),
        (ToolChoice(ChoiceMode.NONE), {}, {"type": "none"}),
        (
            ToolChoice(),
            {"parallel_calls": True, "profile": on(parallel="false")},
            {"type": "auto", "disable_parallel_tool_use": True},
        ),
    ],
)
def test_one_call_at_a_time(choice: ToolChoice, how: dict, expected: object) -> None:
    assert asked(**{"choice": choice, "parallel_calls": False} | how)["tool_choice"] == expected


def test_where_that_cannot_be_said_it_is_counted() -> None:
    ledger = Ledger()
    body = asked(parallel_calls=False, profile=on(parallel="omit"), ledger=ledger)
    assert "tool_choice" not in body
    assert ledger.dropped == {"parallel_tool_calls": 1}


@table(
    ("strict", "parameters", "how", "sent", "dropped"),
    [
        (True, CLOSED, {}, True, 0),
        (True, {"type": "object", "properties": {}}, {}, None, 1),
        (True, CLOSED, {"model": "kimi-k2"}, None, 1),
        (True, CLOSED, {"profile": on(formats=frozenset())}, None, 1),
        (False, CLOSED, {}, None, 0),
        (None, CLOSED, {}, None, 0),
    ],
)
def test_strict_is_sent_when_it_was_asked_for_and_can_be_kept(
    strict: bool | None, parameters: dict, how: dict, sent: bool | None, dropped: int
) -> None:
    ledger = Ledger()
    spec = ToolSpec(ToolName("f"), parameters=parameters, strict=strict)
    assert asked(tools=[spec], ledger=ledger, **how)["tools"][0].get("strict") is sent
    assert ledger.dropped.get("strict", 0) == dropped


# ── the limits that all strict tools of one request share ──

PLAIN = {"type": "object", "properties": {}, "additionalProperties": False}


def schema(**properties: Any) -> dict[str, Any]:
    return PLAIN | {"properties": properties}


def taken(one: dict[str, Any], most: int = 100) -> int:
    limits = StrictLimits()
    return sum(limits.takes(one) for _ in range(most))


def test_twenty_tools() -> None:
    assert taken(PLAIN) == MAX_TOOLS


def test_what_cannot_be_a_grammar_takes_nothing() -> None:
    limits = StrictLimits()
    assert not limits.takes({"type": "object", "properties": {}})
    assert sum(limits.takes(PLAIN) for _ in range(100)) == MAX_TOOLS


def test_24_optional_properties_in_all() -> None:
    assert taken(schema(a={"type": "string"}, b=schema(c={"type": "string"}))) == 24 // 3
    assert taken(schema(a={"type": "string"}) | {"required": ["a"]}) == MAX_TOOLS


def test_16_unions_in_all() -> None:
    either = {"anyOf": [{"type": "string"}, {"type": ["integer", "null"]}]}
    assert taken(schema(a=either) | {"required": ["a"]}) == 16 // 2


def test_a_tool_that_is_too_much_leaves_room_for_a_smaller_one() -> None:
    limits = StrictLimits()
    big = schema(**{f"p{number}": {"type": "string"} for number in range(20)})
    assert limits.takes(big)
    assert not limits.takes(big)
    assert limits.takes(schema(a={"type": "string"}))
