"""Python's regular expressions, matched step by step, so that the steps can be counted.

The real engine cannot be asked how often it went back, and a clock tells another story on each machine. So this one
takes the same tree (`re._parser`), tries the same alternatives in the same order, without any memory of what failed
before, and counts what it looks at. What it finds is compared with what `re` finds, in the tests beside it; what it
does not know it refuses, so that no pattern is believed to be harmless because it was not understood.

Python's engine has shortcuts (it looks for a literal before it tries a match there), so its steps are fewer, by a
constant.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from re import _constants as c  # type: ignore[attr-defined]  # the only place where the meaning of a pattern can be had
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from tests.growth import characters

Test = Callable[[str], bool]
"""Does one character fit?"""
Place = Callable[[str, int], bool]
"""Does a place between two characters fit?"""


SINGLE = frozenset({c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN})
"""What takes one character."""


class Op(Enum):
    CHAR = auto()
    RUN = auto()
    """One character again and again: greedy, lazy or possessive."""
    SPLIT = auto()
    JUMP = auto()
    PLACE = auto()
    SAVE = auto()
    MOVED = auto()
    """Has anything been read since a register was saved? A loop around nothing ends."""
    INSIDE = auto()
    """A program of its own: looked at from here, or taken whole."""
    SAME = auto()
    """What a group has read, once more."""


@dataclass(slots=True)
class Step:
    op: Op
    test: Any = None
    low: int = 0
    high: int = 0
    how: str = ""
    a: int = 0
    b: int = 0
    inside: "list[Step]" = field(default_factory=list)


class Counted(Exception):
    """More steps than anybody wanted to count."""


@dataclass(slots=True)
class Meter:
    steps: int = 0
    limit: int = 20_000_000

    def add(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > self.limit:
            raise Counted


class Engine:
    def __init__(self, pattern: re.Pattern[str], *, longest_bound: int | None = None) -> None:
        """`longest_bound`: what a repeat with a larger bound is counted with, so that short texts show its growth."""
        self.pattern = pattern
        self._bound = longest_bound
        self._flags = pattern.flags
        self._registers = 2 * (pattern.groups + 1)
        tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self.tests: list[Test] = []
        self.tree = tree
        self._program = self._compile(tree)

    def count(self, text: str, how: str = "search", limit: int = 20_000_000) -> int:
        """The steps of looking at this text: by `match`, `fullmatch`, `search`, or `all` (`sub`, `finditer`, …)."""
        meter = Meter(limit=limit)
        self._find(text, how, meter)
        return meter.steps

    def spans(self, text: str, how: str) -> list[tuple[int, int]]:
        return self._find(text, how, Meter(limit=100_000))

    def _find(self, text: str, how: str, meter: Meter) -> list[tuple[int, int]]:
        if how in ("match", "fullmatch"):
            end = self._run(self._program, text, 0, meter, whole=how == "fullmatch")
            return [] if end is None else [(0, end[0])]
        found: list[tuple[int, int]] = []
        start, moves = 0, False
        """After a match of nothing the next one must not be nothing in the same place."""
        while start <= len(text):
            end = self._run(self._program, text, start, meter, not_at=start if moves else None)
            if end is None:
                start, moves = start + 1, False
                continue
            found.append((start, end[0]))
            if how == "search":
                break
            start, moves = end[0], end[0] == start
        return found

    # ── running ──

    def _run(
        self,
        program: list[Step],
        text: str,
        start: int,
        meter: Meter,
        registers: tuple[int, ...] | None = None,
        *,
        whole: bool = False,
        not_at: int | None = None,
        ends_at: int | None = None,
    ) -> tuple[int, tuple[int, ...]] | None:
        """Where the first match ends, and what was saved."""
        length, size = len(text), len(program)
        waiting: list[Any] = []
        at, position = 0, start
        regs = registers or (-1,) * self._registers
        while True:
            meter.add()
            fits = True
            if at == size:
                if (
                    (not whole or position == length)
                    and position != not_at
                    and (ends_at is None or position == ends_at)
                ):
                    return position, regs
                fits = False
            else:
                step = program[at]
                op = step.op
                if op is Op.CHAR:
                    fits = position < length and step.test(text[position])
                    position += 1
                    at += 1
                elif op is Op.RUN:
                    end, test = position, step.test
                    most = length if step.high < 0 else min(length, position + step.high)
                    if step.how == "lazy":
                        least = position + step.low
                        while end < least and end < most and test(text[end]):
                            end += 1
                        meter.add(end - position)
                        fits = end == least
                        if fits and end < most:
                            waiting.append(("more", at, end, most, regs))
                    else:
                        while end < most and test(text[end]):
                            end += 1
                        meter.add(end - position)
                        fits = end - position >= step.low
                        if fits and step.how == "greedy" and end - position > step.low:
                            waiting.append(("less", at, end, position + step.low, regs))
                    position = end
                    at += 1
                elif op is Op.SPLIT:
                    waiting.append(("", step.b, position, 0, regs))
                    at = step.a
                elif op is Op.JUMP:
                    at = step.a
                elif op is Op.PLACE:
                    fits = step.test(text, position)
                    at += 1
                elif op is Op.SAVE:
                    changed = list(regs)
                    changed[step.a] = position
                    regs = tuple(changed)
                    at += 1
                elif op is Op.MOVED:
                    fits = regs[step.a] != position
                    at += 1
                elif op is Op.INSIDE:
                    begin = position - step.low if step.how in ("behind", "not behind") else position
                    ends_there = position if step.how in ("behind", "not behind") else None
                    found = (
                        self._run(step.inside, text, begin, meter, regs, ends_at=ends_there)
                        if begin >= 0
                        else None
                    )
                    fits = (found is not None) != step.how.startswith("not")
                    if found is not None and fits:
                        regs = found[1]
                        if step.how == "atomic":
                            position = found[0]
                    at += 1
                else:
                    begin, end = regs[2 * step.a], regs[2 * step.a + 1]
                    said = text[begin:end] if begin >= 0 <= end else None
                    again = text[position : position + len(said or "")]
                    fits = said is not None and characters.alike(
                        said, self.pattern.flags
                    ) == characters.alike(again, self.pattern.flags)
                    meter.add(len(again))
                    position += len(again)
                    at += 1
            while not fits:
                if not waiting:
                    return None
                kind, at, position, limit, regs = waiting.pop()
                fits = kind != "more" or program[at].test(text[position])
                if kind:
                    position += 1 if kind == "more" else -1
                    if fits and position != limit:
                        waiting.append((kind, at, position, limit, regs))
                    at += 1

    # ── compiling ──

    def _compile(self, tree: Iterable[Any]) -> list[Step]:
        program: list[Step] = []
        self._sequence(tree, program)
        return program

    def _sequence(self, tree: Iterable[Any], program: list[Step]) -> None:
        for op, argument in tree:
            self._node(op, argument, program)

    def _node(self, op: Any, argument: Any, program: list[Step]) -> None:
        if (test := self._test(op, argument)) is not None:
            program.append(Step(Op.CHAR, test))
        elif op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            self._repeat(op, argument, program)
        elif op is c.SUBPATTERN:
            group, add, remove, inner = argument
            flags, self._flags = self._flags, (self._flags | add) & ~remove
            if group is not None:
                program.append(Step(Op.SAVE, a=2 * group))
            self._sequence(inner, program)
            if group is not None:
                program.append(Step(Op.SAVE, a=2 * group + 1))
            self._flags = flags
        elif op is c.BRANCH:
            self._branch(argument[1], program)
        elif op is c.AT:
            program.append(Step(Op.PLACE, self._place(argument)))
        elif op in (c.ASSERT, c.ASSERT_NOT):
            direction, inner = argument
            words = ("not " if op is c.ASSERT_NOT else "") + ("behind" if direction < 0 else "ahead")
            width = inner.getwidth()[0] if direction < 0 else 0
            program.append(Step(Op.INSIDE, how=words, low=width, inside=self._compile(inner)))
        elif op is c.ATOMIC_GROUP:
            program.append(Step(Op.INSIDE, how="atomic", inside=self._compile(argument)))
        elif op is c.GROUPREF:
            program.append(Step(Op.SAME, a=argument))
        elif op is c.FAILURE:
            program.append(Step(Op.PLACE, lambda text, at: False))
        else:
            raise NotImplementedError(
                f"{op} in {self.pattern.pattern!r}: teach the growth guard what it costs"
            )

    def _branch(self, branches: list[Any], program: list[Step]) -> None:
        ends = []
        for inner in branches[:-1]:
            split = Step(Op.SPLIT, a=len(program) + 1)
            program.append(split)
            self._sequence(inner, program)
            ends.append(Step(Op.JUMP))
            program.append(ends[-1])
            split.b = len(program)
        self._sequence(branches[-1], program)
        for end in ends:
            end.a = len(program)

    def _repeat(self, op: Any, argument: Any, program: list[Step]) -> None:
        low, high, inner = argument
        low = int(low)
        high = -1 if high is c.MAXREPEAT else int(high)
        if self._bound is not None:
            low, high = min(low, self._bound), min(high, max(self._bound, low))
        how = {c.MAX_REPEAT: "greedy", c.MIN_REPEAT: "lazy", c.POSSESSIVE_REPEAT: "possessive"}[op]
        if len(inner) == 1 and (test := self._test(*inner[0])) is not None:
            program.append(Step(Op.RUN, test, low, high, how))
        elif how == "possessive":
            inside: list[Step] = []
            self._loop(inner, low, high, inside, greedy=True)
            program.append(Step(Op.INSIDE, how="atomic", inside=inside))
        else:
            self._loop(inner, low, high, program, greedy=how == "greedy")

    def _loop(self, inner: Any, low: int, high: int, program: list[Step], *, greedy: bool) -> None:
        for _ in range(low):
            self._sequence(inner, program)
        if high < 0:
            register = self._registers
            self._registers += 1
            split = Step(Op.SPLIT)
            begin = len(program)
            program.append(split)
            program.append(Step(Op.SAVE, a=register))
            self._sequence(inner, program)
            program.append(Step(Op.MOVED, a=register))
            program.append(Step(Op.JUMP, a=begin))
            split.a, split.b = begin + 1, len(program)
            if not greedy:
                split.a, split.b = split.b, split.a
            return
        splits = []
        for _ in range(high - low):
            split = Step(Op.SPLIT, a=len(program) + 1)
            splits.append(split)
            program.append(split)
            self._sequence(inner, program)
        for split in splits:
            split.b = len(program)
            if not greedy:
                split.a, split.b = split.b, split.a

    # ── single characters and places ──

    def _test(self, op: Any, argument: Any) -> Test | None:
        """None for what is not one character."""
        if op not in SINGLE:
            return None
        self.tests.append(self.single(op, argument))
        return self.tests[-1]

    def single(self, op: Any, argument: Any) -> Test:
        flags = self._flags
        known: dict[str, bool] = {}

        def test(char: str) -> bool:
            if (fits := known.get(char)) is None:
                fits = known[char] = characters.fits(op, argument, char, flags)
            return fits

        return test

    def _place(self, argument: Any) -> Place:
        return {
            c.AT_BEGINNING: characters.at_line if self._flags & re.MULTILINE else lambda text, at: at == 0,
            c.AT_BEGINNING_STRING: lambda text, at: at == 0,
            c.AT_END: characters.at_line_end
            if self._flags & re.MULTILINE
            else lambda text, at: at == len(text) or (at == len(text) - 1 and text[at] == "\n"),
            c.AT_END_STRING: lambda text, at: at == len(text),
            c.AT_BOUNDARY: lambda text, at: characters.at_boundary(text, at, self.pattern.flags),
            c.AT_NON_BOUNDARY: lambda text, at: (
                text != "" and not characters.at_boundary(text, at, self.pattern.flags)
            ),
        }[argument]
