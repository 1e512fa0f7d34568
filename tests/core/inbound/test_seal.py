"""Issue 4, item 4: what clients keep for us comes back exactly, or is not believed."""

import pytest

from proxy.core.inbound import seal
from proxy.core.inbound.seal import PREFIX, Seal
from proxy.core.model import Reasoning
from tests.tables import table

SEAL = Seal("a secret")
DETAILS = {"chat": {"reasoning_details": [{"type": "reasoning.encrypted", "data": "ab" * 500, "index": 0}]}}


@table(
    "thought",
    [Reasoning("Hm."), Reasoning("Ünïcödé " * 999), Reasoning("", DETAILS), Reasoning("Hm.", DETAILS)],
)
def test_reasoning_comes_back_exactly(thought: Reasoning) -> None:
    assert SEAL.open_reasoning(SEAL.reasoning(thought)) == thought


def test_a_summary_comes_back_exactly() -> None:
    assert SEAL.open_summary(SEAL.summary("We met.")) == "We met."


def test_call_ids_come_back_exactly() -> None:
    """N03."""
    assert SEAL.open_call_ids(SEAL.call_ids({"ids": {"a": "b"}})) == {"ids": {"a": "b"}}


def test_the_same_secret_opens_it_after_a_restart_and_no_other_does() -> None:
    token = SEAL.reasoning(Reasoning("Hm."))
    assert Seal("a secret").open_reasoning(token) == Reasoning("Hm.")
    assert Seal("another").open_reasoning(token) is None


def test_one_kind_is_not_taken_for_the_other() -> None:
    assert SEAL.open_summary(SEAL.reasoning(Reasoning("Hm."))) is None
    assert SEAL.open_summary(SEAL.call_ids({"text": "Hm."})) is None
    assert SEAL.open_call_ids(SEAL.summary("Hm.")) is None
    assert SEAL.open_reasoning(SEAL.summary("Hm.")) is None


def test_a_token_is_safe_in_any_text_and_shorter_than_what_repeats_itself() -> None:
    token = SEAL.reasoning(Reasoning("again and again " * 1000))
    assert token.removeprefix(PREFIX).replace("-", "").replace("_", "").isalnum()
    assert len(token) < 1000


def test_no_changed_character_goes_unnoticed() -> None:
    token = SEAL.reasoning(Reasoning("Hm."))
    places = range(len(PREFIX), len(token) - 1)  # the last character has bits that say nothing
    for place in places:
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        assert SEAL.open_reasoning(changed) is None


@table(
    "token",
    ["", "ENC1", "gAAAAABn", PREFIX, f"{PREFIX}A", f"{PREFIX}ABCD", f"{PREFIX}ä", f"{PREFIX}{'A' * 99}"],
)
def test_what_is_not_ours_is_not_opened(token: str) -> None:
    assert SEAL.open_reasoning(token) is None


def test_what_unpacks_to_more_than_anybody_thinks_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever knows the secret could pack gigabytes into a megabyte."""
    monkeypatch.setattr(seal, "MAX_HELD", 1000)
    assert SEAL.open_summary(SEAL.summary("x" * 900)) == "x" * 900
    assert SEAL.open_summary(SEAL.summary("x" * 1000)) is None
