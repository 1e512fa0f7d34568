"""Arguments come back under the client's own names of properties, in one piece; all else passes as it comes."""

from typing import Any

from proxy.core.events import (
    CallHead,
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
)
from proxy.core.model import Call, Text, ToolKind, ToolName
from proxy.core.stream.stages.argument_names import rename_arguments
from tests.support.assembling import PartDelta, Told, into, recorder
from tests.support.tables import table

LIST, NOW = ToolName("list", "odata"), ToolName("now")
ALIASES = {LIST: {"filter_1": "$filter"}}
TEXT = [PartStarted(PartKind.TEXT), PartDelta("filter_1:"), PartEnded(Text("filter_1:"), complete=True)]
END = ReplyEnded(Ending.COMPLETED)


def call(tool: ToolName, *pieces: str, arguments: str | None = None, complete: bool = True) -> list[Told]:
    head = CallHead("c1", tool, ToolKind.FUNCTION)
    whole = "".join(pieces) if arguments is None else arguments
    ended = PartEnded(Call("c1", tool, ToolKind.FUNCTION, whole), complete)
    return [PartStarted(PartKind.CALL, head), *map(PartDelta, pieces), ended]


def passed(*events: Told, aliases: Any = ALIASES) -> list[Told]:
    out: list[Told] = []
    feed = into(rename_arguments(aliases)(recorder(out)))
    for event in events:
        feed(event)
    return out


def test_a_call_with_aliases_comes_in_one_piece_under_its_own_names() -> None:
    said = [*TEXT, *call(LIST, '{"fil', 'ter_1": "filter_1"}'), *TEXT, END]
    assert passed(*said) == [*TEXT, *call(LIST, '{"$filter": "filter_1"}'), *TEXT, END]


def test_other_calls_come_as_they_are() -> None:
    said = [*call(NOW, '{"fil', 'ter_1": 1}'), *TEXT, END]
    assert passed(*said) == said


@table(("text", "expected"), [("", ""), ('{"filter_1": "a', '{"$filter": "a'), ('{"filt', '{"filt')])
def test_a_cut_call_is_as_far_as_it_came(text: str, expected: str) -> None:
    pieces = [expected] if expected else []
    assert passed(*call(LIST, text, complete=False)) == call(LIST, *pieces, complete=False)
