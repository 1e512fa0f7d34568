"""Complaints in plain words: what was expected, what came instead, and where.

All surfaces share them, so that a wrong type is refused in the same words everywhere. A reader of one item knows paths
from there on only (`.content[0].text`); the loop around it puts its own step before a path when a complaint rises.
"""

from typing import Any

from proxy.core.errors import ClientFault

_JSON_NAMES = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "decimal number",
    str: "string",
    list: "array",
    dict: "object",
}


class FieldFault(ClientFault):
    """One field of the request is wrong; `param` is its path, as far as it is known yet."""

    def __init__(self, param: str, complaint: str, code: str | None) -> None:
        super().__init__(f"{param} {complaint}", param=param, code=code)
        self._complaint = complaint

    def inside(self, path: str) -> "FieldFault":
        return FieldFault(f"{path}{self.param}", self._complaint, self.code)


def json_name(value: Any) -> str:
    return _JSON_NAMES[type(value)]


def missing(param: str, what: str) -> FieldFault:
    """`what` belongs there."""
    return FieldFault(param, f"is required: {what}.", "missing_required_parameter")


def wrong_type(param: str, expected: str, value: Any) -> FieldFault:
    return FieldFault(param, f"must be {expected}, got {json_name(value)}.", "invalid_type")


def wrong_value(param: str, complaint: str) -> FieldFault:
    return FieldFault(param, complaint, "invalid_value")


def unsupported(param: str, complaint: str) -> FieldFault:
    """The value is understood, but cannot be supported. The complaint names a way out where there is one."""
    return FieldFault(param, complaint, "unsupported_value")


def too_many(param: str, limit: int, things: str) -> FieldFault:
    return FieldFault(param, f"holds more than {limit} {things}: send fewer.", "array_above_max_length")


def array(value: Any, param: str) -> list[Any]:
    if isinstance(value, list):
        return value
    raise wrong_type(param, "an array", value)


def mapping(value: Any, param: str, expected: str = "an object") -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise wrong_type(param, expected, value)


def string_in(holder: dict[str, Any], key: str, param: str = "", what: str = "a string") -> str:
    """The string at `key` of the object at `param`; null counts as absent. A complaint says `what` is missing."""
    value = holder.get(key)
    if isinstance(value, str):
        return value
    if value is None:
        raise missing(f"{param}.{key}", what)
    raise wrong_type(f"{param}.{key}", "a string", value)


def filled_in(holder: dict[str, Any], key: str, param: str = "", what: str = "a string") -> str:
    """The string at `key`, which may not be empty."""
    value = holder.get(key)
    if isinstance(value, str) and value:
        return value
    if value == "":
        raise FieldFault(f"{param}.{key}", f"is empty: put {what}.", "missing_required_parameter")
    return string_in(holder, key, param, what)


def optional_string_in(holder: dict[str, Any], key: str, param: str = "") -> str | None:
    value = holder.get(key)
    if value is None or isinstance(value, str):
        return value
    raise wrong_type(f"{param}.{key}", "a string", value)
