"""What a reply says about its own end, and how it therefore ends."""

from proxy.core.errors import Empty, Garbled
from proxy.core.events import CallDelta, Ending, Finish, PartKind, ReplyEnded
from proxy.core.ledger import Ledger
from proxy.core.model import Usage
from proxy.core.stream.ending import EndingEvidence
from proxy.core.stream.parts import Calls
from tests.support.tables import table

USAGE = Usage(1, 2, 3)
TEXT, THOUGHT = PartKind.TEXT, PartKind.REASONING


def calls(*arguments: str) -> Calls:
    """One call for each."""
    made = Calls("index")
    for index, text in enumerate(arguments):
        made.find(CallDelta(index, name="f")).pending_args.append(text)
    return made


NONE = calls()


@table(
    ("said", "believed", "odd"),
    [
        ([Finish.STOP], Finish.STOP, {}),
        ([Finish.STOP, Finish.STOP], Finish.STOP, {"finish_repeated": 1}),
        ([Finish.STOP, Finish.LENGTH], Finish.LENGTH, {}),
        ([Finish.LENGTH, Finish.STOP, Finish.FILTER], Finish.LENGTH, {"finish_repeated": 2}),
    ],
)
def test_f45_what_was_cut_is_never_complete(
    said: list[Finish], believed: Finish, odd: dict[str, int]
) -> None:
    evidence = EndingEvidence(Ledger())
    assert [evidence.take_finish(finish) for finish in said] == [True, *[False] * (len(said) - 1)]
    assert evidence.finish is believed
    assert evidence._ledger.oddities == odd


@table(
    ("finish", "started", "made", "proved"),
    [
        (Finish.LENGTH, set(), NONE, Finish.LENGTH),
        (None, {TEXT}, NONE, Finish.STOP),
        (None, {TEXT}, calls("{}"), Finish.STOP),
        (None, {TEXT}, calls("{}", "{"), None),
        (None, set(), NONE, None),
    ],
)
def test_an_end_mark_proves_only_what_is_whole(
    finish: Finish | None, started: set[PartKind], made: Calls, proved: Finish | None
) -> None:
    evidence = EndingEvidence(Ledger())
    evidence.finish = finish
    evidence.started |= started
    assert evidence.at_end_mark(made) is proved


@table(
    ("finish", "ending"),
    [
        (Finish.STOP, Ending.COMPLETED),
        (Finish.LENGTH, Ending.MAX_TOKENS),
        (Finish.FILTER, Ending.FILTERED),
    ],
)
def test_a_reply_ends_as_its_finish_says(finish: Finish, ending: Ending) -> None:
    evidence = EndingEvidence(Ledger())
    evidence.usage = USAGE
    evidence.started.add(TEXT)
    assert evidence.concluded(finish, NONE) == ReplyEnded(ending, USAGE)


def test_an_empty_reply_has_failed_unless_it_was_cut() -> None:
    evidence = EndingEvidence(Ledger())
    assert isinstance(evidence.concluded(Finish.STOP, NONE).fault, Empty)
    assert evidence.concluded(Finish.LENGTH, NONE).fault is None


def test_thoughts_alone_will_do_where_the_model_itself_has_finished() -> None:
    evidence = EndingEvidence(Ledger())
    evidence.started.add(THOUGHT)
    assert isinstance(evidence.concluded(Finish.STOP, NONE).fault, Empty)
    evidence.take_finish(Finish.STOP)
    assert evidence.concluded(Finish.STOP, NONE).fault is None
    assert isinstance(evidence.concluded(Finish.STOP, calls("{}")).fault, Empty)


def test_a_failure_tells_of_usage_and_of_the_call_that_was_not_allowed() -> None:
    evidence = EndingEvidence(Ledger())
    evidence.usage, evidence.forbidden = USAGE, "The model called 'f'."
    fault = Garbled("?")
    assert evidence.failed(fault) == ReplyEnded(Ending.FAILED, USAGE, fault, "The model called 'f'.")
