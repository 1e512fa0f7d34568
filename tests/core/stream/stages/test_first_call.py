"""V23, R02: `parallel_tool_calls: false` means at most one call in the answer, whatever the backend does."""

from proxy.core.events import (
    CallHead,
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Text, ToolKind, ToolName
from proxy.core.stream.stages.first_call import PARALLEL_CALL, first_call
from tests.support.assembling import PartDelta, Told, into, recorder

SAID = [PartStarted(PartKind.TEXT), PartDelta("So:"), PartEnded(Text("So:"), True)]
END = ReplyEnded(Ending.COMPLETED)


def called(name: str, *, complete: bool = True) -> list[Told]:
    tool = ToolName(name)
    head = CallHead(name, tool, ToolKind.FUNCTION)
    call = Call(name, tool, ToolKind.FUNCTION, "{}")
    return [PartStarted(PartKind.CALL, head), PartDelta("{}"), PartEnded(call, complete)]


def passed(*events: Told) -> tuple[list[Told], Ledger, int]:
    """What comes out, and how often something was to be forgotten."""
    out: list[Told] = []
    ledger = Ledger()
    forgotten: list[None] = []
    feed = into(first_call(ledger, lambda: forgotten.append(None))(recorder(out)))
    for event in (ReplyStarted(), *events, END):
        feed(event)
    assert (out[0], out[-1]) == (ReplyStarted(), END)
    return out[1:-1], ledger, len(forgotten)


def test_one_call_passes_with_all_that_is_around_it() -> None:
    events = [*SAID, *called("a"), *SAID]
    assert passed(*events)[0] == events


def test_of_several_calls_the_first_passes_and_the_others_are_counted_and_told_of() -> None:
    out, ledger, forgotten = passed(
        *SAID, *called("a"), *called("b"), *SAID, *called("c", complete=False), *SAID
    )
    assert out == [*SAID, *called("a"), *SAID, *SAID]
    assert (ledger.oddities, ledger.warnings, forgotten) == ({"parallel_call": 2}, [PARALLEL_CALL], 2)


def test_nothing_may_have_to_be_forgotten() -> None:
    out: list[Told] = []
    feed = into(first_call(Ledger())(recorder(out)))
    for event in (ReplyStarted(), *called("a"), *called("b"), END):
        feed(event)
    assert out == [ReplyStarted(), *called("a"), END]
