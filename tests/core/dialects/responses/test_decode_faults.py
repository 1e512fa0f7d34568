"""Whole responses, failures, and what no server should say: a fault or a counted oddity, never an exception."""

from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.dialects.responses.decode import TAKERS
from proxy.core.dialects.responses.saying import MAX_ITEMS
from proxy.core.errors import BackendFault, ClientFault, Empty, Fault, Garbled, RateLimited
from proxy.core.events import (
    CallDelta,
    CallEndDelta,
    ErrorDelta,
    HostedDelta,
    ReasoningDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import Usage
from tests.support.responses_requests import (
    DEEP,
    END,
    STOPPED,
    USAGE,
    Decoded,
    Json,
    added,
    arguments,
    decoded,
    done,
    event,
    function_call,
    message,
    over,
    reasoning,
    text,
    told,
)
from tests.support.tables import table

# ── a whole response ──


def whole(body: Any) -> Decoded:
    said = Decoded()
    said.decoder.body(body if isinstance(body, bytes) else jsontext.dumps(body))
    return said


def test_a_whole_response() -> None:
    response = over(reasoning("Hm."), message("Hi"), function_call("{}"), usage=USAGE)["response"]
    assert whole(response | {"object": "response", "error": None}).deltas == [
        ReasoningDelta("Hm."),
        TextDelta("Hi"),
        CallDelta(0, "c1", "f"),
        CallDelta(0, arguments="{}"),
        CallEndDelta(0),
        UsageDelta(Usage(9, 5, 14, 4, 2)),
        STOPPED,
        END,
    ]


@table(
    ("body", "fault"),
    [
        (b" ", Empty),
        (b"no json", Garbled),
        (b"[]", Garbled),
        (b"{}", Garbled),
        ({"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}}, RateLimited),
        (
            {"object": "response", "status": "failed", "error": {"code": "server_error", "message": "x"}},
            BackendFault,
        ),
        ({"object": "response", "status": "in_progress", "output": []}, BackendFault),
        ({"object": "response", "status": "queued", "output": [message("Hi")]}, BackendFault),
    ],
)
def test_what_is_no_response(body: Any, fault: type[Fault]) -> None:
    (delta,) = whole(body).deltas
    assert isinstance(delta, ErrorDelta)
    assert type(delta.fault) is fault


# ── failures ──


@table(
    ("said", "fault"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "Slow down."}, RateLimited),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "No."}}, ClientFault),
        (event("failed", response={"error": {"code": "server_error", "message": "x"}}), BackendFault),
        (event("failed", response={"error": {"code": "invalid_prompt", "message": "x"}}), ClientFault),
        (event("failed", response={"status": "failed", "error": None}), BackendFault),
        (event("completed", response={"status": "cancelled"}), BackendFault),
        (event("cancelled", response=None), BackendFault),
        ({"error": {"message": "Gone.", "type": "server_error"}}, BackendFault),
        (b"no json", Garbled),
    ],
)
def test_failures_in_the_stream(said: Any, fault: type[Fault]) -> None:
    found = decoded(said).deltas[-1]
    assert isinstance(found, ErrorDelta)
    assert type(found.fault) is fault


def test_an_error_by_the_events_name_alone() -> None:
    for data in (b"out of memory", b'"out of memory"', b'{"message":"out of memory"}'):
        said = Decoded()
        said.decoder.event(data, b"error")
        (delta,) = said.deltas
        assert isinstance(delta, ErrorDelta)
        assert delta.fault.message == "out of memory"


def test_a_failure_costs_what_it_has_cost() -> None:
    failed = event("failed", response={"error": {"message": "x"}, "usage": USAGE})
    assert [type(delta) for delta in told(failed)] == [UsageDelta, ErrorDelta]


# ── as none should ──


@table(
    ("said", "oddity"),
    [
        (b"[1]", "event_not_an_object"),
        ({"type": "response.unheard_of"}, "event_unknown"),
        ({"type": 7}, "event_unknown"),
        (added([]), "item_malformed"),  # type: ignore[arg-type]
        (done("x"), "item_malformed"),  # type: ignore[arg-type]
        (added({"type": "hologram"}), "item_unknown"),
        (added({"type": [1]}), "item_unknown"),
        (text([7]), "text_not_a_string"),
        (arguments({}), "arguments_not_text"),
        (event("output_text.done", text=None), "text_not_a_string"),
        (event("content_part.done", part={"type": "hologram"}), "content_part_unknown"),
        (event("content_part.done"), "content_part_unknown"),
        (done(message({"type": "hologram"})), "content_part_unknown"),
        (over(usage={"tokens": 5}), "usage_without_counts"),
    ],
)
def test_what_has_no_meaning_is_counted(said: Json | bytes, oddity: str) -> None:
    found = decoded(said)
    assert found.ledger.oddities == {oddity: 1}
    assert [delta for delta in found.deltas if type(delta) is TextDelta] == []


@table(
    ("events", "oddity"),
    [
        ([added(message(), 0), added(message(), 0)], "item_repeated"),
        ([done(message("A"), 0), done(message("A"), 0)], "item_repeated"),
        ([done(message("A"), 0), text("B")], "delta_after_item"),
        ([done(function_call("{}"), 0), arguments("B")], "delta_after_item"),
        ([text("AB"), done(message("AC"), 0)], "text_differs"),
        ([text("AB"), event("output_text.done", text="A", item_id="msg_1")], "text_differs"),
        ([text("AB"), over(message("AC"))], "text_differs"),
        ([text("AB"), done(message("AB")), over(message("AC", id="y"))], "text_differs"),
        ([arguments("{}"), done(function_call('{"a":1}'), 0)], "arguments_differ"),
    ],
)
def test_what_contradicts_itself_is_counted(events: list[Json], oddity: str) -> None:
    assert decoded(*events).ledger.oddities == {oddity: 1}


def test_late_ends_are_no_news() -> None:
    late = [
        event("output_text.done", text="A", item_id="msg_1"),
        event("output_text.annotation.added", annotation={}, item_id="msg_1"),
        event("output_text.done", text="", item_id="msg_9"),
        event("output_text.delta", delta="", item_id="msg_9"),
        event("function_call_arguments.done", arguments="{}", item_id="fc_1"),
        event("function_call_arguments.delta", delta="", item_id="fc_1"),
        {"type": "keepalive"},
    ]
    said = decoded(done(message("A"), 0), done(function_call("{}"), 1), *late)
    assert said.ledger.oddities == {}
    assert len(said.deltas) == 4


def test_indexes_of_any_size_and_kind() -> None:
    for place in (10**30, -1, 1.5, "0", None, [], True):
        assert told(added(message(), place), text("A", place)) == [TextDelta("A")]


def test_what_cannot_be_told_is_left_out() -> None:
    deep = b'{"type":"response.output_item.done","item":{"type":"mcp_call","output":' + DEEP + b"}}"
    notes = (
        b'{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"A",'
        b'"annotations":[' + DEEP + b"]}]}}"
    )
    said = decoded(deep, notes)
    assert said.deltas == [TextDelta("A")]
    assert said.ledger.oddities == {"item_unwritable": 2}


def test_arguments_that_cannot_be_written_end_the_reply() -> None:
    call = b'{"type":"response.output_item.done","item":{"type":"function_call","name":"f","arguments":'
    (_, delta, _) = told(call + DEEP + b"}}")
    assert isinstance(delta, ErrorDelta)


def test_thoughts_that_cannot_be_kept_end_the_reply() -> None:
    item = b'{"type":"response.output_item.done","item":{"type":"reasoning","encrypted_content":"x","more":'
    (delta,) = told(item + DEEP + b"}}")
    assert isinstance(delta, ErrorDelta)


def test_long_numbers_stay_as_they_are() -> None:
    """In arguments that are an object, and in what a hosted tool tells."""
    number = b"123456789012345678901234567890"
    call = b'{"type":"response.output_item.done","item":{"type":"function_call","name":"f","arguments":{"n":%b}}}'
    assert CallDelta(0, arguments='{"n":' + number.decode() + "}") in told(call % number)
    item = b'{"type":"response.output_item.done","item":{"type":"mcp_call","n":%b}}'
    assert told(item % number) == [HostedDelta({"type": "mcp_call", "n": int(number)})]


def test_more_items_than_can_be_held_end_the_reply() -> None:
    said = decoded(*(done(message("A", id=str(number))) for number in range(MAX_ITEMS + 1)))
    assert sum(isinstance(delta, ErrorDelta) for delta in said.deltas) == 1
    assert len([delta for delta in said.deltas if isinstance(delta, TextDelta)]) == MAX_ITEMS + 1


def test_half_characters_are_joined() -> None:
    half = b'{"type":"response.output_text.delta","delta":"\\ud83d"}'
    rest = b'{"type":"response.output_text.delta","delta":"\\ude00"}'
    texts = [delta.text for delta in told(half, rest) if isinstance(delta, TextDelta)]
    assert "".join(texts) == "😀"


@pytest.mark.parametrize("raw", ["null", "true", "7", '"x"', "[]", "{}"])
@pytest.mark.parametrize("field", ["item", "delta", "response", "part", "output_index", "item_id", "text"])
def test_nothing_in_any_field_raises(field: str, raw: str) -> None:
    for kind in TAKERS:
        said = Decoded()
        said.decoder.event(f'{{"type":"{kind}","{field}":{raw}}}'.encode(), b"")
        said.decoder.event(f'{{"type":"{kind}","item":{{"type":"message","{field}":{raw}}}}}'.encode(), b"")
        said.decoder.event(
            f'{{"type":"{kind}","response":{{"{field}":{raw},"output":[{raw}],"status":{raw}}}}}'.encode(),
            b"",
        )
        said.decoder.body(f'{{"output":[{raw}],"status":{raw},"incomplete_details":{raw}}}'.encode())


def test_long_numbers_in_a_long_event_end_the_reply_or_are_left_out() -> None:
    """To read them exactly would take too long, and other numbers are worth nothing."""
    padding = b" " * (jsontext.MAX_EXACT + 1)
    number = b'{"n":123456789012345678901234567890}' + padding
    calls = [b'{"type":"function_call","name":"f","arguments":%b}' % number] * 2
    hosted = [b'{"type":"mcp_call","output":%b}' % number] * 2
    said = whole(b'{"output":[%b]}' % b",".join(calls + hosted))
    assert len([delta for delta in said.deltas if isinstance(delta, ErrorDelta)]) == 2
    assert said.ledger.oddities == {"item_unwritable": 2}


def test_a_token_that_looks_like_a_number_is_text_all_the_same() -> None:
    decoded = Decoded().say(text("["), text(7), text("]"), over(message("[7]")))
    assert [delta.text for delta in decoded.deltas if isinstance(delta, TextDelta)] == ["[", "7", "]"]
    assert decoded.odd == {"text_as_number": 1}
