"""Metadata: pairs of strings that a client keeps beside a response or a conversation."""

from typing import Any

from proxy.core.masking.redact import quoted, shown
from proxy.core.surfaces.reading.checks import FieldFault, mapping, wrong_type

MAX_PAIRS = 16
MAX_KEY = 64
MAX_VALUE = 512
"""Characters. These are the published bounds."""


def checked_metadata(value: Any, param: str = "metadata") -> dict[str, str]:
    """Raises a FieldFault. Null is no metadata."""
    if value is None:
        return {}
    pairs = mapping(value, param)
    if len(pairs) > MAX_PAIRS:
        complaint = f"holds {len(pairs)} pairs, and may hold {MAX_PAIRS}: send fewer."
        raise FieldFault(param, complaint, "object_above_max_properties")
    for key, text in pairs.items():
        if len(key) > MAX_KEY:
            complaint = (
                f"has the key {quoted(key)} of {len(key)} characters, and one may have {MAX_KEY}: shorten it."
            )
            raise FieldFault(param, complaint, "property_name_above_max_length")
        path = f"{param}.{shown(key)}"
        if not isinstance(text, str):
            raise wrong_type(path, "a string", text)
        if len(text) > MAX_VALUE:
            complaint = f"has {len(text)} characters, and may have {MAX_VALUE}: shorten it."
            raise FieldFault(path, complaint, "string_above_max_length")
    return pairs
