"""What the API's own words of refusal teach, and that the changed request is one it takes."""

from collections.abc import Callable
from functools import partial
from typing import Any

from proxy.core.dialects.anthropic.lessons import BINDING, LESSONS
from proxy.core.dialects.reading import lessons
from proxy.core.dialects.reading.lessons import LIMIT_ROWS
from proxy.core.model import (
    ChoiceMode,
    FormatKind,
    OutputFormat,
    ReasoningWish,
    Sampling,
    ToolChoice,
    ToolName,
    ToolSpec,
)
from proxy.core.profile import BackendProfile
from tests.support.anthropic_requests import ANTHROPIC, body_of, messages_of, on, reasoning, thought
from tests.support.chat_requests import assistant, call, developer, result, tool, user
from tests.support.tables import table

learn = partial(lessons.learn, LESSONS)

BOUND = "messages.5.content.0: The block is bound to a different conversation."
LOST = (
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is "
    "enabled, a final `assistant` message must start with a thinking block."
)
CALLED = (user("A"), assistant(reasoning(), call()), tool(result("c1", "ok")))
STRICT = ToolSpec(
    ToolName("f"), parameters={"type": "object", "properties": {}, "additionalProperties": False}, strict=True
)
REQUIRED = ToolChoice(ChoiceMode.REQUIRED)
FORM = OutputFormat(FormatKind.JSON_SCHEMA, "n", {"type": "object", "additionalProperties": False})
OLD = "claude-sonnet-4-5"


def learned(words: str, profile: BackendProfile = ANTHROPIC, *rows: str) -> BackendProfile:
    lesson = learn(profile, words, rows)
    assert lesson is not None
    return lesson.profile


# ── of this conversation only ──


def test_thoughts_of_another_conversation_are_left_out_by_the_server() -> None:
    lesson = learn(ANTHROPIC, BOUND)
    assert lesson is not None
    assert (lesson.row, lesson.lasting) == ("bound", False)
    assert lesson.profile.headers["anthropic-beta"] == BINDING
    body = body_of(*CALLED, profile=lesson.profile, reasoning=ReasoningWish("low"))
    assert body["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    assert body["messages"][1]["content"][0] == thought()


def test_a_server_that_does_not_know_the_field_gets_neither() -> None:
    """A configured header, say, takes the place of the one that the field needs."""
    lesson = learn(
        learned(BOUND), "thinking.adaptive.block_binding: Extra inputs are not permitted", ["bound"]
    )
    assert lesson is not None
    assert (lesson.row, lesson.lasting) == ("binding", False)
    body = body_of(*CALLED, profile=lesson.profile)
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert "signature" not in str(body["messages"])


def test_a_server_that_still_refuses_gets_none_of_them() -> None:
    lesson = learn(learned(BOUND), BOUND, ["bound"])
    assert lesson is not None
    assert (lesson.row, lesson.lasting) == ("unbound", False)
    assert "thinking" not in str(messages_of(*CALLED, profile=lesson.profile))


@table(
    ("headers", "name", "betas"),
    [
        ({"anthropic-beta": "a,b"}, "anthropic-beta", f"a,b,{BINDING}"),
        ({"Anthropic-Beta": "a"}, "Anthropic-Beta", f"a,{BINDING}"),
        ({"anthropic-beta": BINDING}, "anthropic-beta", BINDING),
    ],
)
def test_other_betas_stay(headers: dict[str, str], name: str, betas: str) -> None:
    assert learned(BOUND, on(headers=headers)).headers == {name: betas}


def test_a_conversation_that_lost_its_thoughts_goes_on_without_thinking() -> None:
    lesson = learn(ANTHROPIC, LOST)
    assert lesson is not None
    assert not lesson.lasting
    body = body_of(user("A"), model=OLD, profile=lesson.profile, reasoning=ReasoningWish("high"))
    assert body["thinking"] == {"type": "disabled"}


@table(
    "words",
    [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
    ],
)
def test_thoughts_that_are_not_believed_stay_here(words: str) -> None:
    lesson = learn(ANTHROPIC, words)
    assert lesson is not None
    assert not lesson.lasting
    assert "thinking" not in str(messages_of(*CALLED, profile=lesson.profile))


# ── of the model ──


@table(
    ("words", "model", "how", "gone"),
    [
        (
            "Thinking may not be enabled when tool_choice forces tool use.",
            "claude-opus-5",
            {"tools": [STRICT], "choice": REQUIRED},
            lambda body: body["tool_choice"] == {"type": "auto"},
        ),
        (
            'tool_choice: "any" is not supported for this model',
            "claude-opus-5",
            {"tools": [STRICT], "choice": REQUIRED},
            lambda body: body["tool_choice"] == {"type": "auto"},
        ),
        (
            "`temperature` is deprecated for this model.",
            OLD,
            {"sampling": Sampling(temperature=0.5)},
            lambda body: "temperature" not in body,
        ),
        (
            "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for x",
            "claude-opus-5",
            {},
            lambda body: body["max_tokens"] == 64_000,
        ),
        (
            "This model does not support the effort parameter.",
            "claude-opus-5",
            {"reasoning": ReasoningWish("low")},
            lambda body: not {"output_config", "thinking"} & body.keys(),
        ),
        (
            '"thinking.type.adaptive" is not supported for this model.',
            "claude-opus-5",
            {},
            lambda body: "thinking" not in body,
        ),
        (
            "Too many strict tools (max 20).",
            "claude-opus-5",
            {"tools": [STRICT], "format": FORM},
            lambda body: "strict" not in body["tools"][0] and "output_config" not in body,
        ),
        (
            "tools.0.custom.strict: Extra inputs are not permitted",
            "claude-opus-5",
            {"tools": [STRICT]},
            lambda body: "strict" not in body["tools"][0],
        ),
        (
            "output_config.format: Extra inputs are not permitted",
            "claude-opus-5",
            {"format": FORM},
            lambda body: "output_config" not in body,
        ),
        (
            "output_config: Extra inputs are not permitted",
            "claude-opus-5",
            {"format": FORM, "reasoning": ReasoningWish("low")},
            lambda body: "output_config" not in body,
        ),
        (
            "thinking: Extra inputs are not permitted",
            "claude-opus-5",
            {},
            lambda body: "thinking" not in body,
        ),
        (
            "top_p: Extra inputs are not permitted",
            "kimi-k2",
            {"sampling": Sampling(top_p=0.5)},
            lambda body: "top_p" not in body,
        ),
        (
            "stop_sequences: Extra inputs are not permitted",
            "kimi-k2",
            {"sampling": Sampling(stop=["a"], temperature=0.5)},
            lambda body: "stop_sequences" not in body and body["temperature"] == 0.5,
        ),
        (
            "service_tier: Extra inputs are not permitted",
            "kimi-k2",
            {"service_tier": "flex", "sampling": Sampling(stop=["a"])},
            lambda body: "service_tier" not in body and "stop_sequences" in body,
        ),
        (
            "metadata: Extra inputs are not permitted",
            "kimi-k2",
            {"user": "u"},
            lambda body: "metadata" not in body,
        ),
        (
            "tool_choice.disable_parallel_tool_use: Extra inputs are not permitted",
            "kimi-k2",
            {"tools": [STRICT], "parallel_calls": False},
            lambda body: "tool_choice" not in body,
        ),
        (
            "cache_control: Extra inputs are not permitted",
            "kimi-k2",
            {},
            lambda body: "cache_control" not in body,
        ),
    ],
)
def test_what_was_refused_is_sent_no_more(
    words: str, model: str, how: dict, gone: Callable[[dict], bool]
) -> None:
    assert not gone(body_of(model=model, **how))
    lesson = learn(ANTHROPIC, words)
    assert lesson is not None
    assert lesson.lasting is not words.startswith(("Thinking may", "Too many"))
    assert gone(body_of(model=model, profile=lesson.profile, **how))


@table(
    ("words", "row"),
    [
        ("Thinking may not be enabled when tool_choice forces tool use.", "force_thinking"),
        ("Too many strict tools (max 20).", "grammar"),
        ("output_config.format.schema: 'allOf' is not supported", "grammar"),
        ("temperature may only be set to 1 when thinking is enabled", "sampled"),
        ("`temperature` and `top_p` cannot both be specified for this model.", "sampled"),
        ("temperature: 1.5 is not supported", "sampled"),
        ("This model does not support max effort.", "level"),
        ("output_config.effort: 'banana' is not supported", "level"),
        ("thinking.budget_tokens: 5 is not supported", "level"),
    ],
)
def test_what_is_wrong_with_this_request_alone_is_not_kept(words: str, row: str) -> None:
    """attack-07: a value, a schema, or one thing beside another."""
    lesson = learn(ANTHROPIC, words)
    assert lesson is not None
    assert (lesson.row, lesson.lasting) == (row, False)


def test_no_number_is_too_small_to_be_a_limit() -> None:
    lesson = learn(ANTHROPIC, "max_tokens: 5 > 0")
    assert lesson is not None
    assert lesson.profile.length_default == 1


def test_an_id_of_a_user_that_is_refused_is_left_out_this_once() -> None:
    words = "metadata.user_id: user_id appears to contain an email address"
    lesson = learn(ANTHROPIC, words)
    assert lesson is not None
    assert not lesson.lasting
    assert "metadata" not in body_of(user="u", profile=lesson.profile)


def test_a_default_that_left_no_room_is_made_to_fit() -> None:
    words = (
        "input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000, decrease input length"
    )
    lesson = learn(ANTHROPIC, words)
    assert lesson is not None
    assert not lesson.lasting
    assert body_of(model=OLD, profile=lesson.profile)["max_tokens"] == 50_000
    assert learn(ANTHROPIC, words.replace("150000", "199000")) is None


def test_instructions_become_the_users_where_the_role_is_unknown() -> None:
    profile = learned("messages.1.role: Input should be 'user' or 'assistant', got \"system\"")
    assert [message["role"] for message in messages_of(user("A"), developer("B"), profile=profile)] == [
        "user"
    ]


def test_a_history_with_calls_may_need_tools() -> None:
    words = "Requests which include `tool_use` or `tool_result` blocks must define tools"
    assert "tools" in body_of(*CALLED, profile=learned(words))


@table(
    ("profile", "words", "rows"),
    [
        ({}, "messages: text content blocks must be non-empty", []),
        ({}, "prompt is too long: 210000 tokens > 200000 maximum", []),
        ({}, "messages: Extra inputs are not permitted", []),
        ({}, "messages.0.content.0.novelty: Extra inputs are not permitted", []),
        ({}, LOST, ["thoughts_lost"]),
        ({"formats": frozenset()}, "Too many strict tools", []),
    ],
)
def test_what_teaches_nothing(profile: dict[str, Any], words: str, rows: list[str]) -> None:
    """Also what was learned before in the same request, and what would change nothing."""
    assert learn(on(**profile), words, rows) is None


def test_the_rows_are_told_apart() -> None:
    names = [row.name for row in LESSONS if row not in LIMIT_ROWS]
    assert len(set(names)) == len(names)
