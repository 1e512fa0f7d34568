"""A level of thought that is refused is put into the next best word that the backend lists."""

from typing import Any

from proxy.core.dialects.reading.effort_lessons import EFFORT_ROWS
from proxy.core.dialects.reading.lessons import Lesson, learn
from tests.support.chat_requests import profile
from tests.support.tables import table

THREE = {"none": "low", "minimal": "low", "xhigh": "high", "max": "high"}
LITERAL = (
    "1 validation error:\\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), "
    "'msg': \\\"Input should be 'low', 'medium' or 'high'\\\", 'input': 'xhigh'}"
)


def taught(words: str, **fields: Any) -> Lesson | None:
    body = b'{"reasoning_effort": "xhigh", "messages": [{"role": "user", "content": "Hi"}]}'
    return learn(EFFORT_ROWS, profile(**{"effort_field": "reasoning_effort"} | fields), words, (), body)


@table(
    ("words", "told"),
    [
        (LITERAL, THREE),
        (
            'invalid reasoning value: \'xhigh\' (must be "high", "medium", "low", "max", or "none")',
            {"minimal": "low", "xhigh": "high"},
        ),
        (
            "Unsupported value: 'reasoning.effort' does not support 'xhigh' with this model. Supported values are: "
            "'none', 'low', 'medium', and 'high'.",
            {"minimal": "low", "xhigh": "high", "max": "high"},
        ),
        (
            "Validation error for `reasoning_effort`: expected one of `'low' | 'medium' | 'high'`, received",
            THREE,
        ),
        ("request.effort: Invalid enum value. Expected 'low' | 'medium' | 'high', received 'xhigh'", THREE),
        (
            "reasoning_effort is not supported. Supported values: ['low', 'high', 'max']",
            {"none": "low", "minimal": "low", "medium": "low", "xhigh": "high"},
        ),
        (
            "reasoning_effort must be one of `none` or `default`",
            dict.fromkeys(("minimal", "low", "medium", "high", "xhigh", "max")),
        ),
        (
            "effort: supported values are: 'high'.",
            dict.fromkeys(("none", "minimal", "low", "medium", "xhigh", "max"), "high"),
        ),
    ],
    ids=["vLLM", "Ollama", "OpenAI", "Kimi", "zod", "Mistral", "Groq", "one alone"],
)
def test_the_next_best_level_is_asked_for_from_then_on(words: str, told: dict[str, str | None]) -> None:
    lesson = taught(words)
    assert lesson is not None
    assert lesson.lasting
    assert lesson.profile.effort_map == told


def test_what_the_profile_has_learned_or_knows_is_kept() -> None:
    """OpenAI: `max` is asked for as `xhigh`; a switch is no level."""
    lesson = taught(LITERAL, effort_map={"max": "xhigh", "none": "disabled", "minimal": None})
    assert lesson is not None
    assert lesson.profile.effort_map == {"max": "high", "none": "disabled", "minimal": None, "xhigh": "high"}


def test_a_list_that_all_levels_are_in_teaches_nothing() -> None:
    assert taught(LITERAL, effort_map=THREE) is None


@table(
    "words",
    [
        "Unsupported value: 'text.verbosity' does not support 'low'. Supported values are: 'medium', 'high'.",
        "effort: image detail must be one of 'low', 'high'",
        "Invalid value: 'huge'. Supported values are: 'low', 'high'.",
        "reasoning_effort must be a string",
    ],
)
def test_what_is_about_something_else_teaches_nothing(words: str) -> None:
    assert taught(words) is None


def test_where_no_level_is_sent_none_is_refused() -> None:
    assert taught(LITERAL, effort_field="none") is None


@table(
    "words",
    ["invalid reasoning value: 'xhigh'", 'think value "xhigh" is not supported for this model'],
)
def test_without_a_list_this_request_goes_on_without_a_level(words: str) -> None:
    lesson = taught(words)
    assert lesson is not None
    assert lesson.profile.effort_field == "none"
    assert not lesson.lasting
