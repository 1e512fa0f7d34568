"""JavaScript's regular expressions, translated for Python's engine.

JSON Schema takes the regular expressions of JavaScript, and authors use what only JavaScript has: properties of
characters (`\\p{L}`), code points of any length (`\\u{1F600}`), names in plain brackets. Python rejects the whole
pattern for one of them, and the value would go unchecked. Where both engines know a sign and differ (`[]`, `\\w`),
Python's reading stands: most programs that write schemas mean it.
"""

import re
import unicodedata
from functools import cache
from itertools import groupby

LONG_NAMES = {
    "Letter": "L",
    "Lowercase_Letter": "Ll",
    "Uppercase_Letter": "Lu",
    "Mark": "M",
    "Number": "N",
    "Decimal_Number": "Nd",
    "Punctuation": "P",
    "Symbol": "S",
    "Currency_Symbol": "Sc",
    "Separator": "Z",
    "Space_Separator": "Zs",
}
_KINDS = {"L": "ultmo", "M": "nce", "N": "dlo", "P": "cdseifo", "S": "mcko", "Z": "slp"}
CATEGORIES = frozenset(group + kind for group, kinds in _KINDS.items() for kind in ("", *kinds))
"""All categories but those without characters, which no schema asks for."""

ASSIGNED = (range(0x32400), range(0xE0000, 0xE0200))
"""The ranges in which the characters of these categories lie: a fifth of all points. The rest need not be searched."""
LAST_POINT = 0x10FFFF

LONGEST = 1 << 16
"""Characters of a translated pattern. The set of all letters takes three thousand, so a short pattern may become a
very long one. The longest take a tenth of a second, and a megabyte, to be compiled."""

_TOKEN = re.compile(
    r"\\(?P<property>[pP])(?:(?P<letter>[A-Z])|\{(?:(?:gc|General_Category)=)?(?P<name>\w{1,40})\})"
    r"|\\u\{(?P<point>[0-9a-fA-F]{1,6})\}"
    r"|(?P<unknown>\\[pPu][{A-Z])"
    r"|\\."
    r"|(?P<named>\(\?<(?=[A-Za-z_]))"
    r"|(?P<open>\[\^?\]?)"
    r"|(?P<close>\])"
    r"|.",
    re.DOTALL,
)

Range = tuple[int, int]


class _Unsayable(Exception):
    """Python's engine cannot express it."""


def translated(pattern: str) -> str | None:
    """Translates what Python reads differently. None where Python cannot express the pattern."""
    in_set, length = False, 0
    written: list[str] = []
    try:
        for token in _TOKEN.finditer(pattern):
            kind, text = token.lastgroup, token[0]
            if kind == "close":
                in_set = False
            elif kind == "open" and in_set:
                in_set = not text.endswith("]")
                text = "\\" + text
            elif kind == "open":
                in_set = True
            elif kind is not None and not (in_set and kind == "named"):
                text = _said(token, in_set)
            written.append(text)
            length += len(text)
            if length > LONGEST:
                return None
    except _Unsayable:
        return None
    return "".join(written)


def _said(token: re.Match[str], in_set: bool) -> str:
    if token["point"]:
        return _literal(int(token["point"], 16))
    if token["property"]:
        named = token["letter"] or token["name"]
        inside = _characters(LONG_NAMES.get(named, named), token["property"] == "P")
        return inside if in_set else f"[{inside}]"
    if token["unknown"]:
        raise _Unsayable
    return "(?P<"


@cache
def _characters(category: str, negated: bool) -> str:
    """Returns the inside of a set that matches all characters of a category, or all others."""
    if category not in CATEGORIES:
        raise _Unsayable
    ranges = sorted(
        piece for name, pieces in _by_category().items() if name.startswith(category) for piece in pieces
    )
    if negated:
        ends = [-1, *(last for _, last in ranges)]
        begins = [*(first for first, _ in ranges), LAST_POINT + 1]
        ranges = [(end + 1, begin - 1) for end, begin in zip(ends, begins, strict=True) if end + 1 < begin]
    return "".join(_literal(first) + (f"-{_literal(last)}" if last > first else "") for first, last in ranges)


@cache
def _by_category() -> dict[str, list[Range]]:
    """Looks through all points in one pass, which takes a fiftieth of a second, once."""
    found: dict[str, list[Range]] = {}
    for points in ASSIGNED:
        for category, run in groupby(points, lambda point: unicodedata.category(chr(point))):
            inside = list(run)
            found.setdefault(category, []).append((inside[0], inside[-1]))
    return found


def _literal(point: int) -> str:
    if point > LAST_POINT:
        raise _Unsayable
    return f"\\U{point:08x}" if 0xD800 <= point < 0xE000 else re.escape(chr(point))
