"""Schemas that the tests of several modules look at."""

from typing import Any

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where."}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}


def nested(levels: int, keyword: str = "items") -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels - 1):
        inner = {keyword: inner}
    return inner
