"""Headers that may be read later: every name, no key."""

import pytest

from proxy.core.masking.headers import LEAST_KEY, MAX_KEY, MOST_KEYS, keys_in, shown_headers

KEY = "sk-abcdefgh12345678"


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Api-Key", "Proxy-Authorization", "X-Anything"],
)
def test_a_value_is_shown_only_where_it_can_be_no_secret(name: str) -> None:
    """S05, S06."""
    assert shown_headers({name: "what nobody knows the form of"}) == {name: "[redacted]"}


def test_what_says_who_asks_and_how_is_shown() -> None:
    said = {"User-Agent": "codex/1.0", "X-Stainless-Lang": "js", "Content-Type": "application/json"}
    assert shown_headers(said) == said


def test_a_key_where_none_belongs_is_masked() -> None:
    """S06."""
    assert shown_headers({"User-Agent": f"tool {KEY}"}) == {"User-Agent": "tool [redacted]"}


def test_what_is_not_shown_is_looked_for_elsewhere() -> None:
    """S06: but for words, and for more than anybody has."""
    word = "x" * (LEAST_KEY - 1)
    assert keys_in({"Authorization": f"Bearer {KEY}", "Accept": "*/*", "X-A": word}) == [f"Bearer {KEY}"]
    assert keys_in({"X-A": "x" * (MAX_KEY + 1)}) == []
    assert len(keys_in({f"X-{at}": "x" * LEAST_KEY for at in range(MOST_KEYS + 1)})) == MOST_KEYS
