"""T22: the bounds of metadata, each with its code."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.stored.metadata import checked_metadata
from tests.support.tables import table

FULL = {f"{number:064}": "x" * 512 for number in range(16)}


@table(("given", "read"), [(None, {}), ({}, {}), ({"": ""}, {"": ""}), (FULL, FULL)])
def test_what_is_within_the_bounds_is_taken_as_it_came(given: Any, read: dict[str, str]) -> None:
    assert checked_metadata(given) == read


@table(
    ("given", "code", "param", "message"),
    [
        ([], "invalid_type", "metadata", "metadata must be an object, got array."),
        ({"a": 1}, "invalid_type", "metadata.a", "metadata.a must be a string, got number."),
        ({"a": None}, "invalid_type", "metadata.a", "metadata.a must be a string, got null."),
        (
            {str(number): "" for number in range(17)},
            "object_above_max_properties",
            "metadata",
            "metadata holds 17 pairs, and may hold 16: send fewer.",
        ),
        (
            {"k" * 65: ""},
            "property_name_above_max_length",
            "metadata",
            f"metadata has the key '{'k' * 65}' of 65 characters, and one may have 64: shorten it.",
        ),
        (
            {"a": "x" * 513},
            "string_above_max_length",
            "metadata.a",
            "metadata.a has 513 characters, and may have 512: shorten it.",
        ),
    ],
)
def test_what_is_over_a_bound_is_refused(given: Any, code: str, param: str, message: str) -> None:
    with pytest.raises(ClientFault) as refused:
        checked_metadata(given)
    assert (refused.value.code, refused.value.param, refused.value.message) == (code, param, message)
