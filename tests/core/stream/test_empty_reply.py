"""What is an answer, and what is none."""

from collections.abc import Set

from proxy.core.errors import Empty
from proxy.core.events import Ending, PartKind, PartStarted, ReplyEnded, ReplyStarted
from proxy.core.ledger import Ledger
from proxy.core.model import Usage
from proxy.core.stream.empty_reply import NO_ANSWER, fail_without_answer, fault_if_empty
from tests.support.assembling import PartDelta, Told, into, recorder
from tests.support.tables import table

USAGE = Usage(1, 2, 3)
THOUGHT, TEXT, CALL = PartKind.REASONING, PartKind.TEXT, PartKind.CALL


@table(
    ("spoken", "proved", "failed", "warned"),
    [
        ({TEXT}, False, False, []),
        ({THOUGHT, CALL}, False, False, []),
        ({THOUGHT}, True, False, [NO_ANSWER]),
        ({THOUGHT}, False, True, []),
        (set(), True, True, []),
        (set(), False, True, []),
    ],
)
def test_v21_thoughts_alone_may_do(
    spoken: Set[PartKind], proved: bool, failed: bool, warned: list[str]
) -> None:
    ledger = Ledger()
    fault = fault_if_empty(spoken, ledger, proved)
    assert (fault is not None, ledger.warnings) == (failed, warned)


@table(
    ("kind", "ending", "told"),
    [
        (TEXT, Ending.COMPLETED, Ending.COMPLETED),
        (CALL, Ending.COMPLETED, Ending.COMPLETED),
        (THOUGHT, Ending.COMPLETED, Ending.FAILED),
        (THOUGHT, Ending.MAX_TOKENS, Ending.MAX_TOKENS),
    ],
)
def test_v21_thoughts_alone_are_a_failure_for_who_needs_an_answer(
    kind: PartKind, ending: Ending, told: Ending
) -> None:
    out: list[Told] = []
    feed = into(fail_without_answer(recorder(out)))
    said = [ReplyStarted(), PartStarted(kind), PartDelta("x")]
    for event in (*said, ReplyEnded(ending, USAGE)):
        feed(event)
    ended = out.pop()
    assert isinstance(ended, ReplyEnded)
    assert (out, ended.ending, ended.usage) == (said, told, USAGE)
    assert isinstance(ended.fault, Empty) is (told is Ending.FAILED)
