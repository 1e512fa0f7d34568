"""Whether a whole block is meant: how a doubt about code ends, and what stands behind a run of blocks."""

from proxy.core.markup.candidate import MAX_HELD, End, Passed, Taken, Why
from proxy.core.markup.code import CodeTracker, Foreseen, Where
from proxy.core.markup.formats import Recovered
from proxy.core.markup.judgement import Another, Behind, Doubt, Judgement, Leftover, Outcome, Series, Settled
from proxy.core.markup.openers import Openers
from proxy.core.markup.quotation import MAX_BEHIND, MAX_BLANKS
from tests.core.markup.scanning import CALL, FORMATS, PAIR
from tests.support.tables import table

OPENERS = Openers(FORMATS)
TAKEN = Taken(len(CALL), PAIR, (Recovered("run", "{}"),))


def doubt(before: str) -> Doubt:
    tracker = CodeTracker()
    tracker.feed(before)
    assert tracker.where() is Where.DOUBT
    return Doubt(tracker, TAKEN, OPENERS.readers("<call>"), 7)


def test_a_doubt_ends_when_enough_is_heard() -> None:
    one = doubt("` ")
    assert one.decide("` <call>", 2, End.OPEN) is None
    assert one.extend("run") is False
    assert one.extend(" `") is False, "the run may go on"
    assert one.extend(" ") is True
    assert isinstance(one.decide("` <call>run ` ", 2, End.OPEN), Settled)


@table("end", [End.WHOLE, End.CUT])
def test_a_doubt_ends_with_the_text(end: End) -> None:
    for before, found in (("` ", Foreseen.END_OF_PARAGRAPH), ("``` ", Foreseen.FENCE)):
        settled = doubt(before).decide("<call>", 0, end)
        assert isinstance(settled, Settled)
        assert settled.ahead.found is found


def test_a_doubt_that_never_ends_is_text() -> None:
    one = doubt("` ")
    assert one.extend("x" * MAX_HELD) is True
    assert one.decide("x" * MAX_HELD, 0, End.OPEN) == Passed(MAX_HELD, Why.CAPPED)


def behind(before: str, text: str, end: End, *, last: bool = False, piece: int = 0) -> Outcome:
    """The outcome for a block with this text before and behind it."""
    run = Series(before)
    run.add(0, TAKEN, CALL)
    one = Behind(run, OPENERS, last=last)
    for at in range(0, len(text), piece or max(1, len(text))):
        if one.extend(text[at : at + (piece or len(text))]):
            break
    return one.decide(text, 0, end)


MEANT, QUOTED = Judgement.MEANT, Judgement.QUOTED


@table(
    ("before", "text", "end", "outcome"),
    [
        ("", "", End.OPEN, None),
        ("", "", End.WHOLE, MEANT),
        ("", " ", End.OPEN, None),
        ("", "a", End.OPEN, MEANT),
        ("", " " * (MAX_BLANKS + 1), End.OPEN, MEANT),
        ("", ".", End.OPEN, QUOTED),
        ('"', '"', End.OPEN, QUOTED),
        ('"', "abc", End.OPEN, None),
        ('"', "abcd", End.OPEN, MEANT),
        ('"', "abc", End.CUT, MEANT),
        ("<pre>", " and", End.OPEN, None),
        ("<pre>", " and </pre>", End.OPEN, QUOTED),
        ("<pre>", "x" * MAX_BEHIND, End.OPEN, MEANT),
        ("", "</call", End.OPEN, None),
        ("", "\n</call>", End.OPEN, Leftover(8)),
        ("", "\n</cat>", End.OPEN, MEANT),
        ("", "\n<cal", End.OPEN, None),
        ("", "\n<cal", End.WHOLE, MEANT),
    ],
)
def test_what_stands_behind_decides_in_every_cut(before: str, text: str, end: End, outcome: Outcome) -> None:
    for piece in (0, 1, 3):
        assert behind(before, text, end, piece=piece) == outcome


def test_another_opener_may_belong_to_the_run_unless_that_is_known() -> None:
    found = behind("", "\n<call>x", End.OPEN)
    assert isinstance(found, Another)
    assert (found.distance, found.readers) == (1, OPENERS.readers("<call>"))
    assert behind("", "\n<call>x", End.OPEN, last=True) is MEANT
    assert behind("", "\n<call>\n", End.WHOLE, last=True) == Leftover(8)
    assert behind("", "\n<call>\n", End.CUT, last=True) is MEANT


def test_json_at_the_end_may_be_followed_by_punctuation() -> None:
    for markup, outcome in (
        ("[x]{}", MEANT),
        ("[[x]", MEANT),
        ("[]{}[/TOOL_CALLS]", QUOTED),
        ("<a>{}</a>", QUOTED),
    ):
        run = Series("")
        run.add(0, TAKEN, markup)
        assert Behind(run, OPENERS).decide("; a", 0, End.OPEN) is outcome


def test_behind_several_the_closer_of_a_value_shows_that_they_stood_in_one() -> None:
    for count, text, end, outcome in (
        (2, "\n</parameter>\n", End.OPEN, QUOTED),
        (2, "</x:parameter >", End.WHOLE, QUOTED),
        (2, "</arg_value>", End.OPEN, QUOTED),
        (2, "\n</para", End.OPEN, None),
        (2, "\n</para", End.WHOLE, MEANT),
        (2, "\n</paragraph>", End.OPEN, MEANT),
        (1, "\n</parameter>", End.OPEN, MEANT),
    ):
        run = Series("")
        for at in range(count):
            run.add(at * len(CALL), TAKEN, CALL)
        one = Behind(run, OPENERS)
        assert one.decide(text, 0, end) is outcome
