"""What was strange about a request, in a few words, for the line that people read."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

MOST: Final = 3
"""Of each kind: a broken backend may do everything wrong at once."""

FOUND_IN_TEXT: Final[Mapping[str, str]] = {
    "capped": "what began like a tool call was too long to be one",
    "omitted": "a call of an undeclared tool was left out",
    "quoted": "a tool call was only quoted",
    "recovered": "a tool call in the text became a call",
    "released": "what began like a tool call was none",
    "stripped": "a stray tag of a tool call was taken out",
    "undeclared": "what looked like a tool call names no tool",
    "unread": "there was too much that looks like tool calls",
}


def remarks(fields: Mapping[str, Any]) -> Iterator[str]:
    for kind, words in KINDS.items():
        counted: Mapping[str, int] = fields.get(kind, {})
        for name in list(counted)[:MOST]:
            times = f"{counted[name]} × " if counted[name] > 1 else ""
            yield f"{times}{words(name)}"
        if len(counted) > MOST:
            yield f"and {len(counted) - MOST} more like that"


def _found_in_text(name: str) -> str:
    outcome, _, notation = name.partition(":")
    return f"{FOUND_IN_TEXT.get(outcome, _spelled(outcome))} ({notation or '-'})"


def _odd(name: str) -> str:
    return f"odd: {_spelled(name)}"


def _dropped(name: str) -> str:
    return f"not passed on: {name}"


def _spelled(name: str) -> str:
    return name.replace("_", " ")


KINDS: Final[Mapping[str, Callable[[str], str]]] = {
    "markup": _found_in_text,
    "oddities": _odd,
    "dropped": _dropped,
}
