"""R06: the order of items as a setting, for clients that expect one message that stays open from first to last."""

from typing import Any

from proxy.core import jsontext
from proxy.core.errors import Truncated
from proxy.core.events import (
    CallHead,
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Call, Reasoning, Refusal, ReplyPart, Text, ToolKind, ToolName
from proxy.core.surfaces.clients import CODEX, DEFAULT, ClientProfile
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.message_first import MessageFirstEncoder
from proxy.core.surfaces.responses.response import ResponseObject
from tests.support.assembling import PartDelta, Told, into
from tests.support.replies import NOW, REQUEST, counting_mint
from tests.support.tables import table

CALL = Call("call_a", ToolName("f"), ToolKind.FUNCTION, "{}")
COMPLETED = ReplyEnded(Ending.COMPLETED)
KINDS: dict[type[ReplyPart], PartKind] = {
    Text: PartKind.TEXT,
    Reasoning: PartKind.REASONING,
    Refusal: PartKind.REFUSAL,
    Call: PartKind.CALL,
}
ADDED, DONE = "response.output_item.added", "response.output_item.done"


def test_annotations_move_with_their_texts() -> None:
    note = {"start_index": 0, "end_index": 1}
    events = encode(*part(Text("AB")), *part(CALL), *part(Text("C", annotations=[note])), COMPLETED)
    (item,) = [
        event["item"] for event in events if event["type"] == DONE and event["item"]["type"] == "message"
    ]
    assert item["content"][0]["annotations"] == [{"start_index": 2, "end_index": 3}]


def part(part: ReplyPart, complete: bool = True) -> list[Told]:
    head = CallHead(part.call_id, part.tool, part.kind) if isinstance(part, Call) else None
    said = (
        PartDelta(part.arguments)
        if isinstance(part, Call)
        else PartDelta(part.text, getattr(part, "logprobs", None))
    )
    return [PartStarted(KINDS[type(part)], head), said, PartEnded(part, complete)]


def encode(*events: Told, encoder: type[ResponsesEncoder] = MessageFirstEncoder) -> list[dict[str, Any]]:
    frames: list[bytes] = []
    made = encoder(ResponseObject(REQUEST, counting_mint(), lambda: NOW), frames.append)
    for event in (ReplyStarted(), *events):
        into(made)(event)
    told = [jsontext.loads(frame.split(b"data: ")[1]) for frame in frames[:-1]]
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    return told


def items(events: list[dict[str, Any]]) -> list[tuple[str, int, str]]:
    return [
        (event["type"], event["output_index"], event["item"]["type"]) for event in events if "item" in event
    ]


def test_a_reply_of_text_alone_is_the_same_in_both_orders() -> None:
    text = [*part(Text("Hi")), COMPLETED]
    assert encode(*text) == encode(*text, encoder=ResponsesEncoder)


def test_the_message_is_opened_before_anything_is_known_and_closed_last() -> None:
    assert items(encode(*part(Reasoning("Hm.")), *part(Text("Hi")), *part(CALL), COMPLETED)) == [
        (ADDED, 0, "message"),
        (ADDED, 1, "reasoning"),
        (DONE, 1, "reasoning"),
        (ADDED, 2, "function_call"),
        (DONE, 2, "function_call"),
        (DONE, 0, "message"),
    ]


def test_text_after_a_call_continues_the_message() -> None:
    events = encode(*part(Text("a")), *part(CALL), *part(Text("b")), COMPLETED)
    deltas = [event for event in events if event["type"] == "response.output_text.delta"]
    assert [(event["delta"], event["output_index"]) for event in deltas] == [("a", 0), ("b", 0)]
    assert len({event["item_id"] for event in deltas}) == 1
    [done] = [event for event in events if event["type"] == "response.output_text.done"]
    assert done["text"] == "ab"


def test_the_final_object_has_every_item_at_its_index_as_it_was_done() -> None:
    events = encode(*part(Text("a")), *part(CALL), *part(Text("b")), COMPLETED)
    done = {event["output_index"]: event["item"] for event in events if event["type"] == DONE}
    assert events[-1]["response"]["output"] == [done[0], done[1]]
    assert done[0]["content"][0]["text"] == "ab"


def test_without_text_the_message_is_empty() -> None:
    message, call = encode(*part(CALL), COMPLETED)[-1]["response"]["output"]
    assert (message["status"], message["content"][0]["text"]) == ("completed", "")
    assert call["type"] == "function_call"


def test_a_refusal_is_a_message_of_its_own() -> None:
    message, refusal = encode(*part(Refusal("No.")), COMPLETED)[-1]["response"]["output"]
    assert message["content"][0]["text"] == ""
    assert refusal["content"] == [{"type": "refusal", "refusal": "No."}]


def test_log_probabilities_of_all_its_texts_gather_in_the_message() -> None:
    output = encode(*part(Text("a", [1])), *part(CALL), *part(Text("b", [2])), COMPLETED)[-1]["response"][
        "output"
    ]
    assert output[0]["content"][0]["logprobs"] == [1, 2]


@table(
    ("events", "ended"),
    [
        ([*part(Text("a"), complete=False)], ReplyEnded(Ending.MAX_TOKENS)),
        (
            [*part(Text("a")), *part(CALL, complete=False)],
            ReplyEnded(Ending.FAILED, None, Truncated("Gone.")),
        ),
    ],
    ids=["cut within the text", "failed later"],
)
def test_a_message_that_was_cut_is_incomplete(events: list[Told], ended: ReplyEnded) -> None:
    last = encode(*events, ended)
    assert last[-1]["response"]["output"][0]["status"] == "incomplete"


def test_a_message_before_a_call_that_was_cut_is_complete() -> None:
    events = [*part(Text("a")), *part(CALL, complete=False), ReplyEnded(Ending.MAX_TOKENS)]
    message, call = encode(*events)[-1]["response"]["output"]
    assert (message["status"], call["status"]) == ("completed", "incomplete")


@table("client", [DEFAULT, CODEX])
def test_v01_half_a_call_is_not_closed_in_this_order_either(client: ClientProfile) -> None:
    frames: list[bytes] = []
    response = ResponseObject(REQUEST, counting_mint(), lambda: NOW)
    encoder = MessageFirstEncoder(response, frames.append, client=client)
    failed = ReplyEnded(Ending.FAILED, None, Truncated("Gone."))
    for event in (ReplyStarted(), *part(Text("a")), *part(CALL, complete=False), failed):
        into(encoder)(event)
    told = [jsontext.loads(frame.split(b"data: ")[1]) for frame in frames[:-1]]
    assert [event["output_index"] for event in told if event["type"] == DONE] == (
        [0] if client.closes_unfinished else []
    )
    statuses = [item["status"] for item in told[-1]["response"]["output"]]
    assert statuses == ["incomplete", "incomplete"]
