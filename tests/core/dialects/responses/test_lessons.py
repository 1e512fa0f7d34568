"""Each refusal in the table teaches one change, and none teaches what is known already."""

from dataclasses import fields
from functools import partial
from typing import Any

import pytest

from proxy.core.dialects.reading import lessons
from proxy.core.dialects.responses.lessons import LESSONS
from proxy.core.profile import BackendProfile
from tests.support.responses_requests import OPENAI, openai
from tests.support.tables import table

learn = partial(lessons.learn, LESSONS)
FULL = {"sealed_thoughts": True, "summaries": True, "media_results": True}


def changed(profile: BackendProfile, other: BackendProfile) -> dict[str, Any]:
    return {
        each.name: getattr(other, each.name)
        for each in fields(BackendProfile)
        if getattr(profile, each.name) != getattr(other, each.name)
    }


NATIVE = {"native_tools": frozenset({"custom", "apply_patch", "namespace"})}
CHAT_ONLY = "This model is only supported in v1/chat/completions and not in v1/responses."

TAUGHT: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    (
        "sealed_thoughts",
        {},
        "Encrypted content is not supported with this model.",
        {"sealed_thoughts": False, "sealed_back": False},
    ),
    (
        "summary",
        {},
        "Your organization must be verified to generate reasoning summaries.",
        {"summaries": False},
    ),
    ("unknown_field", {}, "Unknown parameter: 'include'.", {"sealed_thoughts": False}),
    (
        "unknown_field",
        {},
        "Unsupported parameter: 'reasoning.summary' is not supported",
        {"summaries": False},
    ),
    (
        "unknown_field",
        {},
        "Unsupported parameter: 'reasoning' is not supported",
        {"effort_field": "none", "sealed_thoughts": False},
    ),
    ("unknown_field", {}, "Unsupported parameter: 'reasoning.effort'", {"effort_field": "none"}),
    (
        "unknown_field",
        {"ways_of_thinking": True},
        "Unsupported parameter: 'reasoning.context' is not supported with this model.",
        {"ways_of_thinking": False},
    ),
    (
        "unknown_field",
        {"ways_of_thinking": True},
        "Unknown parameter: 'reasoning.mode'.",
        {"ways_of_thinking": False},
    ),
    (
        "unknown_field",
        {},
        "Unsupported parameter: 'temperature'",
        {"tuning": OPENAI.tuning - {"temperature"}},
    ),
    ("unknown_field", {}, "Unknown parameter: 'text.format'.", {"formats": frozenset()}),
    ("unknown_field", {}, "Unknown parameter: 'text.verbosity'.", {"tuning": OPENAI.tuning - {"verbosity"}}),
    ("unknown_field", {}, "Unknown parameter: 'parallel_tool_calls'.", {"parallel": "omit"}),
    ("unknown_field", {}, "Unknown parameter: 'tool_choice'.", {"force_tool": "auto"}),
    ("unknown_field", {}, "Unknown parameter: 'store'.", {"extra": {"store": None}}),
    ("unknown_field", {}, "Unknown parameter: 'metadata.a'.", {"extra": {"metadata": {"a": None}}}),
    ("unknown_field", {"replay": "reasoning"}, "Unknown parameter: 'input[1].content'.", {"replay": "none"}),
    ("strict", {}, "strict is not supported", {"strict_tools": False}),
    (
        "native_tools",
        NATIVE,
        "Tool 'apply_patch' is not supported with gpt-4.1.",
        {"native_tools": frozenset({"custom", "namespace"})},
    ),
    (
        "native_tools",
        NATIVE,
        "Invalid value: 'custom'. Supported values are: 'function' and 'mcp'.",
        {"native_tools": frozenset({"apply_patch", "namespace"})},
    ),
    (
        "native_tools",
        NATIVE,
        "Custom tools are not supported with this model.",
        {"native_tools": frozenset({"apply_patch", "namespace"})},
    ),
    (
        "native_tools",
        NATIVE,
        "Namespace tools require a model that can search for tools.",
        {"native_tools": frozenset({"custom", "apply_patch"})},
    ),
    ("unknown_field", NATIVE, "Unknown parameter: 'tools[0].format'.", {"native_tools": frozenset()}),
    ("unknown_field", NATIVE, "Unknown parameter: 'tools[1].tools'.", {"native_tools": frozenset()}),
    ("unknown_field", NATIVE, "Unknown parameter: 'tool_choice.tools'.", {"native_tools": frozenset()}),
    ("unknown_field", NATIVE, "Unknown parameter: 'tool_choice.type'.", {"native_tools": frozenset()}),
    ("unknown_field", {}, "Unknown parameter: 'tools[0].strict'.", {"strict_tools": False}),
    ("max_tools", {}, "Invalid 'tools': array too long. Expected maximum length 64", {"max_tools": 64}),
    ("late_system", {}, "System message must be at the beginning.", {"late_system": "user"}),
    ("alternate", {"join_users": False}, "roles must alternate", {"join_users": True}),
    ("files", {}, "'input_file' is not supported by llamacpp at this moment", {"files": False}),
    ("media_results", {}, "Output of tool call should be 'Input text'", {"media_results": False}),
    ("images", {}, "image input is not supported", {"images": "none"}),
    ("images", {}, "image URLs are not currently supported", {"images": "data"}),
    ("wire", {}, CHAT_ONLY, {"wire": "chat"}),
    ("effort", {}, "this model does not support thinking", {"effort_field": "none"}),
    (
        "level",
        {"effort_map": {"max": "xhigh"}},
        "reasoning.effort: Supported values are: 'low', 'medium', and 'high'.",
        {"effort_map": {"none": "low", "minimal": "low", "xhigh": "high", "max": "high"}},
    ),
]


@table(("row", "given", "words", "expected"), TAUGHT)
def test_what_is_taught(row: str, given: dict[str, Any], words: str, expected: dict[str, Any]) -> None:
    profile = openai(**(FULL | given))
    lesson = learn(profile, words)
    assert lesson is not None
    assert lesson.lasting
    assert changed(profile, lesson.profile) == expected
    assert lesson.row == row
    if "tuning" not in expected:  # what is refused though it is not sent is patched away
        assert learn(lesson.profile, words) is None


@pytest.mark.parametrize(
    "words",
    [
        "Unknown parameter: 'input'.",
        "Unknown parameter: 'model'.",
        "Unknown parameter: 'tools[0].name'.",
        "The model `gpt-9` does not exist",
    ],
)
def test_what_teaches_nothing(words: str) -> None:
    assert learn(openai(replay="none"), words) is None


def test_a_value_is_refused_of_one_request() -> None:
    words = "Unsupported value: 'reasoning.effort' does not support 'xhigh' with this model."
    lesson = learn(openai(), words)
    assert lesson is not None
    assert not lesson.lasting
    assert changed(openai(), lesson.profile) == {"effort_field": "none"}


def test_a_body_that_says_it_teaches_nothing() -> None:
    """What the client has made the backend say is no lesson."""
    words = "Invalid name: 'Unknown parameter: 'store''"
    body = b'{"input":[{"role":"user","content":"Unknown parameter: \'store\'"}]}'
    assert learn(openai(), words, (), body) is None


def test_what_somebody_has_set_by_hand_stays() -> None:
    assert learn(openai(wire="responses"), CHAT_ONLY) is None


@table(
    "words",
    [
        "The encrypted content gAAA... could not be verified. Reason: it could not be decrypted or parsed.",
        "invalid_encrypted_content: The encrypted content for item rs_1 could not be decrypted.",
    ],
)
def test_thoughts_that_others_have_sealed(words: str) -> None:
    """They are left out of this request: those of the next may be its own."""
    lesson = learn(openai(), words)
    assert lesson is not None
    assert not lesson.lasting
    assert changed(openai(), lesson.profile) == {"sealed_back": False}
