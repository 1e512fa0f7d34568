"""Patterns that clients put into schemas, matched only where the time it takes is bounded.

Python's engine goes back and tries again: `^(a+)+$` takes seconds for 26 characters, and twice as long for each one
more. So a pattern is priced before it is run. What repeats something that itself varies is never run, nor is what
looks around or back; for the rest the steps follow from the length of the text.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_PATTERN = 1_000
"""Characters. The longest honest ones, for dates and addresses, have some hundred."""
CACHED_PATTERNS = 512

_TOKEN = re.compile(
    r"\\(?P<escaped>.)"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<open>\((?:\?:|\?P<[A-Za-z_]\w*>)?)"
    r"|(?P<close>\))"
    r"|(?P<either>\|)"
    r"|(?P<repeat>\*|\+|\?|\{(?P<low>\d*)(?P<to>,?)(?P<high>\d*)\})\??"
    r"|.",
    re.DOTALL,
)
"""What a pattern is made of, as far as its price goes. Brackets that begin in other ways look around or set flags."""


@dataclass(frozen=True, slots=True)
class Price:
    expression: re.Pattern[str]
    power: int
    """How often the length of the text is multiplied with itself."""
    factor: int

    def steps(self, length: int) -> int:
        steps: int = self.factor * (length + 1) ** self.power
        return steps


@dataclass(slots=True)
class _Part:
    """A pair of brackets, or what stands between two of them."""

    branches: int = 1
    varies: bool = False
    """Can what is inside match one text in several ways?"""


def priced(pattern: str) -> Price | None:
    """None where the price has no bound, or cannot be told, or where Python cannot read the pattern."""
    return _priced(pattern) if len(pattern) <= MAX_PATTERN else None


@lru_cache(maxsize=CACHED_PATTERNS)
def _priced(pattern: str) -> Price | None:
    power, factor = 0, 1
    around, last = [_Part()], _Part()
    for token in _TOKEN.finditer(pattern):
        kind, before, last = token.lastgroup, last, _Part()
        if kind == "open":
            if token["open"] == "(" and pattern.startswith("(?", token.start()):
                return None
            around.append(_Part())
        elif kind == "close" and len(around) > 1:
            last = around.pop()
            last.varies |= last.branches > 1
            around[-1].varies |= last.varies
            factor *= last.branches
        elif kind == "either":
            around[-1].branches += 1
        elif token["repeat"]:
            around[-1].varies = True
            times = _times(token)
            if before.varies and times != 2:
                return None
            power, factor = (power, factor * times) if times else (power + 1, factor)
        elif kind == "escaped" and token["escaped"].isdigit():
            return None
    anchored = pattern.startswith("^") and around[0].branches == 1
    return _compiled(pattern, power + (not anchored), factor * around[0].branches)


def _times(token: re.Match[str]) -> int:
    """How many repetitions have to be tried. 0: as many as the text has characters."""
    if token["repeat"] == "?":
        return 2
    return int(token["high"] or (not token["to"] and token["low"]) or 0)


def _compiled(pattern: str, power: int, factor: int) -> Price | None:
    try:
        return Price(re.compile(pattern), power, factor)
    except (re.error, OverflowError, RecursionError):
        return None
