"""The path of a fault in a request, as the log may show it: without a word of the client's own.

A path consists of names that the API has, of positions in lists, and of names that clients choose: of properties in
their schemas, of unknown members. The log shows the names in the API's description and JSON Schema's keywords. All
other names become a `*`.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from proxy.core.schemas.metaschema import KEYWORDS
from proxy.core.surfaces.memory.call_ids import HEADER

IN_ITEMS = frozenset(
    {
        "action", "audio_url", "definition", "file_id", "file_url", "is_error", "namespace", "operation", "syntax",
        "tool", "video_url",
    }
)  # fmt: skip
"""Names that only the readers of items and parts know."""

MAX_PATH = 200
"""Characters. A schema may be nested as deeply as a body."""

_STEP = re.compile(r"[^.\[\]]+|\[[^\[\]]*\]|[.\[\]]")
_NUMBER = re.compile(r"\[\d+\]")


def known_path(param: str) -> str:
    return "".join(_steps(param[: 2 * MAX_PATH]))[:MAX_PATH]


def _steps(param: str) -> Iterator[str]:
    names = _names()
    for found in _STEP.finditer(param):
        step = found[0]
        yield step if step in names or step in ".[]" or _NUMBER.fullmatch(step) else "*"


@cache
def _names() -> frozenset[str]:
    """The description is imported when the first path is told: a quarter of a megabyte for what is wrong."""
    from proxy.core.surfaces.openapi.kept_schemas import KEPT_ANSWERS, KEPT_REQUESTS, PAGE, STREAM
    from proxy.core.surfaces.openapi.schemas import ANSWER_SCHEMAS, FORMS, REQUEST_PARTS

    return frozenset(
        {
            HEADER,
            *IN_ITEMS,
            *KEYWORDS,
            "include",
            *PAGE,
            *STREAM,
            *_properties(REQUEST_PARTS | KEPT_REQUESTS | ANSWER_SCHEMAS | KEPT_ANSWERS),
            *_fields([form.core_schema for form in FORMS]),
        }
    )


def _properties(schemas: Any) -> Iterator[str]:
    """As JSON Schema has them."""
    for each in _objects(schemas):
        if isinstance(properties := each.get("properties"), dict):
            yield from properties


def _fields(forms: Any) -> Iterator[str]:
    """As pydantic has them. The forms' JSON Schemas would have them too, and take ten times as long to make."""
    for each in _objects(forms):
        if isinstance(fields := each.get("fields"), dict):
            yield from (field.get("validation_alias", name) for name, field in fields.items())


def _objects(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for each in inner:
        yield from _objects(each)
