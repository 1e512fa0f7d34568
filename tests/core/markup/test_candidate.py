"""What begins with an opener: when its formats are asked, what is made of their verdicts, and how a doubt ends."""

import re
from dataclasses import replace

from proxy.core.markup.candidate import (
    FIRST_ASK,
    MAX_HELD,
    Candidate,
    Doubt,
    End,
    Passed,
    Settled,
    Taken,
    Why,
)
from proxy.core.markup.code import CodeTracker, Finding, Where
from proxy.core.markup.formats import MORE, Format, Tier, Tools, Verdict
from proxy.core.markup.openers import Openers
from tests.core.markup.scanning import CALL, FORMATS, TOOLS
from tests.support.tables import table


class Asked:
    """A format that notes about how much text it is asked."""

    def __init__(self, closers: tuple[str, ...] = ("</call>",), verdict: Verdict = MORE) -> None:
        self.lengths: list[int] = []
        self.verdict = verdict
        format = Format("asked", Tier.ALWAYS, ("<call>",), self._read, closers)
        self.candidate = Candidate(Openers((format,)).readers("<call>"), TOOLS)

    def _read(self, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
        self.lengths.append(len(text))
        return self.verdict


def test_it_is_asked_each_time_the_text_has_doubled() -> None:
    asked = Asked()
    assert asked.candidate.decide("<call>".ljust(1000), 0, End.OPEN) is None
    assert asked.lengths == [FIRST_ASK << power for power in range(5)]


@table("size", [1, 3, 1000])
def test_it_is_asked_where_a_closer_ends_and_soon_after_however_the_text_comes(size: int) -> None:
    asked = Asked()
    text = "<call>x</call>".ljust(40) + "y"
    assert asked.candidate.decide(text[:6], 0, End.OPEN) is None
    held = text[:6]
    for at in range(6, len(text), size):
        held += text[at : at + size]
        if asked.candidate.extend(text[at : at + size]):
            assert asked.candidate.decide(held, 0, End.OPEN) is None
    assert asked.lengths == [14, 15, 16, 18, 22, 30, 32]


def test_without_closers_it_is_asked_all_the_same() -> None:
    asked = Asked(closers=())
    assert asked.candidate.extend("<call>") is False
    assert asked.candidate.extend("x" * 50) is True
    asked.candidate.decide("<call>" + "x" * 50, 0, End.OPEN)
    assert asked.lengths == [FIRST_ASK]
    assert asked.candidate.extend("x") is False


def test_closers_of_a_long_text_are_passed_over_when_they_become_too_many() -> None:
    asked = Asked()
    text = "<call>" + "</call>" * 10_000
    asked.candidate.decide(text, 0, End.OPEN)
    assert sum(asked.lengths) < 12 * len(text)


def candidate() -> Candidate:
    return Candidate(Openers(FORMATS).readers("<call>"), TOOLS)


@table(
    ("text", "end", "outcome"),
    [
        ("<call>walk</call>", End.OPEN, Passed(17, Why.UNDECLARED)),
        ("<call>!", End.WHOLE, Passed(1, Why.RELEASED)),
        ("<call>run", End.WHOLE, Passed(1, Why.RELEASED)),
        ("<call>run", End.CUT, Passed(1, Why.RELEASED)),
        ("<call>run", End.OPEN, None),
        ("<call>".ljust(MAX_HELD), End.OPEN, Passed(MAX_HELD, Why.CAPPED)),
        ("<call>walk</call>".ljust(MAX_HELD), End.OPEN, Passed(17, Why.UNDECLARED)),
    ],
)
def test_what_is_no_block_is_text(text: str, end: End, outcome: Passed | None) -> None:
    assert candidate().decide(text, 0, end) == outcome


def test_a_block_has_the_names_that_were_declared() -> None:
    taken = candidate().decide(f"a {CALL} b".replace("run", "functions.run:3"), 2, End.OPEN)
    assert isinstance(taken, Taken)
    assert [call.name for call in taken.calls] == ["run"]
    assert taken.length == len(CALL) + len("functions.:3")


def doubt(before: str) -> Doubt:
    tracker = CodeTracker()
    tracker.feed(before)
    assert tracker.where() is Where.DOUBT
    return Doubt(tracker, Openers(FORMATS).readers("<call>"))


def test_a_doubt_ends_when_enough_is_heard() -> None:
    one = doubt("` ")
    assert one.decide("` <call>", 2, End.OPEN) is None
    assert one.extend("run") is False
    assert one.extend(" `") is False, "the run may go on"
    assert one.extend(" ") is True
    assert isinstance(one.decide("` <call>run ` ", 2, End.OPEN), Settled)


@table("end", [End.WHOLE, End.CUT])
def test_a_doubt_ends_with_the_text(end: End) -> None:
    for before, found in (("` ", Finding.END_OF_PARAGRAPH), ("``` ", Finding.FENCE)):
        settled = doubt(before).decide("<call>", 0, end)
        assert isinstance(settled, Settled)
        assert settled.ahead.found is found


def test_a_doubt_that_never_ends_is_text() -> None:
    one = doubt("` ")
    assert one.extend("x" * MAX_HELD) is True
    assert one.decide("x" * MAX_HELD, 0, End.OPEN) == Passed(MAX_HELD, Why.CAPPED)


def test_a_format_may_ask_for_what_stands_before_its_opener() -> None:
    format = replace(FORMATS[0], behind=re.compile(r"so:\Z"))
    readers = Openers((format,)).readers("<call>")
    assert isinstance(Candidate(readers, TOOLS, "so:").decide(CALL, 0, End.OPEN), Taken)
    for before in ("", "so"):
        assert Candidate(readers, TOOLS, before).decide(CALL[:7], 0, End.OPEN) == Passed(1, Why.RELEASED)
