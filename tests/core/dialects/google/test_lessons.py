"""What Gemini's refusals teach: each row one change, and none what is known already."""

from dataclasses import fields
from functools import partial
from typing import Any

from proxy.core.dialects.google.lessons import LESSONS
from proxy.core.dialects.reading import lessons
from proxy.core.profile import BackendProfile
from tests.support.google_requests import GOOGLE, google
from tests.support.tables import table

learn = partial(lessons.learn, LESSONS)

TUNING = GOOGLE.tuning


def changed(profile: BackendProfile) -> dict[str, Any]:
    return {
        each.name: getattr(profile, each.name)
        for each in fields(BackendProfile)
        if getattr(profile, each.name) != getattr(GOOGLE, each.name)
    }


TAUGHT: list[tuple[str, str, dict[str, Any]]] = [
    ("signatures", "Corrupted thought signature.", {"signed_calls": False}),
    ("signatures", "Invalid thought_signature", {"signed_calls": False}),
    (
        "signatures",
        "Function call is missing a thought_signature in functionCall parts",
        {"signed_calls": False},
    ),
    (
        "level",
        "Thinking level MINIMAL is not supported for this model.",
        {"effort_map": {"none": "low", "minimal": "low"}},
    ),
    (
        "level",
        "Budget 0 is invalid. This model only works in thinking mode.",
        {"effort_map": {"none": "minimal"}},
    ),
    ("level_refused", "Thinking level BANANA is not supported for this model.", {"effort_field": "none"}),
    ("thinking", "Thinking is not supported by this model.", {"effort_field": "none"}),
    ("thinking", "Thinking level is not supported for this model.", {"effort_field": "none"}),
    (
        "format",
        "Function calling with a response mime type: 'application/json' is unsupported",
        {"format_with_tools": False},
    ),
    (
        "schema",
        "Invalid JSON payload received. Unknown name \"parametersJsonSchema\" at 'tools[0]': Cannot find field.",
        {"schema": (GOOGLE.schema - {"google"}) | {"google_proto"}},
    ),
    ("logprobs", "Logprobs is not enabled for models/m", {"tuning": TUNING - {"logprobs", "top_logprobs"}}),
    (
        "penalty",
        "Penalty is not enabled for models/m",
        {"tuning": TUNING - {"presence_penalty", "frequency_penalty"}},
    ),
    ("tuning", "temperature is not supported for this model", {"tuning": TUNING - {"temperature"}}),
    ("tuning", "topP cannot be used here", {"tuning": TUNING - {"top_p"}}),
    ("tuning", "stop_sequences is not supported", {"tuning": TUNING - {"stop"}}),
    ("images", "Cannot fetch content from the provided URL.", {"images": "data"}),
    ("images", "Invalid or unsupported file uri: https://x", {"images": "data"}),
]


ONCE = ("signatures", "level_refused", "images")
"""Another conversation's signatures are good, other levels are known, and other pictures can be fetched (attack-07)."""


@table(("row", "message", "change"), TAUGHT)
def test_a_refusal_teaches_one_thing_once(row: str, message: str, change: dict[str, Any]) -> None:
    lesson = learn(GOOGLE, message)
    assert lesson is not None
    assert (lesson.row, changed(lesson.profile)) == (row, change)
    assert lesson.lasting is (row not in ONCE)
    again = learn(lesson.profile, message)
    assert again is None or again.row != row, "the same words may mean more, but not the same once more"
    assert again == learn(lesson.profile, message, [row])


def test_every_row_teaches_something() -> None:
    names = [row.name for row in LESSONS]
    assert names == sorted(names, key=[name for name, _, _ in TAUGHT].index)
    for row in LESSONS:
        assert any(row.pattern.search(message) for taught, message, _ in TAUGHT if taught == row.name)


def test_other_words_teach_nothing() -> None:
    assert learn(google(), "The model is overloaded.") is None
    assert learn(google(), "temperature 3 is not supported for this model") is None, "but it may be lower"
