"""What was strange about a request, in a few words, for the line that people read."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from proxy.core.inspected.remark_words import markup_in_brief

MOST: Final = 3
"""Of each kind: a broken backend may do everything wrong at once."""


def remarks(fields: Mapping[str, Any]) -> Iterator[str]:
    for kind, words in KINDS.items():
        counted: Mapping[str, int] = fields.get(kind, {})
        for name in list(counted)[:MOST]:
            times = f"{counted[name]} × " if counted[name] > 1 else ""
            yield f"{times}{words(name)}"
        if len(counted) > MOST:
            yield f"and {len(counted) - MOST} more like that"


def _odd(name: str) -> str:
    return f"odd: {name.replace('_', ' ')}"


def _dropped(name: str) -> str:
    return f"not passed on: {name}"


KINDS: Final[Mapping[str, Callable[[str], str]]] = {
    "markup": markup_in_brief,
    "oddities": _odd,
    "dropped": _dropped,
}
