"""R04, R06: the events of the Responses stream, in the order and with the fields that clients rely on.

Every stream goes through `read_stream`, which checks numbering, order, pairs and joined deltas by itself.
"""

from typing import Any

from proxy.core import jsontext
from proxy.core.errors import ClientFault, Truncated
from proxy.core.events import (
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Call, Reasoning, Refusal, Summary, Text, ToolKind, ToolName
from proxy.core.surfaces.clients import CODEX
from proxy.core.surfaces.framing import SOCKET, Framing
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses.calls import FORMS
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.response import ResponseObject
from tests.support.assembling import PartDelta, into
from tests.support.replies import FIRST_ITEM, NOW, REQUEST, counting_mint, outline, read_stream
from tests.support.responses_events import ADDED, ALL, CALL, CUSTOM, DONE, END, SEARCH, encode, part, types
from tests.support.tables import table


def body(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What stands between the events that tell of the whole response."""
    return [
        {key: value for key, value in event.items() if key != "sequence_number"} for event in events[2:-1]
    ]


def test_a_text() -> None:
    item = {
        "id": f"msg_{FIRST_ITEM}",
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
    where = {"item_id": f"msg_{FIRST_ITEM}", "output_index": 0, "content_index": 0}
    assert events[1:-1] == [
        {"type": "response.content_part.added", **where, "part": {"type": "refusal", "refusal": ""}},
        {"type": "response.refusal.delta", **where, "delta": "No"},
        {"type": "response.refusal.delta", **where, "delta": "."},
        {"type": "response.refusal.done", **where, "refusal": "No."},
        {"type": "response.content_part.done", **where, "part": {"type": "refusal", "refusal": "No."}},
    ]


def test_f57_reasoning_is_a_summary() -> None:
    """The one form of it that every client knows by the same name."""
    item = {"id": f"rs_{FIRST_ITEM}", "type": "reasoning", "summary": []}
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


def test_a_call() -> None:
    item = {
        "id": f"fc_{FIRST_ITEM}",
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
        "id": f"ctc_{FIRST_ITEM}",
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


def test_a_call_without_events_of_its_own_is_told_by_its_item() -> None:
    """Codex reads a search for tools from the item that is done, as an object."""
    item = {"id": f"tsc_{FIRST_ITEM}", "type": "tool_search_call", "call_id": "call_a", "execution": "client"}
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
    where = {"item_id": f"fc_{FIRST_ITEM}", "output_index": 0}
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
    item = {"id": f"cmp_{FIRST_ITEM}", "type": "compaction", "encrypted_content": ""}
    assert body(encode(*part(Summary("They talked.")), END)) == [
        {"type": ADDED, "output_index": 0, "item": item},
        {"type": DONE, "output_index": 0, "item": item},
    ]


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
