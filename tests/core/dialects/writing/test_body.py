"""What all encoders end with."""

from typing import Any

from proxy.core.dialects.writing.body import patched
from proxy.core.ledger import Ledger
from tests.support.tables import table


@table(
    ("body", "patch", "expected", "dropped"),
    [
        ({"a": 1}, {}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2, "b": [3]}, {"a": 2, "b": [3]}, {}),
        ({"a": 1, "b": 2}, {"a": None, "c": None}, {"b": 2}, {"a": 1}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}}, {"a": {"c": 2, "d": 3}}, {"b": 1}),
        ({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}, {}),
    ],
)
def test_a_profiles_patch_is_laid_over_the_body(
    body: dict[str, Any], patch: dict[str, Any], expected: dict[str, Any], dropped: dict[str, int]
) -> None:
    ledger = Ledger()
    assert patched(body, patch, ledger) == expected
    assert ledger.dropped == dropped
