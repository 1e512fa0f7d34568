"""Patterns that clients put into schemas, matched only where the time that takes is bounded.

Python's engine goes back and tries again: `^(a+)+$` takes seconds for 26 characters, and twice as long for each one
more. So a pattern is priced before it is run: how many places can the engine come to, whatever the text? Each part has
so many *ways* to match from one place, and takes so many *steps* to go through them all; the engine tries what follows
a part once for each of its ways. A part with several ways that repeats without a bound has no price, and neither has
one that looks around or back.
"""

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from math import comb

from proxy.core.schemas import ecma

MAX_PATTERN = 1_000
"""Characters. The longest honest patterns, for dates and addresses, have some hundred."""
MAX_WRITTEN = 8_000
"""Characters of a pattern in Python's words, where a set of all letters has three thousand. Each takes about a
microsecond to be compiled."""
CACHED_PATTERNS = 512

MAX_POWER = 12
"""Parts without a bound in a row: more than any honest pattern has."""
SEVERAL = 100
"""Repetitions. Where more are allowed, the text usually ends first."""
MAX_FACTOR = 1_000_000
"""Steps that take a second whatever the text. No check may cost that much, so such a pattern is never run."""

_TOKEN = re.compile(
    r"\\(?P<escaped>.)"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*+\])"
    r"|(?P<open>\((?:\?:|\?P<[A-Za-z_]\w*+>)?)"
    r"|(?P<close>\))"
    r"|(?P<either>\|)"
    r"|(?P<repeat>[*+?]|\{(?!\})(?P<low>[0-9]*+)(?P<to>,?)(?P<high>[0-9]*+)\})[?+]?"
    r"|.",
    re.DOTALL,
)
"""The parts of a pattern that matter for its price. Brackets that begin in other ways look around or set flags."""


class _Unbounded(Exception):
    """The pattern takes too long for a text of any length."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How a number grows with the length of the text: the sum of `factors[k] * comb(length + k, k)`.

    That is the number of ways to choose `k` ends in a text, one behind the other, as `k` repeats in a row do.
    """

    factors: tuple[int, ...]

    def at(self, length: int) -> int:
        return sum(factor * comb(length + power, power) for power, factor in enumerate(self.factors))

    def __add__(self, other: "Growth") -> "Growth":
        shorter, longer = sorted((self.factors, other.factors), key=len)
        rest = longer[len(shorter) :]
        return _bounded((*(one + more for one, more in zip(shorter, longer, strict=False)), *rest))

    def __mul__(self, other: "Growth") -> "Growth":
        """Puts one behind the other: the ends of the second lie behind those of the first."""
        factors = [0] * (len(self.factors) + len(other.factors) - 1)
        for power, factor in enumerate(self.factors):
            for more, times in enumerate(other.factors):
                factors[power + more] += factor * times
        return _bounded(tuple(factors))

    def __rmul__(self, times: int) -> "Growth":
        return _bounded(tuple(factor * times for factor in self.factors))


def _bounded(factors: tuple[int, ...]) -> Growth:
    if len(factors) > MAX_POWER + 1 or max(factors) > MAX_FACTOR:
        raise _Unbounded
    return Growth(factors)


ONCE = Growth((1,))
BY_LENGTH = Growth((0, 1))


@dataclass(frozen=True, slots=True)
class Price:
    expression: re.Pattern[str]
    growth: Growth

    def steps(self, length: int) -> int:
        """Bounds the steps for any text of this length."""
        return self.growth.at(length)


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a pattern, matched from any place of the text on."""

    ways: Growth = ONCE
    """The number of ways to match."""
    steps: Growth = ONCE
    """The number of steps to go through all of them."""

    def then(self, other: "_Part") -> "_Part":
        return _Part(self.ways * other.ways, self.steps + self.ways * other.steps)

    def either(self, other: "_Part") -> "_Part":
        return _Part(self.ways + other.ways, self.steps + other.steps)

    def repeated(self, low: int, high: int | None) -> "_Part":
        """Repeats the piece so many times; None means as often as the text allows."""
        if self.ways == ONCE:
            if high is None or high - low > SEVERAL:
                return _Part(BY_LENGTH, ONCE + low * self.steps + BY_LENGTH * self.steps)
            return _Part((high - low + 1) * ONCE, ONCE + high * self.steps)
        if high is None:
            raise _Unbounded
        ways, steps, most = ONCE, ONCE, ONCE
        for done in range(high):  # many steps soon exceed every bound
            steps += most * self.steps
            most = most * self.ways
            ways = ways + most if done >= low else most
        return _Part(ways, steps)


_NOTHING = _Part()


class _Brackets:
    """What stands between a pair of brackets, as far as it has been read."""

    def __init__(self) -> None:
        self._before: _Part | None = None
        """The alternatives that are complete."""
        self._sequence = _NOTHING
        self._last = _NOTHING
        """The piece that a following repeat would repeat."""

    def add(self, part: _Part) -> None:
        self._sequence, self._last = self._sequence.then(self._last), part

    def repeat(self, low: int, high: int | None) -> None:
        self._last = self._last.repeated(low, high)

    def or_else(self) -> None:
        self._before, self._sequence, self._last = self.part(), _NOTHING, _NOTHING

    def part(self) -> _Part:
        sequence = self._sequence.then(self._last)
        return sequence if self._before is None else self._before.either(sequence)

    @property
    def has_branches(self) -> bool:
        return self._before is not None


def priced(pattern: str) -> Price | None:
    """Returns None where the price has no bound or is unknown, and where Python cannot read the pattern, or only
    slowly."""
    return _priced(pattern) if len(pattern) <= MAX_PATTERN else None


@lru_cache(maxsize=CACHED_PATTERNS)
def _priced(pattern: str) -> Price | None:
    translated = ecma.translated(pattern)
    if translated is None or len(translated) > MAX_WRITTEN:
        return None
    expression = compiled(pattern)
    if expression is None:
        return None
    try:
        growth = _growth(expression.pattern)
    except _Unbounded:
        return None
    return None if growth is None else Price(expression, growth)


def _growth(pattern: str) -> Growth | None:
    """Returns None where the growth is unknown."""
    opened = [_Brackets()]
    for token in _TOKEN.finditer(pattern):
        kind, here = token.lastgroup, opened[-1]
        if kind == "open":
            if token["open"] == "(" and pattern.startswith("(?", token.start()):
                return None
            opened.append(_Brackets())
        elif kind == "close":
            opened.pop()
            opened[-1].add(here.part())
        elif kind == "either":
            here.or_else()
        elif token["repeat"]:
            here.repeat(*_times(token))
        elif kind == "escaped" and token["escaped"].isdigit():
            return None
        else:
            here.add(_NOTHING)
    whole = opened[0]
    if pattern.startswith("^") and not whole.has_branches:
        # The engine looks for the pattern nowhere else, but tries each place for its beginning.
        return whole.part().steps + BY_LENGTH
    return whole.part().steps * BY_LENGTH


def _times(token: re.Match[str]) -> tuple[int, int | None]:
    """Returns the least and the greatest number of repetitions."""
    if (sign := token["repeat"]) in "*+?":
        return int(sign == "+"), 1 if sign == "?" else None
    low = int(token["low"] or 0)
    return low, int(token["high"]) if token["high"] else None if token["to"] else low


@lru_cache(maxsize=CACHED_PATTERNS)
def compiled(pattern: str) -> re.Pattern[str] | None:
    """Compiles the pattern, translated for Python. None where Python cannot express it."""
    translated = ecma.translated(pattern)
    if translated is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of what it may mean one day, for programmers
            return re.compile(translated)
    except (re.error, OverflowError, RecursionError):
        return None
