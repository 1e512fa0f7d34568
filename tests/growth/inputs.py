"""Texts that may be bad for a pattern, made of the pattern itself.

What makes an engine go back is a run that it can take in several ways, or from several places, and an end that does
not fit. So each place of the pattern before a repeat is led to by an example of what stands before it; there a run
begins, of one character, of two, or of the example itself again and again; and something follows that fits nowhere.
"""

import re
from collections.abc import Iterable, Iterator
from re import _constants as c  # type: ignore[attr-defined]
from typing import Any

from tests.growth.engine import Counted, Engine, Test

COMMON = "aA0 \n_-.<>{}[]()\"'`:,;/|\\=@!é\x00"
"""Characters that patterns tell apart, besides those that they name."""
MAX_RUNS, MAX_LEADS = 20, 3
ENDLESS = 500_000
"""Steps; nobody waits for the rest."""
EXAMPLES = 3
"""Repetitions in an example, at most."""


class Inputs:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tests: list[Test] = engine.tests
        named = {chr(code) for code in _literals(engine.tree)}
        kinds: dict[tuple[bool, ...], str] = {}
        for char in [*sorted(named), *COMMON]:
            kinds.setdefault(tuple(test(char) for test in self._tests), char)
        self.letters = list(kinds.values())
        """One for each set of characters that the pattern takes for the same."""
        self._stranger = min(kinds, key=sum)
        self.stranger = kinds[self._stranger]
        """Fits in as few places as any."""

    def texts(self, length: int) -> Iterator[tuple[str, str, str]]:
        """Before, what is repeated, behind."""
        leads = list(dict.fromkeys(["", *self._leads(self._engine.tree, "")]))
        runs = [*self.letters]
        for lead in leads[1:]:
            runs += [
                lead,
                *(lead + letter for letter in self.letters),
                *(letter + lead for letter in self.letters),
            ]
        runs += [one + other for one in self.letters for other in self.letters if one != other]
        chosen = list(dict.fromkeys(run for run in runs if 0 < len(run) <= length // 2))
        befores = sorted(leads, key=len)
        befores = befores[:1] + befores[1 :: max(1, len(befores) // MAX_LEADS)][:MAX_LEADS]
        for run in chosen[:: max(1, -(-len(chosen) // MAX_RUNS))] + self.letters:
            for before in befores:
                for behind in ("", self.stranger):
                    yield before, run, behind

    # ── examples ──

    def _leads(self, tree: Iterable[Any], before: str) -> Iterator[str]:
        """An example of what stands before each repeat."""
        for op, argument in tree:
            yield from self._leads_inside(op, argument, before)
            before += self._example(op, argument)
            if op in _REPEATS:
                yield before

    def _leads_inside(self, op: Any, argument: Any, before: str) -> Iterator[str]:
        if op in _REPEATS:
            yield before
            yield from self._leads(argument[2], before)
        elif op is c.SUBPATTERN:
            yield from self._leads(argument[3], before)
        elif op is c.ATOMIC_GROUP:
            yield from self._leads(argument, before)
        elif op is c.BRANCH:
            for branch in argument[1]:
                yield from self._leads(branch, before)

    def _example(self, op: Any, argument: Any) -> str:
        if op in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
            return self._letter(op, argument)
        if op in _REPEATS:
            low, _, inner = argument
            return "".join(self._example(*one) for one in inner) * max(int(low), 1)
        if op is c.SUBPATTERN:
            return "".join(self._example(*one) for one in argument[3])
        if op is c.ATOMIC_GROUP:
            return "".join(self._example(*one) for one in argument)
        if op is c.BRANCH:
            return "".join(self._example(*one) for one in argument[1][0])
        return ""

    def _letter(self, op: Any, argument: Any) -> str:
        if op is c.LITERAL:
            return chr(argument)
        test = self._engine.single(op, argument)
        return next((letter for letter in self.letters if test(letter)), "")


_REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)


def _literals(tree: Any) -> Iterator[int]:
    """Every character that the pattern names."""
    if isinstance(tree, tuple) and len(tree) == 2 and tree[0] in (c.LITERAL, c.NOT_LITERAL):
        yield tree[1]
    elif isinstance(tree, tuple) and len(tree) == 2 and tree[0] is c.RANGE:
        yield from tree[1]
    elif not isinstance(tree, str | int) and hasattr(tree, "__iter__"):
        for one in tree:
            yield from _literals(one)
    elif hasattr(tree, "data"):
        yield from _literals(tree.data)


def text(before: str, run: str, behind: str, length: int) -> str:
    return before + run * (length // len(run)) + behind


def growing(engine: Engine, how: str, length: int) -> list[tuple[str, str, str]]:
    """The texts, by what they take at this length; the worst first."""
    taken = {parts: steps(engine, text(*parts, length), how) for parts in Inputs(engine).texts(length)}
    return sorted(taken, reverse=True, key=lambda parts: taken[parts])


def steps(engine: Engine, text: str, how: str) -> int:
    try:
        return engine.count(text, how, limit=ENDLESS)
    except Counted:
        return ENDLESS


def compiled(pattern: str, flags: int = 0) -> Engine:
    return Engine(re.compile(pattern, flags), longest_bound=EXAMPLES)
