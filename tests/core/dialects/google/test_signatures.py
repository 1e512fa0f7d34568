"""What clients carry for the model comes back to it alone, and nothing that they make of it does harm."""

from typing import Any

from proxy.core.dialects.google.signatures import Signature, as_extras, read
from tests.support.tables import table


def test_what_is_kept_is_read_again() -> None:
    assert read(as_extras("U0lH", "end", "m"), "m") == [Signature("U0lH", "end")]


@table(
    ("extras", "found"),
    [
        ({}, []),
        ({"chat": {"signatures": [{"model": "m", "signature": "x"}]}}, []),
        ({"google": 1}, []),
        ({"google": {}}, []),
        ({"google": {"signatures": 1}}, []),
        ({"google": {"signatures": [1, {}]}}, []),
        ({"google": {"signatures": [{"model": "other", "signature": "x"}]}}, []),
        ({"google": {"signatures": [{"model": "m", "signature": ""}]}}, []),
        ({"google": {"signatures": [{"model": "m", "signature": 1}]}}, []),
        ({"google": {"signatures": [{"model": "m", "signature": "x"}]}}, [("x", "call")]),
        ({"google": {"signatures": [{"signature": "x"}]}}, [("x", "call")]),
        ({"google": {"signatures": [{"model": "m", "signature": "x", "place": []}]}}, [("x", "call")]),
    ],
)
def test_what_is_foreign_or_broken_is_ignored(extras: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert read(extras, "m") == found
