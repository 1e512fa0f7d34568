"""G1 to G7 and the profile fields about the body: what is asked for, in words that this backend knows."""

from typing import Any

from proxy.core.backends.profiles import PROFILES
from proxy.core.ledger import Ledger
from proxy.core.model import (
    ChoiceMode,
    FormatKind,
    Hosted,
    OutputFormat,
    ReasoningWish,
    Sampling,
    ToolChoice,
    ToolKind,
    ToolName,
    ToolSpec,
)
from proxy.core.profile import DEFAULT
from tests.support.chat_requests import assistant, body_of, call, profile, result, tool, user
from tests.support.tables import table

F, G = ToolSpec(ToolName("f"), description="Does it."), ToolSpec(ToolName("g", "ns"))
NONE = ToolChoice(ChoiceMode.NONE)
REQUIRED = ToolChoice(ChoiceMode.REQUIRED)
FORCED = ToolChoice(ChoiceMode.REQUIRED, frozenset({F.tool}))
CALLED = (user("a"), assistant(call()), tool(result("c1", "r")))


def fields_of(body: dict[str, Any]) -> dict[str, Any]:
    """Without what every body has."""
    return {
        key: body[key]
        for key in body
        if key not in ("model", "messages", "stream", "stream_options", "tools")
    }


def test_a_tool_is_told_to_be_strict_where_the_word_is_known() -> None:
    """V22."""
    strict, ledger = ToolSpec(ToolName("s"), strict=True), Ledger()
    body = body_of(tools=[F, strict], on=profile(strict_tools=True), ledger=ledger)
    assert [each["function"].get("strict") for each in body["tools"]] == [None, True]
    assert ledger.dropped == {}


def test_the_least_that_is_sent() -> None:
    """G1: an allow-list, nothing else."""
    assert body_of() == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_what_only_the_client_understands_is_not_sent() -> None:
    assert (
        fields_of(body_of(extras={"responses": {"store": False}}, reasoning=ReasoningWish(summary="auto")))
        == {}
    )


@table(("usage", "expected"), [("ask", {"include_usage": True}), ("never", None)])
def test_a_stream_is_asked_for_and_usage_where_it_has_to_be(usage: Any, expected: Any) -> None:
    """G5."""
    body = body_of(on=profile(usage=usage))
    assert body.get("stream_options") == expected
    assert body["stream"] is True


# ── tools ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_tools_nothing_is_said_of_them() -> None:
    """G3."""
    on = profile(parallel="false", force_tool="object")
    assert fields_of(body_of(on=on, parallel_calls=False, choice=REQUIRED)) == {}


def test_tools_are_plain_functions() -> None:
    """G6, G7: no other type, no null, no `strict`."""
    ledger = Ledger()
    custom = ToolSpec(ToolName("p"), ToolKind.CUSTOM)
    strict = ToolSpec(ToolName("s"), strict=True)
    body = body_of(tools=[F, G, custom, strict], ledger=ledger)
    assert body["tools"][:2] == [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "Does it.",
                "parameters": {"type": "object", "properties": {}},
            },
        },
        {
            "type": "function",
            "function": {"name": "ns__g", "parameters": {"type": "object", "properties": {}}},
        },
    ]
    assert [each["function"]["name"] for each in body["tools"][2:]] == ["p", "s"]
    assert ledger.dropped == {"strict": 1}


def test_the_defaults_are_left_out() -> None:
    """G4."""
    on = profile(parallel="obey", force_tool="object")
    assert fields_of(body_of(on=on, tools=[F], parallel_calls=True)) == {}


@table(
    ("parallel", "wanted", "expected", "dropped"),
    [
        ("omit", True, {}, {}),
        ("omit", False, {}, {"parallel_tool_calls": 1}),
        ("obey", False, {"parallel_tool_calls": False}, {}),
        ("false", True, {"parallel_tool_calls": False}, {}),
        ("false", False, {"parallel_tool_calls": False}, {}),
    ],
)
def test_parallel(parallel: str, wanted: bool, expected: dict[str, Any], dropped: dict[str, int]) -> None:
    ledger = Ledger()
    body = body_of(on=profile(parallel=parallel), tools=[F], parallel_calls=wanted, ledger=ledger)
    assert fields_of(body) == expected
    assert ledger.dropped == dropped


@table(
    ("force_tool", "choice", "expected", "tools", "dropped"),
    [
        ("object", NONE, "none", 2, 0),
        ("any", NONE, "none", 2, 0),
        ("auto", NONE, None, 0, 0),
        ("object", REQUIRED, "required", 2, 0),
        ("required", REQUIRED, "required", 2, 0),
        ("any", REQUIRED, "any", 2, 0),
        ("auto", REQUIRED, None, 2, 1),
        ("object", FORCED, {"type": "function", "function": {"name": "f"}}, 2, 0),
        ("required", FORCED, "required", 1, 0),
        ("any", FORCED, "any", 1, 0),
        ("auto", FORCED, None, 1, 1),
        ("object", ToolChoice(ChoiceMode.AUTO, frozenset({G.tool})), None, 1, 0),
    ],
)
def test_a_choice_in_the_strongest_words_that_are_understood(
    force_tool: str, choice: ToolChoice, expected: Any, tools: int, dropped: int
) -> None:
    """R02."""
    ledger = Ledger()
    body = body_of(on=profile(force_tool=force_tool), tools=[F, G], choice=choice, ledger=ledger)
    assert body.get("tool_choice") == expected
    assert len(body.get("tools", [])) == tools
    assert ledger.dropped.get("tool_choice", 0) == dropped


@table(
    ("orphan_tools", "declared", "roles"),
    [
        ("keep", [], ["user", "assistant", "tool"]),
        ("declare", ["_noop"], ["user", "assistant", "tool"]),
        ("flatten", [], ["user", "assistant", "user"]),
    ],
)
def test_a_history_with_calls_in_a_request_without_tools(
    orphan_tools: str, declared: list[str], roles: list[str]
) -> None:
    """What Codex sends when it compacts a conversation."""
    body = body_of(*CALLED, on=profile(orphan_tools=orphan_tools))
    assert [each["function"]["name"] for each in body.get("tools", [])] == declared
    assert [message["role"] for message in body["messages"]] == roles
    assert "tool_choice" not in body


@table("orphan_tools", ["declare", "flatten"])
def test_with_tools_or_without_calls_there_are_no_orphans(orphan_tools: str) -> None:
    on = profile(orphan_tools=orphan_tools)
    assert len(body_of(*CALLED, on=on, tools=[F])["tools"]) == 1
    assert "tools" not in body_of(on=on)


# ── the form of the answer ─────────────────────────────────────────────────────────────────────────────────────

SCHEMA = OutputFormat(FormatKind.JSON_SCHEMA, "n", {"type": "object", "properties": {}})


def test_a_format_is_asked_for_or_told_first_of_all() -> None:
    assert body_of(format=SCHEMA)["response_format"]["type"] == "json_schema"
    assert "response_format" in body_of(format=SCHEMA, tools=[F])
    body = body_of(on=profile(format_with_tools=False), format=SCHEMA, tools=[F])
    assert "response_format" not in body
    assert body["messages"][0]["role"] == "system"
    assert "JSON Schema" in body["messages"][0]["content"]


def test_the_dummy_tool_stands_beside_no_format_either() -> None:
    assert "response_format" not in body_of(
        *CALLED, on=profile(orphan_tools="declare", format_with_tools=False), format=SCHEMA
    )


# ── tuning ─────────────────────────────────────────────────────────────────────────────────────────────────────


@table(
    ("limit", "fields", "expected"),
    [
        (None, {}, {}),
        (100, {}, {"max_tokens": 100}),
        (100, {"length_field": "max_completion_tokens"}, {"max_completion_tokens": 100}),
        (None, {"length_default": 4096}, {"max_tokens": 4096}),
        (100, {"length_default": 4096}, {"max_tokens": 100}),
    ],
)
def test_the_output_limit(limit: int | None, fields: dict[str, Any], expected: dict[str, int]) -> None:
    assert fields_of(body_of(on=profile(**fields), sampling=Sampling(max_tokens=limit))) == expected


EVERYTHING = Sampling(
    temperature=0.0,
    top_p=0.5,
    presence_penalty=1.0,
    frequency_penalty=-1.0,
    seed=0,
    stop=["x"],
    logprobs=True,
    top_logprobs=3,
)
AS_SENT = {
    "temperature": 0.0,
    "top_p": 0.5,
    "presence_penalty": 1.0,
    "frequency_penalty": -1.0,
    "seed": 0,
    "stop": ["x"],
    "logprobs": True,
    "top_logprobs": 3,
}


def test_tuning_is_passed_on_zeros_too() -> None:
    assert fields_of(body_of(sampling=EVERYTHING)) == AS_SENT


@table("name", sorted(AS_SENT))
def test_tuning_that_is_not_known_is_dropped_and_counted(name: str) -> None:
    ledger = Ledger()
    body = body_of(on=profile(tuning=DEFAULT.tuning - {name}), sampling=EVERYTHING, ledger=ledger)
    assert fields_of(body) == {key: value for key, value in AS_SENT.items() if key != name}
    assert ledger.dropped == {name: 1}


def test_what_means_nothing_is_not_sent() -> None:
    silent = Sampling(presence_penalty=0.0, frequency_penalty=0, stop=[])
    assert fields_of(body_of(sampling=silent)) == {}


def test_alternatives_imply_logprobs() -> None:
    assert fields_of(body_of(sampling=Sampling(top_logprobs=2))) == {"logprobs": True, "top_logprobs": 2}


@table(("tier", "dropped"), [(None, {}), ("auto", {}), ("default", {}), ("flex", {"service_tier": 1})])
def test_a_tier_goes_only_where_it_is_known(tier: str | None, dropped: dict) -> None:
    ledger = Ledger()
    assert fields_of(body_of(service_tier=tier, ledger=ledger)) == {}
    assert ledger.dropped == dropped
    known = profile(tuning=DEFAULT.tuning | {"service_tier"})
    assert fields_of(body_of(service_tier="flex", on=known)) == {"service_tier": "flex"}


def test_verbosity_goes_only_where_it_is_known() -> None:
    ledger = Ledger()
    assert fields_of(body_of(verbosity="low", ledger=ledger)) == {}
    assert ledger.dropped == {"verbosity": 1}
    assert fields_of(body_of(verbosity="low", on=PROFILES["openai"])) == {"verbosity": "low"}


# ── thinking ───────────────────────────────────────────────────────────────────────────────────────────────────


@table(
    ("fields", "effort", "expected", "dropped"),
    [
        ({}, None, {}, False),
        ({}, "high", {}, True),
        ({"effort_field": "reasoning_effort"}, None, {}, False),
        ({"effort_field": "reasoning_effort"}, "high", {"reasoning_effort": "high"}, False),
        (
            {"effort_field": "reasoning_effort", "effort_map": {"max": "high"}},
            "max",
            {"reasoning_effort": "high"},
            False,
        ),
        ({"effort_field": "reasoning_effort", "effort_map": {"none": None}}, "none", {}, True),
        ({"effort_field": "reasoning"}, "low", {"reasoning": {"effort": "low"}}, False),
        ({"effort_field": "template"}, "low", {"chat_template_kwargs": {"enable_thinking": True}}, False),
        ({"effort_field": "template"}, "none", {"chat_template_kwargs": {"enable_thinking": False}}, False),
    ],
)
def test_where_the_wish_for_thinking_goes(
    fields: dict[str, Any], effort: str | None, expected: dict[str, Any], dropped: bool
) -> None:
    ledger = Ledger()
    body = body_of(on=profile(**fields), reasoning=ReasoningWish(effort), ledger=ledger)
    assert fields_of(body) == expected
    assert bool(ledger.dropped) is dropped


@table(
    ("name", "effort", "expected"),
    [
        ("deepseek", "none", {"thinking": {"type": "disabled"}}),
        ("deepseek", "minimal", {"thinking": {"type": "enabled"}, "reasoning_effort": "low"}),
        ("deepseek", "medium", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("deepseek", "xhigh", {"thinking": {"type": "enabled"}, "reasoning_effort": "max"}),
        ("moonshot", "none", {"thinking": {"type": "disabled"}}),
        ("moonshot", "high", {"thinking": {"type": "enabled"}}),
        ("zai", None, {"tool_stream": True, "thinking": {"clear_thinking": False}}),
        ("zai", "none", {"tool_stream": True, "thinking": {"type": "disabled", "clear_thinking": False}}),
        ("minimax", "high", {"reasoning_split": True}),
        ("dashscope", "none", {"enable_thinking": False}),
        ("dashscope", "high", {"enable_thinking": True}),
        ("mistral", "low", {"reasoning_effort": "high"}),
        ("openrouter", "max", {"reasoning": {"effort": "max"}}),
        ("cerebras", "max", {"reasoning_effort": "high"}),
    ],
)
def test_vendors_and_their_words_for_it(name: str, effort: str | None, expected: dict[str, Any]) -> None:
    assert fields_of(body_of(on=PROFILES[name], reasoning=ReasoningWish(effort))) == expected


@table(
    ("tools", "effort", "expected"),
    [([F], "high", "none"), ([F], None, "none"), ([], "high", "high"), ([], None, None)],
)
def test_a_model_that_may_not_think_with_tools_in_chat_does_not(
    tools: list[ToolSpec], effort: str | None, expected: str | None
) -> None:
    """The newest refuse even the absence of the field, since they think by default."""
    ledger = Ledger()
    on = profile(thinks_beside_tools=False, effort_field="reasoning_effort")
    body = body_of(on=on, tools=tools, reasoning=ReasoningWish(effort), ledger=ledger)
    assert body.get("reasoning_effort") == expected
    assert ledger.dropped.get("reasoning_effort", 0) == (1 if tools and effort else 0)


# ── constants ──────────────────────────────────────────────────────────────────────────────────────────────────


@table(
    ("extra", "expected", "dropped"),
    [
        ({"a": 1, "b": [2]}, {"temperature": 0.5, "a": 1, "b": [2]}, {}),
        ({"temperature": 1}, {"temperature": 1}, {}),
        ({"temperature": None}, {}, {"temperature": 1}),
        ({"top_p": None}, {"temperature": 0.5}, {}),
        ({"a": {"b": 1, "c": None}}, {"temperature": 0.5, "a": {"b": 1}}, {}),
    ],
)
def test_the_patch_of_a_profile_comes_last(
    extra: dict[str, Any], expected: dict[str, Any], dropped: dict[str, int]
) -> None:
    ledger = Ledger()
    body = body_of(on=profile(extra=extra), sampling=Sampling(temperature=0.5), ledger=ledger)
    assert fields_of(body) == expected
    assert ledger.dropped == dropped


def test_the_patch_leaves_the_profile_as_it_is() -> None:
    on = PROFILES["zai"]
    body_of(on=on, reasoning=ReasoningWish("none"))
    assert on.extra == {"tool_stream": True, "thinking": {"clear_thinking": False}}


def test_moonshot_decides_its_own_sampling() -> None:
    ledger = Ledger()
    body = body_of(on=PROFILES["moonshot"], sampling=EVERYTHING, ledger=ledger)
    assert fields_of(body).keys() == {"seed", "stop", "logprobs", "top_logprobs"}
    assert ledger.dropped.keys() == {"temperature", "top_p", "presence_penalty", "frequency_penalty"}


def test_tools_that_the_backend_runs_by_responses_alone_are_left_out() -> None:
    ledger = Ledger()
    on = profile(hosted_tools=frozenset({"mcp"}))
    assert "tools" not in body_of(hosted=Hosted([{"type": "mcp"}] * 2), on=on, ledger=ledger)
    assert ledger.dropped == {"hosted_tool": 2}
    assert ledger.warnings == ["Left out, because the backend that was asked does not run them: mcp."]
