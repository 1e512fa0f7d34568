"""From the wire to deltas, and through the whole pipeline to a reply, however the bytes are cut."""

from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.anthropic.decode import AnthropicDecoder
from proxy.core.errors import BackendFault, Garbled, Overloaded
from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    ErrorDelta,
    Finish,
    FinishDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Usage,
)
from tests.support.anthropic_events import (
    HIDDEN,
    STOP,
    TEXT,
    THINK_CALL,
    THOUGHT,
    TWO_CALLS,
    Json,
    adds,
    arguments,
    ends,
    kept,
    opens,
    reason,
    start,
    text,
)
from tests.support.anthropic_requests import ANTHROPIC, MODEL, on
from tests.support.tables import table

# ── deltas ──


def decoded(
    *events: Json | bytes, ledger: Ledger | None = None, profile: Any = ANTHROPIC
) -> list[Delta | Json]:
    """What it emits and keeps, in this order."""
    out: list[Any] = []
    decoder = AnthropicDecoder(out.append, profile, ledger or Ledger(), out.append, model=MODEL)
    for event in events:
        decoder.event(event if isinstance(event, bytes) else jsontext.dumps(event), b"")
    return out


def test_text() -> None:
    assert decoded(*TEXT) == [
        UsageDelta(Usage(13, 1, 14, 4)),
        TextDelta("Hi"),
        UsageDelta(Usage(13, 3, 16, 4)),
        FinishDelta(Finish.STOP),
        EndDelta(),
    ]


def test_two_calls() -> None:
    assert decoded(*TWO_CALLS) == [
        UsageDelta(Usage(9, 1, 10)),
        TextDelta("Both."),
        CallDelta(1, "toolu_a", "get_weather"),
        CallDelta(1, arguments='{"city":"Os'),
        CallDelta(1, arguments='lo"}'),
        CallDelta(2, "toolu_b", "now"),
        UsageDelta(Usage(9, 31, 40)),
        CallDelta(2, arguments="{}"),
        FinishDelta(Finish.STOP),
        EndDelta(),
    ]


def test_thoughts_are_kept_before_what_they_belong_to() -> None:
    assert decoded(*THINK_CALL) == [
        UsageDelta(Usage(9, 1, 10)),
        ReasoningDelta("Need weather."),
        *kept(THOUGHT, HIDDEN),
        CallDelta(2, "toolu_c", "get_weather"),
        CallDelta(2, arguments='{"city":"Oslo"}'),
        UsageDelta(Usage(9, 40, 49, reasoning_tokens=12)),
        FinishDelta(Finish.STOP),
        EndDelta(),
    ]


@table(
    ("block", "deltas", "expected"),
    [
        (
            {"thinking": "", "signature": ""},
            [("signature_delta", {"signature": "U0lH"})],
            THOUGHT | {"thinking": ""},
        ),
        ({"thinking": "", "signature": "U0lH"}, [], THOUGHT | {"thinking": ""}),
        ({"thinking": "Need weather.", "signature": "U0lH"}, [], THOUGHT),
        (
            {"thinking": "", "new": 1},
            [("thinking_delta", {"thinking": "Need weather."}), ("signature_delta", {"signature": "U0lH"})],
            THOUGHT | {"new": 1},
        ),
        ({"thinking": "Hm."}, [], None),
    ],
)
def test_a_thought_is_kept_as_it_came(block: Json, deltas: list, expected: Json | None) -> None:
    """Without words too, and with fields that nobody knows yet; without a signature it would be refused."""
    out = decoded(opens(0, "thinking", **block), *(adds(0, kind, **delta) for kind, delta in deltas), ends(0))
    assert [each for each in out if isinstance(each, dict)] == (kept(expected) if expected else [])


def test_nothing_is_kept_where_nothing_goes_back() -> None:
    assert [each for each in decoded(*THINK_CALL, profile=on(replay="none")) if isinstance(each, dict)] == []
    decoder = AnthropicDecoder([].append, ANTHROPIC, Ledger())
    for event in THINK_CALL:
        decoder.event(jsontext.dumps(event), b"")


@table(
    ("events", "expected"),
    [
        ([opens(0, "tool_use", id="a", name="f", input={"x": 1}), ends(0)], '{"x":1}'),
        (
            [opens(0, "tool_use", id="a", name="f", input={"x": 1}), arguments(0, '{"x":2}'), ends(0)],
            '{"x":2}',
        ),
        ([opens(0, "tool_use", id="a", name="f", input={}), ends(0), reason("tool_use")], "{}"),
        ([opens(0, "tool_use", id="a", name="f"), ends(0), opens(1, "text", text="")], "{}"),
        ([opens(0, "tool_use", id="a", name="f", input='{"x": 1}'), ends(0), STOP], '{"x": 1}'),
        ([opens(0, "tool_use", id="a", name="f", input=[1]), ends(0), STOP], "[1]"),
        ([opens(0, "tool_use", id="a", name="f", input=""), ends(0), STOP], "{}"),
        ([opens(0, "tool_use", id="a", name="f", input={}), ends(0), reason("max_tokens"), STOP], ""),
        ([opens(0, "tool_use", id="a", name="f", input={}), arguments(0, ""), STOP], ""),
        ([opens(0, "tool_use", id="a", name="f"), ends(0), STOP], "{}"),
        (
            [opens(0, "tool_use", id="a", name="f"), adds(0, "input_json_delta", partial_json={"x": 1})],
            '{"x":1}',
        ),
    ],
)
def test_arguments_that_come_in_no_pieces(events: list[Json], expected: str) -> None:
    """A compatible server's whole input, in whatever form: a call without its arguments does something else. `{}` for
    none; and nothing where the reply was cut before them."""
    out = decoded(*events)
    assert "".join(each.arguments for each in out if isinstance(each, CallDelta)) == expected


def test_input_nested_too_deeply() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = {"a": deep}
    start_of_call = (
        b'{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f","input":'
    )
    out = decoded(start_of_call + b'{"a":' * 300 + b"1" + b"}" * 300 + b"}}", ends(0))
    assert isinstance(out[-1], ErrorDelta)
    assert isinstance(out[-1].fault, Garbled)


@table(
    ("event", "odd"),
    [
        ({"type": "novelty"}, "event_unknown"),
        ({"x": 1, "error": None}, "event_unknown"),
        ({"type": {}}, "event_unknown"),
        (opens(0, "text") | {"content_block": {"type": []}}, "block_unknown"),
        ([1], "event_not_an_object"),
        ({"type": "message_start"}, "message_malformed"),
        (start() | {"message": {"usage": 5}}, "usage_malformed"),
        ({"type": "content_block_start", "index": 0}, "block_malformed"),
        (opens(0, "text") | {"index": "0"}, "block_malformed"),
        (opens(0, "server_tool_use", id="s"), "block_unknown"),
        (opens(0, "text"), "text_not_a_string"),
        ({"type": "content_block_delta", "index": 0}, "delta_malformed"),
        (text(7, "x"), "delta_misplaced"),
        (adds(7, "novelty_delta"), "delta_unknown"),
        (adds(7, "") | {"delta": {"type": []}}, "delta_unknown"),
        (text(0, "x") | {"index": None}, "delta_misplaced"),
        (ends(7), "block_stop_misplaced"),
        ({"type": "content_block_stop"}, "block_stop_misplaced"),
    ],
)
def test_what_has_no_meaning_is_passed_over_and_counted(event: Any, odd: str) -> None:
    ledger = Ledger()
    assert decoded(jsontext.dumps(event), ledger=ledger) == []
    assert ledger.oddities == {odd: 1}


@table(
    ("block", "delta", "odd"),
    [
        ("text", adds(0, "citations_delta", citation={}), "delta_unknown"),
        ("text", arguments(0, "{}"), "delta_misplaced"),
        ("text", adds(0, "text_delta", text=5), "text_as_number"),
        ("text", adds(0, "text_delta", text=[5]), "text_not_a_string"),
        ("thinking", adds(0, "thinking_delta", thinking={}), "text_not_a_string"),
        ("tool_use", adds(0, "input_json_delta", partial_json={}), "arguments_not_text"),
    ],
)
def test_deltas_that_do_not_fit(block: str, delta: Json, odd: str) -> None:
    ledger = Ledger()
    decoded(opens(0, block, text="", thinking=""), delta, ledger=ledger)
    assert ledger.oddities == {odd: 1}


@table("data", [b"", b" ", b"[DONE]"])
def test_what_other_dialects_add_is_nothing(data: bytes) -> None:
    ledger = Ledger()
    assert decoded(*TEXT, data, ledger=ledger) == decoded(*TEXT)
    assert ledger.oddities == {"event_empty": 1}


def test_an_unknown_block_is_skipped_until_its_stop() -> None:
    ledger = Ledger()
    out = decoded(opens(0, "novelty"), arguments(0, "{}"), text(0, "x"), ends(0), *TEXT, ledger=ledger)
    assert TextDelta("x") not in out
    assert TextDelta("Hi") in out
    assert ledger.oddities == {"block_unknown": 1}


def test_the_name_beside_an_event_stands_in_for_a_missing_type() -> None:
    out: list[Any] = []
    AnthropicDecoder(out.append, ANTHROPIC, Ledger()).event(b"{}", b"message_stop")
    assert out[-1] == EndDelta()


# ── endings ──


def test_the_reason_may_come_twice_the_first_time_empty() -> None:
    """Later counts replace earlier ones, unless they are null."""
    out = decoded(
        start(input_tokens=9, output_tokens=1),
        reason(None, {"input_tokens": None, "output_tokens": 2}),
        reason("end_turn", {"input_tokens": 10, "output_tokens": 3}),
        STOP,
    )
    assert [each for each in out if isinstance(each, UsageDelta)] == [
        UsageDelta(Usage(9, 1, 10)),
        UsageDelta(Usage(9, 2, 11)),
        UsageDelta(Usage(10, 3, 13)),
    ]
    assert out[-2:] == [FinishDelta(Finish.STOP), EndDelta()]


def test_a_reason_waits_for_open_blocks() -> None:
    ledger = Ledger()
    opened = [opens(0, "text", text="Hi"), reason("end_turn")]
    assert decoded(*opened)[-1] == TextDelta("Hi")
    assert decoded(*opened, STOP, ledger=ledger)[-2:] == [FinishDelta(Finish.STOP), EndDelta()]
    assert ledger.oddities == {"block_never_stopped": 1}


def test_a_reason_that_is_repeated() -> None:
    ledger = Ledger()
    out = decoded(reason("end_turn"), reason("end_turn"), STOP, ledger=ledger)
    assert out == [FinishDelta(Finish.STOP), EndDelta()]
    assert ledger.oddities == {"finish_repeated": 1}


def test_what_says_nothing_of_the_ending_changes_nothing() -> None:
    """Null counts are none; a message that was never there has neither."""
    assert decoded({"type": "message_delta"}, {"type": "message_delta", "delta": {}, "usage": None}) == []


def test_no_reason_at_all_proves_only_that_the_server_has_ended() -> None:
    assert decoded(STOP) == [EndDelta()]


@table(
    ("details", "expected"),
    [
        (
            {"type": "refusal", "explanation": "Because."},
            [RefusalDelta("Because."), FinishDelta(Finish.FILTER)],
        ),
        ({"type": "refusal", "explanation": None}, [FinishDelta(Finish.FILTER)]),
        (None, [FinishDelta(Finish.FILTER)]),
    ],
)
def test_a_refusal(details: Json | None, expected: list[Delta]) -> None:
    assert decoded(reason("refusal", stop_details=details)) == expected


@table(
    "event",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": {"type": "overloaded_error", "message": "Overloaded"}},
    ],
)
def test_an_error_in_the_stream(event: Json) -> None:
    out = decoded(*TEXT[:4], event)
    assert isinstance(out[-1], ErrorDelta)
    assert isinstance(out[-1].fault, Overloaded)


@table("data", [b"Overloaded", b'"Overloaded"', b'["Overloaded"]'])
def test_an_error_in_any_form(data: bytes) -> None:
    out: list[Any] = []
    AnthropicDecoder(out.append, ANTHROPIC, Ledger()).event(data, b"error")
    assert isinstance(out[0].fault, Overloaded)
    assert out[0].fault.message == "Overloaded"


def test_an_event_that_is_not_json() -> None:
    out = decoded(b"{oops")
    assert isinstance(out[0], ErrorDelta)
    assert isinstance(out[0].fault, Garbled)


def test_what_can_be_mended_is() -> None:
    """Half a character in one event, the other half in the next."""
    ledger = Ledger()
    halves = [
        b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\ud83d"}}',
        b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\ude00"}}',
    ]
    out = decoded(opens(0, "text", text=""), *halves, ledger=ledger)
    assert "".join(each.text for each in out if isinstance(each, TextDelta)) == "😀"
    assert ledger.oddities == {"json_mended": 2}


# ── whole bodies ──


def message(*content: Json, **more: Any) -> bytes:
    body = {"type": "message", "role": "assistant", "content": list(content), "stop_reason": "tool_use"}
    return jsontext.dumps(body | {"usage": {"input_tokens": 9, "output_tokens": 3}} | more)


def read(data: bytes) -> list[Any]:
    out: list[Any] = []
    AnthropicDecoder(out.append, ANTHROPIC, Ledger(), out.append, model=MODEL).body(data)
    return out


def test_a_whole_message() -> None:
    call = {"type": "tool_use", "id": "toolu_a", "name": "f", "input": {"x": 1}}
    bare = {"type": "tool_use", "id": "toolu_b", "name": "g", "input": {}}
    assert read(message(THOUGHT, HIDDEN, {"type": "text", "text": "Hi"}, call, bare)) == [
        ReasoningDelta("Need weather."),
        *kept(THOUGHT, HIDDEN),
        TextDelta("Hi"),
        CallDelta(3, "toolu_a", "f"),
        CallDelta(3, arguments='{"x":1}'),
        CallDelta(4, "toolu_b", "g"),
        UsageDelta(Usage(9, 3, 12)),
        CallDelta(4, arguments="{}"),
        FinishDelta(Finish.STOP),
        EndDelta(),
    ]


def test_a_whole_refusal() -> None:
    data = message(error=None, stop_reason="refusal", stop_details={"explanation": "Because."})
    assert read(data)[1:] == [RefusalDelta("Because."), FinishDelta(Finish.FILTER), EndDelta()]


@table(
    ("data", "fault"),
    [
        (b'{"type":"error","error":{"type":"overloaded_error","message":"x"}}', Overloaded),
        (b'{"error":"x"}', BackendFault),
        (b'{"type":"message"}', Garbled),
        (b"[]", Garbled),
        (b"{oops", Garbled),
    ],
)
def test_a_body_that_is_no_message(data: bytes, fault: type) -> None:
    (out,) = read(data)
    assert isinstance(out, ErrorDelta)
    assert type(out.fault) is fault
