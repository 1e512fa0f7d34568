"""What begins with an opener: when its formats are asked, and what is made of their verdicts."""

from proxy.core.markup.candidate import (
    FIRST_ASK,
    MAX_HELD,
    OFTEN,
    STEP,
    Candidate,
    End,
    Passed,
    Taken,
    Why,
)
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict, waiting
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


def test_it_is_asked_often_at_first_and_then_each_time_the_text_has_doubled() -> None:
    asked = Asked()
    assert asked.candidate.decide("<call>".ljust(1000), 0, End.OPEN) is None
    assert asked.lengths == [*range(FIRST_ASK, OFTEN, STEP), OFTEN, 2 * OFTEN, 4 * OFTEN]


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
    assert asked.lengths == [FIRST_ASK, FIRST_ASK + STEP]
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
        ("<call>walk</call>", End.OPEN, Passed(17, Why.UNDECLARED, FORMATS[0])),
        ("<call>!", End.WHOLE, Passed(1, Why.RELEASED)),
        ("<call>run", End.WHOLE, Passed(1, Why.RELEASED)),
        ("<call>run", End.CUT, Passed(1, Why.RELEASED)),
        ("<call>run", End.OPEN, None),
        ("<call>".ljust(MAX_HELD), End.OPEN, Passed(MAX_HELD, Why.CAPPED)),
        ("<call>walk</call>".ljust(MAX_HELD), End.OPEN, Passed(17, Why.UNDECLARED, FORMATS[0])),
    ],
)
def test_what_is_no_block_is_text(text: str, end: End, outcome: Passed | None) -> None:
    assert candidate().decide(text, 0, end) == outcome


def test_a_block_has_the_names_that_were_declared() -> None:
    taken = candidate().decide(f"a {CALL} b".replace("run", "functions.run:3"), 2, End.OPEN)
    assert isinstance(taken, Taken)
    assert [call.name for call in taken.calls] == ["run"]
    assert taken.length == len(CALL) + len("functions.:3")


@table(
    ("text", "omitted", "doubtful"),
    [
        ("<call>run look</call>", 0, False),
        ("<call>run walk</call>", 1, False),
        ("<call>?run</call>", 0, True),
    ],
)
def test_what_is_known_of_a_block_goes_with_it(text: str, omitted: int, doubtful: bool) -> None:
    taken = candidate().decide(text, 0, End.OPEN)
    assert isinstance(taken, Taken)
    assert (taken.omitted, taken.doubtful) == (omitted, doubtful)


def foreign(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    """A name, a colon, and text up to the closer."""
    name, _, rest = text.removeprefix("<call>").partition(":")
    if "!" in rest:
        return None
    if (closer := text.find("</call>")) >= 0:
        return Block(closer + len("</call>"), (Recovered(name, "{}"),))
    return None if ended else waiting(tools, [name], len(text))


FOREIGN_FORMAT = Format("foreign", Tier.ALWAYS, ("<call>",), foreign, ("</call>",))


@table(
    ("rest", "end", "length"),
    [
        ("</call> and", End.OPEN, 57),
        (" ! ".ljust(50), End.OPEN, 64),
        (" and", End.WHOLE, 54),
        ("x", End.CUT, 51),
    ],
)
def test_a_call_of_no_declared_tool_need_not_wait_and_is_text(rest: str, end: End, length: int) -> None:
    text = "<call>walk:".ljust(50)
    one = Candidate(Openers((FOREIGN_FORMAT, FORMATS[0])).readers("<call>"), TOOLS)
    assert not one.foreign
    assert one.decide(text, 0, End.OPEN) is None
    assert one.foreign
    assert one.decide(text + rest, 0, end) == Passed(length, Why.UNDECLARED, FOREIGN_FORMAT)
    known = Candidate(Openers((FOREIGN_FORMAT,)).readers("<call>"), TOOLS)
    assert known.decide("<call>run:".ljust(50), 0, End.OPEN) is None
    assert not known.foreign
