"""F38, F44: no number that a backend says where a count should be makes us raise, here or wherever it is added up."""

from typing import Any

from proxy.core.dialects.reading import token_counts
from tests.support.tables import table


@table(
    ("said", "count"),
    [
        (7, 7),
        (7.9, 7),
        (0, 0),
        (-3, 0),
        ("7", 7),
        ("7.9", 0),
        ("-7", 0),
        ("", 0),
        ("seven", 0),
        ("٣", 3),
        ("1" * 400, 0),
        (None, 0),
        ({}, 0),
        (float("inf"), 0),
        (float("nan"), 0),
        (2**53 - 1, 2**53 - 1),
        (2**53, 0),
        (10**400, 0),
        (1e300, 0),
    ],
)
def test_read(said: Any, count: int) -> None:
    assert token_counts.read(said) == count
