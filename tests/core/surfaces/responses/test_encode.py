"""R04, R06: the events of the Responses stream, in the order and with the fields that clients rely on.

Every stream goes through `read_stream`, which checks numbering, order, pairs and joined deltas by itself.
"""

from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.errors import ClientFault, RateLimited, Truncated
from proxy.core.events import (
    CallHead,
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Call, Reasoning, Refusal, ReplyPart, Summary, Text, ToolKind, ToolName, Usage
from proxy.core.surfaces.clients import CODEX, DEFAULT, NOTHING_MORE, ClientProfile, Extended
from proxy.core.surfaces.framing import SOCKET, Framing
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses.calls import FORMS
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.response import ResponseObject
from tests.support.assembling import PartDelta, Told, into
from tests.support.replies import NOW, REQUEST, counting_mint, outline, read_stream
from tests.support.tables import table

USAGE = Usage(1, 2, 3)
END = ReplyEnded(Ending.COMPLETED, USAGE)
CUT = ReplyEnded(Ending.FAILED, None, Truncated("Gone."))
ALL = Extended(calls=True, done=True)
KINDS: dict[type[ReplyPart], PartKind] = {
    Text: PartKind.TEXT,
    Reasoning: PartKind.REASONING,
    Refusal: PartKind.REFUSAL,
    Call: PartKind.CALL,
    Summary: PartKind.SUMMARY,
}


def part(part: ReplyPart, *deltas: str, complete: bool = True) -> list[Told]:
    head = CallHead(part.call_id, part.tool, part.kind) if isinstance(part, Call) else None
    started = PartStarted(KINDS[type(part)], head)
    return [started, *(PartDelta(delta) for delta in deltas), PartEnded(part, complete)]


def encode(*events: Told, extended: bool = False, signer: TokenSigner | None = None) -> list[dict[str, Any]]:
    frames: list[bytes] = []
    encoder = ResponsesEncoder(
        ResponseObject(REQUEST, counting_mint(), lambda: NOW, signer),
        frames.append,
        extended=Extended(extended, extended),
    )
    for event in (ReplyStarted(), *events):
        into(encoder)(event)
    return read_stream(b"".join(frames))


def body(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What stands between the events that tell of the whole response."""
    return [
        {key: value for key, value in event.items() if key != "sequence_number"} for event in events[2:-1]
    ]


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


ADDED, DONE = "response.output_item.added", "response.output_item.done"


def test_a_text() -> None:
    item = {
        "id": f"msg_{2:032x}",
        "type": "message",
        "status": "in_progress",
        "role": "assistant",
        "content": [],
    }
    where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    whole = empty | {"text": "Hello"}
    events = encode(*part(Text("Hello"), "Hel", "lo"), END)
    assert types(events)[:2] == ["response.created", "response.in_progress"]
    assert body(events) == [
        {"type": ADDED, "output_index": 0, "item": item},
        {"type": "response.content_part.added", **where, "part": empty},
        {"type": "response.output_text.delta", **where, "delta": "Hel", "logprobs": []},
        {"type": "response.output_text.delta", **where, "delta": "lo", "logprobs": []},
        {"type": "response.output_text.done", **where, "text": "Hello", "logprobs": []},
        {"type": "response.content_part.done", **where, "part": whole},
        {"type": DONE, "output_index": 0, "item": item | {"status": "completed", "content": [whole]}},
    ]
    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"]["output"] == [events[-2]["item"]]
    assert events[-1]["response"]["usage"]["total_tokens"] == 3


def test_f58_a_refusal() -> None:
    events = body(encode(*part(Refusal("No."), "No", "."), END))
    where = {"item_id": f"msg_{2:032x}", "output_index": 0, "content_index": 0}
    assert events[1:-1] == [
        {"type": "response.content_part.added", **where, "part": {"type": "refusal", "refusal": ""}},
        {"type": "response.refusal.delta", **where, "delta": "No"},
        {"type": "response.refusal.delta", **where, "delta": "."},
        {"type": "response.refusal.done", **where, "refusal": "No."},
        {"type": "response.content_part.done", **where, "part": {"type": "refusal", "refusal": "No."}},
    ]


def test_f57_reasoning_is_a_summary() -> None:
    """The one form of it that every client knows by the same name."""
    item = {"id": f"rs_{2:032x}", "type": "reasoning", "summary": []}
    where = {"item_id": item["id"], "output_index": 0, "summary_index": 0}
    whole = {"type": "summary_text", "text": "Hm."}
    assert body(encode(*part(Reasoning("Hm."), "Hm."), *part(Text("x"), "x"), END))[:6] == [
        {"type": ADDED, "output_index": 0, "item": item},
        {"type": "response.reasoning_summary_part.added", **where, "part": whole | {"text": ""}},
        {"type": "response.reasoning_summary_text.delta", **where, "delta": "Hm."},
        {"type": "response.reasoning_summary_text.done", **where, "text": "Hm."},
        {"type": "response.reasoning_summary_part.done", **where, "part": whole},
        {"type": DONE, "output_index": 0, "item": item | {"summary": [whole]}},
    ]


CALL = Call("call_a", ToolName("f"), ToolKind.FUNCTION, '{"a":1}')
CUSTOM = Call("call_a", ToolName("p"), ToolKind.CUSTOM, "*** Begin")


def test_a_call() -> None:
    item = {
        "id": f"fc_{2:032x}",
        "type": "function_call",
        "status": "in_progress",
        "call_id": "call_a",
        "name": "f",
        "arguments": "",
    }
    where = {"item_id": item["id"], "output_index": 0}
    assert body(encode(*part(CALL, '{"a"', ":1}"), END)) == [
        {"type": ADDED, "output_index": 0, "item": item},
        {"type": "response.function_call_arguments.delta", **where, "delta": '{"a"'},
        {"type": "response.function_call_arguments.delta", **where, "delta": ":1}"},
        {"type": "response.function_call_arguments.done", **where, "name": "f", "arguments": '{"a":1}'},
        {"type": DONE, "output_index": 0, "item": item | {"status": "completed", "arguments": '{"a":1}'}},
    ]


def test_a_custom_call() -> None:
    item = {
        "id": f"ctc_{2:032x}",
        "type": "custom_tool_call",
        "status": "in_progress",
        "call_id": "call_a",
        "name": "p",
        "input": "",
    }
    where = {"item_id": item["id"], "output_index": 0}
    assert body(encode(*part(CUSTOM, "*** Begin"), END)) == [
        {"type": ADDED, "output_index": 0, "item": item},
        {"type": "response.custom_tool_call_input.delta", **where, "delta": "*** Begin"},
        {"type": "response.custom_tool_call_input.done", **where, "input": "*** Begin"},
        {"type": DONE, "output_index": 0, "item": item | {"status": "completed", "input": "*** Begin"}},
    ]


WORDLESS = (PartStarted(PartKind.REASONING, wordless=True), PartEnded(Reasoning(""), True))


def test_reasoning_without_words_is_an_item_and_no_more() -> None:
    assert types(encode(*WORDLESS, END, signer=TokenSigner("secret")))[2:] == [
        ADDED,
        DONE,
        "response.completed",
    ]


def test_and_nothing_at_all_to_a_client_that_keeps_nothing_for_us() -> None:
    told = encode(*WORDLESS, *part(Text("Hi"), "Hi"), *WORDLESS, END)
    assert [event["output_index"] for event in told if event["type"] == ADDED] == [0]
    assert [item["type"] for item in told[-1]["response"]["output"]] == ["message"]


SEARCH = Call("call_a", ToolName("tool_search"), ToolKind.TOOL_SEARCH, '{"query":"x"}')


def test_a_call_without_events_of_its_own_is_told_by_its_item() -> None:
    """Codex reads a search for tools from the item that is done, as an object."""
    item = {"id": f"tsc_{2:032x}", "type": "tool_search_call", "call_id": "call_a", "execution": "client"}
    assert body(encode(*part(SEARCH, '{"query":"x"}'), END)) == [
        {"type": ADDED, "output_index": 0, "item": item | {"status": "in_progress", "arguments": {}}},
        {
            "type": DONE,
            "output_index": 0,
            "item": item | {"status": "completed", "arguments": {"query": "x"}},
        },
    ]


def test_r04_a_call_without_events_of_its_own_is_extended_too() -> None:
    events = encode(*part(SEARCH, '{"query":"x"}'), END, extended=True)
    assert types(events)[3:6] == [
        "response.output_tool_call.begin",
        "response.output_tool_call.delta",
        "response.output_tool_call.end",
    ]
    assert events[5]["arguments"] == '{"query":"x"}'


def test_r04_the_extended_events_stand_around_each_call() -> None:
    where = {"item_id": f"fc_{2:032x}", "output_index": 0}
    events = encode(*part(CALL, '{"a"', ":1}"), END, extended=True)
    assert types(events)[2:] == [
        ADDED,
        "response.output_tool_call.begin",
        "response.output_tool_call.delta",
        "response.function_call_arguments.delta",
        "response.output_tool_call.delta",
        "response.function_call_arguments.delta",
        "response.output_tool_call.end",
        "response.function_call_arguments.done",
        DONE,
        "response.completed",
        "response.done",
    ]
    begin, delta, end = (body(events)[number] for number in (1, 2, 6))
    assert begin == {"type": "response.output_tool_call.begin", **where, "call_id": "call_a", "name": "f"}
    assert delta == {"type": "response.output_tool_call.delta", **where, "delta": '{"a"'}
    assert end == {
        "type": "response.output_tool_call.end",
        **where,
        "call_id": "call_a",
        "name": "f",
        "arguments": '{"a":1}',
    }


def test_r04_a_custom_call_is_extended_too() -> None:
    events = encode(*part(CUSTOM, "*** Begin"), END, extended=True)
    assert types(events)[3:7] == [
        "response.output_tool_call.begin",
        "response.output_tool_call.delta",
        "response.custom_tool_call_input.delta",
        "response.output_tool_call.end",
    ]
    assert events[6]["arguments"] == "*** Begin"


def test_r04_the_last_event_of_an_extended_stream_repeats_the_whole_response() -> None:
    completed, done = encode(*part(Text("x"), "x"), END, extended=True)[-2:]
    assert done["type"] == "response.done"
    assert done["response"] == completed["response"]


def test_r04_items_of_an_extended_stream_have_their_id_beside_them() -> None:
    for extended in (True, False):
        items = [event for event in encode(*part(CALL, '{"a":1}'), END, extended=extended) if "item" in event]
        assert [event.get("item_id") for event in items] == [items[0]["item"]["id"] if extended else None] * 2


def test_r06_items_come_one_after_another_with_dense_indexes() -> None:
    events = encode(
        *part(Reasoning("r"), "r"), *part(Text("t"), "t"), *part(CALL, '{"a":1}'), *part(Text("u"), "u"), END
    )
    assert [(event["type"], event["output_index"]) for event in events if "item" in event] == [
        (kind, index) for index in range(4) for kind in (ADDED, DONE)
    ]


def test_log_probabilities_travel_with_their_delta_and_in_the_end_with_the_text() -> None:
    token = {"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": []}
    deltas = [PartDelta("a", [token]), PartDelta("b")]
    events = encode(PartStarted(PartKind.TEXT), *deltas, PartEnded(Text("ab", [token]), True), END)
    assert [event["logprobs"] for event in events if "logprobs" in event] == [[token], [], [token]]
    assert events[-1]["response"]["output"][0]["content"][0]["logprobs"] == [token]


@table(
    "text",
    ["\n\ndata: [DONE]\n\n", '"\\', "\x00\x1f\u2028", "é😀", '%d %b {} ,"sequence_number":9', "\ud83d"],
    ids=["frame", "quotes", "control", "unicode", "templates", "half a character"],
)
def test_f37_s14_no_text_can_break_a_frame(text: str) -> None:
    part_of_it = text.encode("utf-8", "replace").decode() if text == "\ud83d" else text
    frames: list[bytes] = []
    encoder = ResponsesEncoder(ResponseObject(REQUEST, counting_mint(), lambda: NOW), frames.append)
    for event in (ReplyStarted(), *part(Text(text), text), END):
        into(encoder)(event)
    deltas = [event["delta"] for event in read_stream(b"".join(frames)) if "delta" in event]
    assert deltas == [part_of_it.replace("?", "\ufffd") if text == "\ud83d" else text]


def test_a_summary_is_one_item_that_is_told_only_when_it_is_done() -> None:
    """Its content is for us alone: a token where there is a signer, and empty here, where there is none."""
    item = {"id": f"cmp_{2:032x}", "type": "compaction", "encrypted_content": ""}
    assert body(encode(*part(Summary("They talked.")), END)) == [
        {"type": ADDED, "output_index": 0, "item": item},
        {"type": DONE, "output_index": 0, "item": item},
    ]


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


# ── framing ──


def test_another_transport_has_its_own_frames_and_no_end_mark() -> None:
    frames: list[bytes] = []
    framing = Framing(before=lambda event: b"", after=b"", end=None)
    encoder = ResponsesEncoder(
        ResponseObject(REQUEST, counting_mint(), lambda: NOW), frames.append, framing=framing
    )
    for event in (ReplyStarted(), *part(Text("x"), "x"), END):
        into(encoder)(event)
    events = [jsontext.loads(frame) for frame in frames]
    assert [event["sequence_number"] for event in events] == list(range(9))
    assert events[-1]["type"] == "response.completed"


def test_over_a_socket_a_failure_is_one_event_and_nothing_follows_the_last() -> None:
    """Whatever came after it would be taken for the beginning of the next reply."""
    frames: list[bytes] = []
    encoder = ResponsesEncoder(
        ResponseObject(REQUEST, counting_mint(), lambda: NOW), frames.append, framing=SOCKET, extended=ALL
    )
    for event in (
        ReplyStarted(),
        *part(CALL, '{"a":1}'),
        ReplyEnded(Ending.FAILED, None, Truncated("Gone.")),
    ):
        into(encoder)(event)
    told = types([jsontext.loads(frame) for frame in frames])
    assert told[-2:] == [DONE, "response.failed"]
    assert not [kind for kind in told if kind == "error" or "tool_call." in kind]


@table("kind", [kind for kind, form in FORMS.items() if form.events is None])
def test_a_call_without_events_of_its_own_comes_in_one_piece(kind: ToolKind) -> None:
    call = Call("call_a", ToolName("t"), kind, '{"query":"q"}')
    frames: list[bytes] = []
    encoder = ResponsesEncoder(ResponseObject(REQUEST, counting_mint(), lambda: NOW), frames.append)
    for event in (ReplyStarted(), *part(call, '{"query":"q"}'), END):
        into(encoder)(event)
    events = [jsontext.loads(frame.split(b"data: ")[1]) for frame in frames[:-1]]
    assert types(events)[2:] == [ADDED, DONE, "response.completed"]
    assert events[-1]["response"]["output"] == [events[-2]["item"]]


def test_each_event_is_one_frame() -> None:
    """The suite's parser loses an event whose blank line comes in another read."""
    frames: list[bytes] = []
    encoder = ResponsesEncoder(
        ResponseObject(REQUEST, counting_mint(), lambda: NOW), frames.append, extended=ALL
    )
    for event in (ReplyStarted(), *part(CALL, '{"a":1}'), END):
        into(encoder)(event)
    assert all(frame.startswith(b"event: ") and frame.count(b"\n\n") == 1 for frame in frames[:-1])
    assert frames[-1] == b"data: [DONE]\n\n"


def test_an_outline_tells_adjacent_deltas_as_one() -> None:
    cuts = [
        outline(encode(*part(Text("abc"), *deltas), END))
        for deltas in (("abc",), ("a", "b", "c"), ("ab", "c"))
    ]
    assert cuts[0] == cuts[1] == cuts[2]


# ── a client's own way ──


def encoder_for_codex() -> tuple[ResponsesEncoder, list[bytes]]:
    frames: list[bytes] = []
    response = ResponseObject(REQUEST, counting_mint(), lambda: NOW)
    return ResponsesEncoder(response, frames.append, client=CODEX), frames


def test_a_refusal_leaves_as_text_for_clients_that_drop_refusals() -> None:
    encoder, frames = encoder_for_codex()
    for event in (ReplyStarted(), *part(Refusal("I won't."), "I ", "won't."), END):
        into(encoder)(event)
    assert read_stream(b"".join(frames)) == encode(*part(Text("I won't."), "I ", "won't."), END)


def test_a_failure_is_told_in_the_codes_that_the_client_understands() -> None:
    encoder, frames = encoder_for_codex()
    for event in (ReplyStarted(), ReplyEnded(Ending.FAILED, None, ClientFault("No.", code="unsupported"))):
        into(encoder)(event)
    *_, error, failed = read_stream(b"".join(frames))
    assert (error["code"], error["error"]["code"]) == ("invalid_prompt", "invalid_prompt")
    assert failed["response"]["error"] == {"code": "invalid_prompt", "message": "No."}


def test_a_sign_of_life_is_an_event_like_any_other() -> None:
    encoder, frames = encoder_for_codex()
    first, *rest = part(Text("Hello"), "Hel", "lo")
    encoder.feed(ReplyStarted())
    encoder.still_working()
    into(encoder)(first)
    encoder.still_working()
    for event in (*rest, END):
        into(encoder)(event)
    told = [jsontext.loads(frame.split(b"data: ")[1]) for frame in frames[:-1]]
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    assert types(told)[:7] == [
        "response.created",
        "response.in_progress",
        "response.in_progress",
        ADDED,
        "response.content_part.added",
        "response.in_progress",
        "response.output_text.delta",
    ]
    assert told[5] == told[1] | {"sequence_number": 5}


def test_there_is_no_sign_of_life_outside_of_a_life() -> None:
    encoder, frames = encoder_for_codex()
    encoder.still_working()
    assert frames == []
    encoder.feed(ReplyStarted())
    encoder.feed(END)
    whole = list(frames)
    encoder.still_working()
    assert frames == whole
