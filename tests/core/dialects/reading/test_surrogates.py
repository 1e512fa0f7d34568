"""F36: halves of characters are joined over deltas, each channel by itself; orphans become U+FFFD."""

from proxy.core.dialects.reading.surrogates import SurrogateJoiner
from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    Finish,
    FinishDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import Usage
from tests.support.tables import table

HIGH, LOW = "\ud83d", "\ude00"
STOP = FinishDelta(Finish.STOP)


def mend(*deltas: Delta) -> list[Delta]:
    mended: list[Delta] = []
    mender = SurrogateJoiner(mended.append)
    for delta in deltas:
        mender.feed(delta)
    return mended


@table("kind", [TextDelta, ReasoningDelta, RefusalDelta])
def test_a_pair_split_over_two_deltas(kind: type[TextDelta | ReasoningDelta | RefusalDelta]) -> None:
    assert mend(kind("a" + HIGH), kind(LOW + "b")) == [kind("a"), kind("😀b")]


def test_a_pair_split_over_two_fragments_of_one_call() -> None:
    fragments = CallDelta(0, "c", "f", "a" + HIGH), CallDelta(1, arguments="x"), CallDelta(0, arguments=LOW)
    assert mend(*fragments) == [
        CallDelta(0, "c", "f", "a"),
        CallDelta(1, arguments="x"),
        CallDelta(0, arguments="😀"),
    ]


def test_channels_do_not_mix() -> None:
    assert mend(TextDelta(HIGH), ReasoningDelta(LOW), TextDelta(LOW)) == [
        TextDelta(""),
        ReasoningDelta("\ufffd"),
        TextDelta("😀"),
    ]


def test_an_orphan_is_replaced_when_its_channel_goes_on() -> None:
    assert mend(TextDelta("a" + HIGH), TextDelta("b")) == [TextDelta("a"), TextDelta("\ufffdb")]


@table("end", [STOP, EndDelta()])
def test_an_orphan_is_replaced_once_at_the_end(end: Delta) -> None:
    deltas = mend(TextDelta(HIGH), CallDelta(None, arguments=HIGH), end, end)
    assert deltas[2:] == [TextDelta("\ufffd"), CallDelta(None, arguments="\ufffd"), end, end]


def test_names_and_ids_are_mended_at_once() -> None:
    assert mend(CallDelta(0, "c" + HIGH, "f" + HIGH)) == [CallDelta(0, "c\ufffd", "f\ufffd")]


def test_what_has_no_text_passes() -> None:
    assert mend(UsageDelta(Usage(1, 2, 3))) == [UsageDelta(Usage(1, 2, 3))]


def test_log_probabilities_stay_with_their_delta() -> None:
    assert mend(TextDelta("a", [{"token": "a"}])) == [TextDelta("a", [{"token": "a"}])]
