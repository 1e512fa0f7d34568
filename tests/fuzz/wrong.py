"""A document with something wrong in one place: every place of it, every kind of wrong."""

from collections.abc import Iterator
from typing import Any

from proxy.core import jsontext

HALF = "<half a character>"
"""Stands for it until it is on the wire, since no text holds one."""
DEEP = "<deeper than can be written>"
GONE: Any = object()
"""The place is left out."""

WRONG: tuple[Any, ...] = (
    GONE,
    None,
    True,
    0,
    -1,
    1e300,
    2**70,
    "",
    "x",
    HALF,
    "\u202e\0",
    "data:,",
    "9" * 300,
    [],
    {},
    [None],
    ["x"],
    {"": []},
    {"type": "x"},
    [[{}]],
    DEEP,
)

ENTRIES = 3
"""Of a list that are spoiled: the others are read as these are."""

NESTED = b"[" * 300 + b"]" * 300

Path = tuple[str | int, ...]


def places(document: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(document, dict):
        for name, value in document.items():
            yield from places(value, (*path, name))
    elif isinstance(document, list):
        for index, value in enumerate(document[:ENTRIES]):
            yield from places(value, (*path, index))


def put(document: Any, path: Path, value: Any) -> Any:
    """A copy as far as it differs."""
    if not path:
        return None if value is GONE else value
    step, *rest = path
    if not rest and value is GONE:
        if isinstance(document, list):
            return [*document[:step], *document[step + 1 :]]
        return {name: kept for name, kept in document.items() if name != step}
    copy = list(document) if isinstance(document, list) else dict(document)
    copy[step] = put(document[step], tuple(rest), value)  # type: ignore[index,call-overload]
    return copy


def spoiled(document: Any, *, one_in: int = 1) -> Iterator[tuple[str, bytes]]:
    """What was done to it, and what it is then. `one_in`: of so many one is tried, each place with another choice of
    what is wrong, so that few are left out whole."""
    for number, path in enumerate(places(document)):
        for kind, value in enumerate(WRONG):
            if (number + kind) % one_in == 0:
                told = f"{'.'.join(map(str, path))} ← {'left out' if value is GONE else repr(value)[:40]}"
                yield told, wire(put(document, path, value))


def wire(value: Any) -> bytes:
    data = jsontext.dumps(value)
    return data.replace(HALF.encode(), rb"\ud83d").replace(b'"' + DEEP.encode() + b'"', NESTED)
