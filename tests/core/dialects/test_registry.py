"""Each language of backends in one row."""

from dataclasses import replace
from typing import Any

from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.registry import DIALECTS, counter_of, get_ready, spoken_by, wants_thoughts_back
from proxy.core.ledger import Ledger
from proxy.core.model import ReasoningWish, Request
from proxy.core.tools.prepare import prepare
from tests.support.chat_requests import profile, user
from tests.support.tables import table


def test_every_profile_speaks_a_language_of_the_table() -> None:
    for each in PROFILES.values():
        assert spoken_by(each) is DIALECTS[each.dialect]()


@table(
    ("fields", "languages"),
    [
        ({}, {"chat"}),
        ({"wire": "responses"}, {"chat", "responses"}),
        ({"dialect": "google"}, {"google"}),
    ],
)
def test_what_a_backend_may_be_asked_in_is_there_before_anybody_asks(
    fields: dict[str, Any], languages: set[str]
) -> None:
    for each in DIALECTS.values():
        each.cache_clear()
    get_ready(profile(**fields))
    assert {name for name, each in DIALECTS.items() if each.cache_info().currsize} == languages


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
    assert DIALECTS[dialect]().decoder.wants_extras_back(profile(**fields)) is expected


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


@table("name", sorted({*DIALECTS}))
def test_how_a_model_is_to_think_is_counted_where_there_are_no_words_for_it(name: str) -> None:
    """Only OpenAI's newest models know them, and only by Responses."""
    ledger = Ledger()
    asked = Request("m", [user("Hi")], reasoning=ReasoningWish(ways={"context": "all_turns", "mode": "pro"}))
    on = profile(dialect=name)
    DIALECTS[name]().encode(asked, prepare(asked, on, ledger), on, "m", ledger)
    assert ledger.dropped == {"reasoning_context": 1, "reasoning_mode": 1}
