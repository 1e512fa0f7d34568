"""What a response has said until it was cut, out of its events: the same that its own process would have told."""

from collections.abc import Sequence
from typing import Any

from proxy.core import jsontext
from proxy.core.model import Call, Reasoning, Refusal, Text, ToolKind, ToolName
from proxy.core.stored.so_far import OutputSoFar
from tests.support.assembling import Told
from tests.support.replies import FIRST_ITEM
from tests.support.responses_events import CALL, CUSTOM, CUT, DONE, END, encode, part
from tests.support.tables import table

SHELL = Call("call_s", ToolName("local_shell"), ToolKind.LOCAL_SHELL, '{"command":["ls"]}')
WHOLE = [
    part(Reasoning("Hm, well."), "Hm, ", "well."),
    part(Text("Hello."), "Hel", "lo."),
    part(CALL, '{"a":', "1}"),
    part(CUSTOM, "*** ", "Begin"),
    part(SHELL, '{"command":["ls"]}'),
    part(Refusal("I won't."), "I ", "won't."),
]


def told(parts: Sequence[list[Told]], end: Told = CUT) -> tuple[list[bytes], list[dict[str, Any]]]:
    """The events before the end, and the output that the end tells of."""
    events = encode(*(event for part in parts for event in part), end)
    said = [jsontext.dumps(event) for event in events if event["type"] != "error"]
    return said[:-1], events[-1]["response"]["output"]


@table(
    "open_part",
    [
        [],
        part(Text("Hel"), "Hel", complete=False),
        part(Text(""), complete=False),
        part(Refusal("I"), "I", complete=False),
        part(Reasoning("Hm"), "H", "m", complete=False),
        part(Call("call_a", ToolName("f"), ToolKind.FUNCTION, '{"a'), '{"a', complete=False),
        part(Call("call_a", ToolName("p"), ToolKind.CUSTOM, "*** "), "*** ", complete=False),
    ],
)
def test_t50_what_is_open_is_left_as_its_own_process_would_leave_it(open_part: list[Told]) -> None:
    for finished in (WHOLE, WHOLE[:1], []):
        events, output = told([*finished, open_part])
        assert jsontext.loads(OutputSoFar(events).cut()) == output


def test_after_each_event_the_finished_items_are_those_that_were_told_as_done() -> None:
    events, output = told(WHOLE, END)
    so_far, done = OutputSoFar(), 0
    for event in events:
        so_far.feed(event)
        done += jsontext.loads(event)["type"] == DONE
        assert jsontext.loads(so_far.finished()) == output[:done]
        cut = jsontext.loads(so_far.cut())
        assert cut[:done] == output[:done]
        assert [item["status"] for item in cut[done:]] == ["incomplete"] * (len(cut) - done)
    assert done == len(output) == len(WHOLE)


def test_an_item_that_is_told_in_one_piece_is_left_as_it_was_opened() -> None:
    events, _ = told([part(SHELL, '{"command":["ls"]}')], END)
    [left] = jsontext.loads(OutputSoFar(events[:3]).cut())
    assert left["status"] == "incomplete"
    assert left["id"] == f"lsh_{FIRST_ITEM}"


def test_nothing_told_is_nothing_said() -> None:
    assert OutputSoFar().cut() == OutputSoFar().finished() == b"[]"
