"""Ends other than success: what is told of items that were cut, and of the response that failed."""

from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.errors import ClientFault, RateLimited
from proxy.core.events import (
    Ending,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Call, Reasoning, Refusal, ReplyPart, Text, ToolKind, ToolName
from proxy.core.surfaces.clients import CODEX, DEFAULT, NOTHING_MORE, ClientProfile, Extended
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.response import ResponseObject
from tests.support.assembling import Told, into
from tests.support.replies import NOW, REQUEST, counting_mint
from tests.support.responses_events import (
    ALL,
    CALL,
    CUSTOM,
    CUT,
    DONE,
    END,
    SEARCH,
    USAGE,
    encode,
    part,
    types,
)
from tests.support.tables import table

# ── ends other than success ──


@table(("ending", "reason"), [(Ending.MAX_TOKENS, "max_output_tokens"), (Ending.FILTERED, "content_filter")])
def test_f56_a_cut_reply_closes_its_item_incomplete(ending: Ending, reason: str) -> None:
    events = encode(*part(Text("x"), "x", complete=False), ReplyEnded(ending, USAGE))
    assert types(events)[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        DONE,
        "response.incomplete",
    ]
    assert events[-2]["item"]["status"] == "incomplete"
    assert events[-1]["response"]["incomplete_details"] == {"reason": reason}


def test_r1_a_failure_is_told_flat_and_nested_and_then_by_the_response() -> None:
    fault = ClientFault("Too long.", code="context_length_exceeded", param="input")
    error, failed = encode(ReplyEnded(Ending.FAILED, None, fault))[2:]
    said = {"code": "context_length_exceeded", "message": "Too long.", "param": "input"}
    assert error == {
        "type": "error",
        "sequence_number": 2,
        **said,
        "error": {"type": "invalid_request_error", **said},
    }
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"] == {"code": "context_length_exceeded", "message": "Too long."}


def told(*events: Told, client: ClientProfile, extended: Extended = NOTHING_MORE) -> list[dict[str, Any]]:
    """Numbers and pairs are not looked at: what was interrupted has no end."""
    frames: list[bytes] = []
    response = ResponseObject(REQUEST, counting_mint(), lambda: NOW)
    encoder = ResponsesEncoder(response, frames.append, client=client, extended=extended)
    for event in (ReplyStarted(), *events):
        into(encoder)(event)
    return [jsontext.loads(frame.split(b"data: ")[1]) for frame in frames[:-1]]


def closing(events: list[dict[str, Any]], index: int) -> list[str]:
    """The events that say of one item that it is whole."""
    ends = (".done", ".end")
    return [
        event["type"]
        for event in events
        if event["type"].endswith(ends) and event.get("output_index") == index
    ]


@table("client", [DEFAULT, CODEX])
@table("extended", [NOTHING_MORE, ALL], ids=["standard", "extended"])
@table("ending", [CUT, ReplyEnded(Ending.MAX_TOKENS, USAGE), ReplyEnded(Ending.FILTERED, USAGE)])
@table("call", [CALL, CUSTOM, SEARCH], ids=["function", "custom", "search"])
def test_v01_half_a_call_is_closed_for_nobody(
    call: Call, ending: ReplyEnded, extended: Extended, client: ClientProfile
) -> None:
    """Most clients run what is done without a look at its status, and some mend its arguments before. It stands in
    the object at the end, for those who want to show it."""
    cut = replace(call, arguments='{"a"')
    events = told(
        *part(Text("x"), "x"),
        *part(CALL, '{"a":1}'),
        *part(cut, '{"a"', complete=False),
        ending,
        client=client,
        extended=extended,
    )
    assert closing(events, 2) == []
    assert closing(events, 1) != []
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    output = events[-1]["response"]["output"]
    assert [item["status"] for item in output] == ["completed", "completed", "incomplete"]


def test_v01_the_half_call_is_told_as_far_as_it_came() -> None:
    cut = Call("call_a", ToolName("f"), ToolKind.FUNCTION, '{"a"')
    events = told(*part(cut, '{"a"', complete=False), CUT, client=DEFAULT)
    assert types(events)[2:] == [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "error",
        "response.failed",
    ]
    [item] = events[-1]["response"]["output"]
    assert (item["status"], item["arguments"]) == ("incomplete", '{"a"')


@table("cut", [Text("x"), Refusal("x"), Reasoning("x")])
def test_v02_codex_gets_no_fragment_as_if_it_were_done_when_the_stream_fails(cut: ReplyPart) -> None:
    """It would keep it in its history, and the model would go on from it when Codex asks again."""
    events = told(*part(Text("a"), "a"), *part(cut, "x", complete=False), CUT, client=CODEX)
    assert closing(events, 1) == []
    assert [item["status"] for item in events[-1]["response"]["output"]] == ["completed", "incomplete"]
    assert closing(told(*part(cut, "x", complete=False), CUT, client=DEFAULT), 0) != []


@table("client", [DEFAULT, CODEX])
def test_half_a_text_that_reached_a_limit_is_closed_for_everybody(client: ClientProfile) -> None:
    """It is the answer: asked again, the model would come no further."""
    events = told(*part(Text("x"), "x", complete=False), ReplyEnded(Ending.MAX_TOKENS, USAGE), client=client)
    assert events[-2]["item"]["status"] == "incomplete"


@table("extended", [Extended(calls=True, done=False), Extended(calls=False, done=True)])
def test_v03_what_follows_the_end_is_a_matter_of_its_own(extended: Extended) -> None:
    kinds = types(told(*part(CALL, '{"a":1}'), END, client=DEFAULT, extended=extended))
    assert ("response.output_tool_call.begin" in kinds, kinds[-1] == "response.done") == extended


def test_f11_the_delay_of_a_rate_limit_is_in_both_messages() -> None:
    error, failed = encode(ReplyEnded(Ending.FAILED, None, RateLimited("Slow down.", retry_after=2)))[2:]
    for message in (error["message"], error["error"]["message"], failed["response"]["error"]["message"]):
        assert message == "Slow down. Please try again in 2s."


def test_nothing_but_a_failure_has_a_member_called_error() -> None:
    """The Python SDK raises on any event in which it is true."""
    for event in encode(*part(Text("x"), "x"), *part(CALL, '{"a":1}'), END, extended=True):
        assert "error" not in event
