"""Anthropic's streams through the pipeline: any cut of the bytes makes the same reply, and it goes back as it came."""

from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.anthropic.decode import AnthropicDecoder
from proxy.core.dialects.reading.decoding import MAX_KEPT_DEPTH
from proxy.core.errors import Garbled, Truncated
from proxy.core.events import (
    Delta,
    Ending,
    ErrorDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Call,
    Part,
    Reasoning,
    Refusal,
    Request,
    Text,
    ToolKind,
    ToolName,
    ToolSpec,
)
from proxy.core.stream.pipeline import Pipeline
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
    opens,
    reason,
)
from tests.support.anthropic_requests import ANTHROPIC, MODEL, messages_of, sent
from tests.support.assembling import recorder
from tests.support.chat_requests import assistant, nested, result, tool, user
from tests.support.replies import bytewise, cut, pipeline_for
from tests.support.tables import table

# ── through the pipeline ──


def wire(events: list[Json], newline: bytes = b"\n") -> bytes:
    frames = [
        b"event: " + event["type"].encode() + b"\ndata: " + jsontext.dumps(event) + b"\n\n"
        for event in events
    ]
    return b"".join(frames).replace(b"\n", newline)


def run(pieces: Any) -> Pipeline:
    tools = [ToolSpec(ToolName("get_weather")), ToolSpec(ToolName("now"))]
    pipeline = pipeline_for(Request(MODEL, [], tools=tools), ANTHROPIC, recorder([]), Ledger())
    for piece in pieces:
        pipeline.feed(piece)
    pipeline.close()
    return pipeline


def parts(pipeline: Pipeline) -> list[Part]:
    return [ended.part for ended in pipeline.reply.parts]  # type: ignore[misc]


def extras(*blocks: Json) -> Json:
    return {"anthropic": {"blocks": [{"model": MODEL, "block": block} for block in blocks]}}


WEATHER = '{"city":"Oslo"}'
FIXTURES = {
    "text": (TEXT, [Text("Hi")]),
    "two calls": (
        TWO_CALLS,
        [
            Text("Both."),
            Call("toolu_a", ToolName("get_weather"), ToolKind.FUNCTION, WEATHER),
            Call("toolu_b", ToolName("now"), ToolKind.FUNCTION, "{}"),
        ],
    ),
    "think, call": (
        THINK_CALL,
        [
            Reasoning("Need weather.", extras(THOUGHT, HIDDEN)),
            Call("toolu_c", ToolName("get_weather"), ToolKind.FUNCTION, WEATHER),
        ],
    ),
}


@table(("events", "expected"), FIXTURES.values(), ids=FIXTURES)
def test_any_cut_of_the_bytes_makes_the_same_reply(events: list[Json], expected: list[Part]) -> None:
    for data in (wire(events), wire(events, b"\r\n")):
        for pieces in ([data], bytewise(data), cut(data, range(0, len(data), 17)), cut(data, (40, 200, 333))):
            done = run(pieces)
            assert parts(done) == expected
            assert done.reply.ended is not None
            assert done.reply.ended.ending is Ending.COMPLETED


@table("events", [TEXT, TWO_CALLS, THINK_CALL])
def test_an_end_without_message_stop(events: list[Json]) -> None:
    """A reply without its end is a failure; only the last formality may be missing."""
    for length in range(len(events) + 1):
        done = run([wire(events[:length]) or b" "])
        complete = length >= len(events) - 1
        assert (done.fault is None) is complete, length
        if length and not complete:
            assert isinstance(done.fault, Truncated)


def test_an_end_with_an_open_block() -> None:
    done = run([wire([*TWO_CALLS[:7], TWO_CALLS[-2]])])
    assert isinstance(done.fault, Truncated)


def test_an_end_without_a_reason_completes_no_half_call() -> None:
    """A gateway that has lost its backend may still say `message_stop`."""
    done = run([wire([*TWO_CALLS[:7], STOP])])
    assert isinstance(done.fault, Truncated)
    assert [ended.complete for ended in done.reply.parts] == [True, False]


def test_a_call_that_was_cut_is_no_whole_call() -> None:
    """The open call ends incomplete, and the reply says that it was cut."""
    done = run([wire([*TWO_CALLS[:7], ends(1), reason("max_tokens"), STOP])])
    assert done.reply.ended is not None
    assert done.reply.ended.ending is Ending.MAX_TOKENS
    assert [ended.complete for ended in done.reply.parts] == [True, False]
    bare = run([wire([*TWO_CALLS[:4], TWO_CALLS[9], ends(2), reason("max_tokens"), STOP])])
    assert [ended.complete for ended in bare.reply.parts] == [True, False]


def test_a_refusal_in_words() -> None:
    details = {"type": "refusal", "explanation": "Because."}
    done = run([wire([*TEXT[:5], reason("refusal", stop_details=details), STOP])])
    assert done.reply.ended is not None
    assert done.reply.ended.ending is Ending.FILTERED
    assert parts(done) == [Text("Hi"), Refusal("Because.")]


def test_ids_are_never_made_twice() -> None:
    calls = [call.call_id for call in parts(run([wire(TWO_CALLS)])) if isinstance(call, Call)]
    assert calls == ["toolu_a", "toolu_b"]


def test_the_next_turn_returns_what_was_opaque_byte_for_byte() -> None:
    """Interleaved thoughts too, in their places."""
    second = {"type": "thinking", "thinking": "", "signature": "U0lH"}
    events = [
        *THINK_CALL[:-2],
        opens(3, "thinking", thinking=""),
        adds(3, "signature_delta", signature="U0"),
        adds(3, "signature_delta", signature="lH"),
        ends(3),
        opens(4, "tool_use", id="toolu_d", name="now", input={}),
        arguments(4, '{"b": 1.0,  "a": "\\u00e9"}'),
        ends(4),
        *THINK_CALL[-2:],
    ]
    said = parts(run(bytewise(wire(events))))
    turns = (user("A"), assistant(*said), tool(result("toolu_c", "rain"), result("toolu_d", "noon")))
    assert '"input":{"b": 1.0,  "a": "\\u00e9"}' in sent(*turns)
    messages = messages_of(*turns)
    assert messages[1]["content"] == [
        THOUGHT,
        HIDDEN,
        {"type": "tool_use", "id": "toolu_c", "name": "get_weather", "input": {"city": "Oslo"}},
        second,
        {"type": "tool_use", "id": "toolu_d", "name": "now", "input": {"b": 1.0, "a": "é"}},
    ]


def test_attack_27_a_block_too_deep_to_be_sent_back_is_the_backends_fault() -> None:
    deltas: list[Delta] = []
    kept: list[Any] = []
    decoder = AnthropicDecoder(deltas.append, ANTHROPIC, Ledger(), kept.append)
    decoder.event(jsontext.dumps(opens(0, "redacted_thinking", data=nested(MAX_KEPT_DEPTH))), b"")
    assert [type(one.fault) for one in deltas if isinstance(one, ErrorDelta)] == [Garbled]
    assert not kept
