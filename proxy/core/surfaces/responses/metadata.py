"""Metadata: pairs of strings that a client keeps beside what it makes. Its bounds have codes of their own."""

from typing import Any

from proxy.core.masking.redact import shown
from proxy.core.surfaces.reading.checks import FieldFault, mapping, wrong_type

MAX_PAIRS = 16
MAX_KEY = 64
MAX_VALUE = 512
"""Characters, as those of a key. These are the published bounds."""


def checked_metadata(value: Any) -> dict[str, str]:
    """Raises a FieldFault. Null is no metadata."""
    if value is None:
        return {}
    pairs = mapping(value, "metadata")
    if len(pairs) > MAX_PAIRS:
        complaint = f"may have at most {MAX_PAIRS} entries."
        raise FieldFault("metadata", complaint, "object_above_max_properties")
    for key, text in pairs.items():
        path = f"metadata.{shown(key)}"
        if len(key) > MAX_KEY:
            complaint = f"may have at most {MAX_KEY} characters in its name."
            raise FieldFault(path, complaint, "property_name_above_max_length")
        if not isinstance(text, str):
            raise wrong_type(path, "a string", text)
        if len(text) > MAX_VALUE:
            complaint = f"may have at most {MAX_VALUE} characters."
            raise FieldFault(path, complaint, "string_above_max_length")
    return pairs
