"""The bounds of metadata, each with its code."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.surfaces.responses.metadata import checked_metadata
from tests.support.tables import table

FULL = {f"{number:064}": "x" * 512 for number in range(16)}


@table(("given", "read"), [(None, {}), ({}, {}), ({"": ""}, {"": ""}), (FULL, FULL)])
def test_what_is_within_the_bounds_is_taken_as_it_came(given: Any, read: dict[str, str]) -> None:
    assert checked_metadata(given) == read


LONG = f"metadata.{'k' * 65}"


@table(
    ("given", "code", "param", "complaint"),
    [
        ([], "invalid_type", "metadata", "must be an object, got array."),
        ({"a": 1}, "invalid_type", "metadata.a", "must be a string, got number."),
        ({"a": None}, "invalid_type", "metadata.a", "must be a string, got null."),
        (
            {str(number): "" for number in range(17)},
            "object_above_max_properties",
            "metadata",
            "may have at most 16 entries.",
        ),
        (
            {"k" * 65: ""},
            "property_name_above_max_length",
            LONG,
            "may have at most 64 characters in its name.",
        ),
        ({"a": "x" * 513}, "string_above_max_length", "metadata.a", "may have at most 512 characters."),
    ],
)
def test_what_is_over_a_bound_is_refused(given: Any, code: str, param: str, complaint: str) -> None:
    with pytest.raises(ClientFault) as refused:
        checked_metadata(given)
    fault = refused.value
    assert (fault.code, fault.param, fault.message) == (code, param, f"{param} {complaint}")
