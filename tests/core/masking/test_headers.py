"""Headers that may be read later: every name, no key."""

import pytest

from proxy.core.masking.headers import shown_headers

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
