"""What the backend's own tools do is left out where a client's API has no form for it, and the client is told."""

from proxy.core.events import Ending, PartEnded, PartKind, PartStarted, ReplyEnded, ReplyStarted
from proxy.core.ledger import Ledger
from proxy.core.model import HostedItem, Text
from proxy.core.stream.stages.hosted_left_out import LEFT_OUT, leave_hosted_out
from tests.support.assembling import PartDelta, Told, into, recorder

SAID: list[Told] = [PartStarted(PartKind.TEXT), PartDelta("So."), PartEnded(Text("So."), True)]


def did(kind: str) -> list[Told]:
    return [PartStarted(PartKind.HOSTED, wordless=True), PartEnded(HostedItem({"type": kind}), True)]


def test_the_answer_passes_and_each_kind_is_told_once() -> None:
    ledger, out = Ledger(), list[Told]()
    feed = into(leave_hosted_out(ledger)(recorder(out)))
    end = ReplyEnded(Ending.COMPLETED)
    search = did("web_search_call")
    for event in (ReplyStarted(), *search, *SAID, *search, *did("mcp_approval_request"), end):
        feed(event)
    assert out == [ReplyStarted(), *SAID, end]
    assert ledger.oddities == {"hosted_left_out": 3}
    assert ledger.warnings == [
        LEFT_OUT.format(kind="web_search_call"),
        LEFT_OUT.format(kind="mcp_approval_request"),
    ]
