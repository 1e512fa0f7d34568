"""Each language of backends in one row."""

from dataclasses import replace
from typing import Any

from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.registry import DIALECTS, counter_of, spoken_by, wants_thoughts_back
from tests.support.chat_requests import profile
from tests.support.tables import table


def test_every_profile_speaks_a_language_of_the_table() -> None:
    for each in PROFILES.values():
        assert spoken_by(each) is DIALECTS[each.dialect]


@table(
    ("dialect", "fields", "expected"),
    [
        ("chat", {}, True),
        ("chat", {"replay_by_evidence": False}, False),
        ("chat", {"replay": "reasoning_content", "replay_by_evidence": False}, False),
        ("chat", {"replay": "reasoning_details"}, True),
        ("chat", {"signed_calls": True}, True),
        ("anthropic", {"replay": "none"}, False),
        ("anthropic", {"replay": "reasoning"}, True),
        ("google", {}, True),
    ],
)
def test_a_language_says_whether_anything_may_have_to_be_kept(
    dialect: str, fields: dict[str, Any], expected: bool
) -> None:
    assert DIALECTS[dialect].decoder.wants_extras_back(profile(**fields)) is expected


def test_a_language_knows_every_counter_that_a_backend_of_it_is_known_to_have() -> None:
    for each in PROFILES.values():
        assert (counter_of(each) is None) is (each.counter == "none")


def test_a_counter_of_another_language_is_none() -> None:
    assert counter_of(profile(counter="google")) is None


@table(
    ("dialect", "fields", "expected"),
    [
        ("chat", {}, False),
        ("chat", {"replay": "reasoning_content"}, True),
        ("chat", {"signed_calls": True}, True),
        ("anthropic", {"replay": "none"}, False),
        ("google", {}, True),
    ],
)
def test_a_backend_wants_thoughts_back_by_its_profile(
    dialect: str, fields: dict[str, Any], expected: bool
) -> None:
    assert wants_thoughts_back(profile(dialect=dialect, **fields)) is expected


def test_a_model_that_may_be_asked_by_responses_may_want_its_thoughts_back() -> None:
    assert wants_thoughts_back(replace(PROFILES["openai"], thinks_beside_tools=False))
    assert not wants_thoughts_back(PROFILES["openai"])
