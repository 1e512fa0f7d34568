"""One reply from the backend's bytes to the client's events: whatever a backend does, nothing here raises."""

from collections.abc import Callable
from typing import Any

import pytest

from proxy.core.backends import profiles
from proxy.core.dialects.chat.decode import ChatDecoder
from proxy.core.errors import BackendFault, Empty, Fault, Garbled, Timeout, Truncated
from proxy.core.events import CallDelta, Delta, Ending, More, PartEnded, ReplyStarted
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Reasoning, Text, ToolName, ToolSpec, Usage
from proxy.core.profile import overridden
from proxy.core.stream import pipeline as stage
from proxy.core.stream.assembler import MAX_CALLS, MAX_LATE
from proxy.core.stream.pipeline import Pipeline
from proxy.core.tools.names import NameTable
from tests.support.assembling import Told, call, cut, done, read_events, recorder
from tests.support.replies import (
    DONE,
    KNOWN,
    REQUEST,
    STOP,
    Run,
    bytewise,
    call_chunk,
    chunk,
    counting_mint,
    run,
    start,
)
from tests.support.tables import table

USAGE = chunk(usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3})
RESET = Truncated("The connection broke.")


def text(content: str) -> bytes:
    return chunk({"content": content})


def ending(reply: Run) -> tuple[Ending, type[Fault] | None]:
    ended = reply.reply.ended
    assert ended is not None
    assert reply.pipeline.fault is ended.fault
    return ended.ending, None if ended.fault is None else type(ended.fault)


COMPLETED = (Ending.COMPLETED, None)


# ── what a reply is made of ──


REPLIES = [
    pytest.param(text("Hi") + STOP + DONE, done(Text("Hi")), id="text"),
    pytest.param(
        call_chunk(0, "a", "get_time") + call_chunk(0, args="{}") + STOP + DONE,
        done(call("a", "get_time")),
        id="call",
    ),
    pytest.param(
        text("<think>a</th") + text("ink>b") + STOP,
        done(Reasoning("a"), Text("b")),
        id="F57 thought in the text",
    ),
    pytest.param(
        chunk({"reasoning_content": "a\n<function=get_time></function>\n</think>"}) + STOP,
        done(Reasoning("a\n"), call("call_74cc76d73d41673414793062", "get_time")),
        id="R08 a call at the end of a thought that was not taken out of its tags",
    ),
    pytest.param(text("x<think>") + STOP, done(Text("x<think>")), id="a tag that is text"),
    pytest.param(text("<th") + STOP + DONE, done(Text("<th")), id="half a tag"),
    pytest.param(text("<th") + DONE, done(Text("<th")), id="half a tag before the end mark"),
    pytest.param(
        b'{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}',
        done(Text("Hi")),
        id="F17 JSON",
    ),
    pytest.param(
        (text("Hi") + STOP).rstrip(b"\n"), done(Text("Hi")), id="F33 last event without its blank line"
    ),
]


INVOKE = '<invoke name="get_weather">\n<parameter name="city">Rome</parameter>\n</invoke>'


@table("before", ["court\n", "So I look.\n\ncount\n", "I look:\ncall\n\n"])
def test_r08_a_word_where_claudes_opener_belongs_tells_that_an_invoke_is_meant(before: str) -> None:
    data = text(before + INVOKE) + STOP
    for pieces in (data, bytewise(data), [*map(text, before + INVOKE), STOP]):
        said, called = (ended.part for ended in run(pieces).reply.parts)
        assert said == Text(before)
        assert isinstance(called, Call)
        assert (called.tool.name, called.arguments) == ("get_weather", '{"city":"Rome"}')


@table("before", ["", "So I look.\n\n", "the court\n", "Of course: ", "account\n"])
def test_without_it_the_invoke_is_text(before: str) -> None:
    assert run(text(before + INVOKE) + STOP).reply.parts == done(Text(before + INVOKE))


@table(("data", "parts"), REPLIES)
def test_the_bytes_become_a_reply(data: bytes, parts: list[PartEnded]) -> None:
    reply = run(data)
    assert reply.reply.parts == parts
    assert ending(reply) == COMPLETED


@table(("data", "parts"), REPLIES)
def test_f32_one_byte_at_a_time_they_become_the_same(data: bytes, parts: list[PartEnded]) -> None:
    reply = run(bytewise(data))
    assert reply.reply.parts == parts
    assert ending(reply) == COMPLETED


def test_the_events_pass_through_the_collector_to_the_sink() -> None:
    events: list[Told] = []
    pipeline = Pipeline(
        lambda emit, more: ChatDecoder(emit, profiles.DEFAULT, Ledger(), more=more),
        names=NameTable(),
        mint=counting_mint(),
        ledger=Ledger(),
        sink=recorder(events),
    )
    assert events == [ReplyStarted()]
    pipeline.feed(text("Hi") + STOP)
    pipeline.close()
    read_events(events)
    assert pipeline.reply.parts == [event for event in events if isinstance(event, PartEnded)]
    assert pipeline.reply.ended is events[-1]


def test_what_the_engine_knows_reaches_the_assembler() -> None:
    """Its names, the ids of the conversation, and what the profile says of the identity of calls."""
    ledger = Ledger()
    pipeline = Pipeline(
        lambda emit, more: ChatDecoder(emit, profiles.DEFAULT, ledger, more=more),
        names=NameTable([ToolSpec(ToolName("search", "docs"))]),
        mint=Mint(lambda size: "new"),
        ledger=ledger,
        sink=recorder([]),
        used_ids=lambda: {"a"},
        call_identity="index",
    )
    pipeline.feed(call_chunk(0, "a", "docs__search", "{") + call_chunk(0, "b", "docs__search", "}") + STOP)
    pipeline.close()
    assert pipeline.reply.parts == done(Call("call_new", ToolName("search", "docs"), call("", "").kind, "{}"))


# ── proof ──


@table(
    ("data", "expected"),
    [
        pytest.param(b"", (Ending.FAILED, Empty), id="F19 nothing"),
        pytest.param(b"\r\n \n", (Ending.FAILED, Empty), id="F19 white space"),
        pytest.param(b": ping\n\n", (Ending.FAILED, Truncated), id="comments"),
        pytest.param(DONE, (Ending.FAILED, Truncated), id="end mark"),
        pytest.param(STOP + DONE, (Ending.FAILED, Empty), id="a finish and nothing else"),
        pytest.param(b"<html>", (Ending.FAILED, Garbled), id="F16 web page"),
        pytest.param(b"Bad gateway", (Ending.FAILED, Truncated), id="plain text"),
        pytest.param(b"data: {\n\n", (Ending.FAILED, Garbled), id="F34 malformed"),
        pytest.param(b'{"choices":[', (Ending.FAILED, Garbled), id="F23 half a body"),
        pytest.param(text("x"), (Ending.FAILED, Truncated), id="F39 text"),
        pytest.param(text("x") + STOP, COMPLETED, id="F40 finish"),
        pytest.param(text("x") + DONE, COMPLETED, id="F41 end mark"),
        pytest.param(
            call_chunk(0, "a", "get_time", "{") + DONE, (Ending.FAILED, Truncated), id="F41 half a call"
        ),
        pytest.param(text("x") + chunk({}, "length"), (Ending.MAX_TOKENS, None), id="F56 length"),
        pytest.param(text("x") + chunk({}, "content_filter"), (Ending.FILTERED, None), id="F56 filter"),
    ],
)
def test_r3_success_is_never_reported_that_was_not_proved(
    data: bytes, expected: tuple[Ending, type[Fault] | None]
) -> None:
    assert ending(run(data)) == expected


def test_f43_usage_is_waited_for_after_the_finish() -> None:
    reply = run(text("x") + STOP + USAGE + DONE)
    assert reply.reply.ended is not None
    assert reply.reply.ended.usage == Usage(1, 2, 3)


# ── broken off ──


def test_f60_what_was_received_is_kept_incomplete() -> None:
    reply = run(text("x"), fault=RESET)
    assert reply.reply.parts == cut(Text("x"))
    assert reply.pipeline.fault is RESET


@table("fault", [None, RESET], ids=["end", "reset"])
def test_text_that_was_held_back_as_half_a_tag_is_kept_too(fault: Fault | None) -> None:
    assert run(text("<thi"), fault=fault).reply.parts == cut(Text("<thi"))
    assert run(text("<think>a</"), fault=fault).reply.parts == cut(Reasoning("a</"))


def test_f42_a_reset_after_the_finish_loses_nothing() -> None:
    reply = run(text("x") + STOP, fault=RESET)
    assert ending(reply) == COMPLETED
    assert reply.reply.ended is not None
    assert reply.reply.ended.usage is None


def test_a_reset_before_anything_was_said_is_the_fault_itself() -> None:
    reply = run(b"", fault=Timeout("Too slow."))
    assert ending(reply) == (Ending.FAILED, Timeout)
    assert reply.reply.parts == []


def test_half_an_event_at_a_reset_is_no_event() -> None:
    assert run(text("x") + text("y")[:-1], fault=RESET).reply.parts == cut(Text("x"))


# ── after the end ──


END_IT: list[Callable[[Run], None]] = [
    lambda reply: reply.pipeline.feed(DONE),
    lambda reply: reply.pipeline.close(),
    lambda reply: reply.pipeline.fail(RESET),
    lambda reply: reply.pipeline.feed(b"data: {\n\n"),
]


@table("end", END_IT, ids=["done", "close", "fail", "garbled"])
@table("again", END_IT, ids=["done", "close", "fail", "garbled"])
@table("finish", [b"", STOP], ids=["open", "finished"])
def test_f46_a_reply_ends_once_whatever_comes_after(
    end: Callable[[Run], None], again: Callable[[Run], None], finish: bytes
) -> None:
    reply = start()
    reply.pipeline.feed(text("x") + finish)
    assert not reply.pipeline.ended
    end(reply)
    assert reply.pipeline.ended
    ended, frames = reply.reply.ended, list(reply.frames)
    again(reply)
    reply.pipeline.feed(text("y"))
    assert reply.reply.ended is ended
    assert reply.frames == frames
    reply.events()


def test_f46_what_shares_a_read_with_the_end_mark_is_counted_and_ignored() -> None:
    reply = run(text("x") + STOP + DONE + text("y") + b"data: {\n\n")
    assert reply.reply.parts == done(Text("x"))
    assert ending(reply) == COMPLETED
    assert reply.ledger.oddities["delta_after_end"] == 2


@table("said", [b"", text("x")], ids=["silent", "begun"])
def test_after_the_end_no_byte_is_read(said: bytes) -> None:
    reply = run(said, fault=RESET)
    before = dict(reply.ledger.oddities)
    reply.pipeline.feed(text("y") + b"data: {\n\n")
    reply.pipeline.close()
    assert dict(reply.ledger.oddities) == before


# ── what the engine asks ──


def test_it_has_begun_when_a_status_can_no_longer_be_chosen() -> None:
    reply = start()
    for data, begun in [
        (b": ping\n\n", False),
        (chunk({"role": "assistant"}), False),
        (USAGE, False),
        (text("x"), True),
    ]:
        reply.pipeline.feed(data)
        assert reply.pipeline.begun is begun


def test_it_is_finishing_from_the_finish_to_the_end() -> None:
    reply = start()
    for data, finishing, ended in [
        (text("x"), False, False),
        (STOP, True, False),
        (USAGE, True, False),
        (DONE, True, True),
    ]:
        reply.pipeline.feed(data)
        assert (reply.pipeline.finishing, reply.pipeline.ended) == (finishing, ended)
    assert reply.pipeline.fault is None


def test_it_is_not_finishing_when_more_has_followed() -> None:
    """F45: whoever says so with every delta is not believed again; at the end of the bytes it proves enough."""
    reply = start()
    for data, finishing in [(text("x") + STOP, True), (text("y"), False), (STOP, False), (USAGE, False)]:
        assert reply.pipeline.feed(data) is not finishing
        assert reply.pipeline.finishing is finishing
    reply.pipeline.close()
    assert reply.pipeline.fault is None


def test_a_finish_that_more_has_followed_is_no_proof_where_the_stream_breaks_off() -> None:
    """E3."""
    reply = start()
    reply.pipeline.feed(text("x") + STOP + text("y"))
    reply.pipeline.fail(RESET)
    assert reply.pipeline.fault is RESET


MARKUP = '<tool_call>{"name": "get_time", "arguments": {}}</tool_call>'


def test_r08_a_call_in_the_text_is_a_call_where_tools_are_declared() -> None:
    [part] = run(text(f"<think>a</think>{MARKUP}") + STOP).reply.parts[1:]
    assert isinstance(part.part, Call)
    assert run(text(MARKUP) + STOP, REQUEST).reply.parts == done(Text(MARKUP))


def test_r08_text_that_is_held_when_the_stream_breaks_is_not_lost() -> None:
    reply = run(text(MARKUP[:30]), fault=RESET)
    assert reply.reply.parts == cut(Text(MARKUP[:30]))


def test_f64_a_reply_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "MAX_REPLY_BYTES", 1000)
    monkeypatch.setattr(stage, "MAX_REPLY_CHARACTERS", 500)
    monkeypatch.setattr(stage, "PAST_BYTES", 100)
    reply = start()
    for _ in range(100):
        reply.pipeline.feed(text("x"))
    assert ending(reply) == (Ending.FAILED, BackendFault)
    assert reply.pipeline.fault is not None
    assert reply.pipeline.fault.code == "upstream_reply_too_large"
    [part] = reply.reply.parts
    assert isinstance(part.part, Text)
    assert not part.complete


SAID: dict[str, Callable[[str], bytes]] = {
    "text": text,
    "a thought": lambda said: chunk({"reasoning_content": said}),
    "text before and behind thoughts": lambda said: text(said) + chunk({"reasoning_content": "Hm."}),
    "the arguments of a call": lambda said: call_chunk(0, "a", "get_time", said),
    "text behind a call": lambda said: call_chunk(0, "a", "get_time", "{") + text(said),
    "calls": lambda said: call_chunk(None, None, "get_time", f'{{"a": "{said}"}}'),
}


@table("said", SAID.values(), ids=SAID)
def test_f64_what_is_said_has_a_bound_of_its_own(said: Callable[[str], bytes]) -> None:
    """S27: 256 MiB of nothing but words took 3 GB, because all is told whole once more, several times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage, "MAX_REPLY_CHARACTERS", 10_000)
        patch.setattr(stage, "LOOK_BYTES", 100)
        patch.setattr(stage, "PAST_BYTES", 100)
        reply, times = start(), 0
        while not reply.pipeline.ended:
            reply.pipeline.feed(said("x" * 500))
            times += 1
    assert 20 < times < 24
    assert reply.pipeline.fault is not None
    assert reply.pipeline.fault.code == "upstream_reply_too_large"


def test_what_is_said_in_small_pieces_may_take_many_more_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "MAX_REPLY_CHARACTERS", 1_000)
    monkeypatch.setattr(stage, "LOOK_BYTES", 100)
    monkeypatch.setattr(stage, "PAST_BYTES", 100)
    reply = run([*([text("x")] * 900), STOP, DONE])
    assert reply.reply.parts == done(Text("x" * 900))


def test_s14_model_text_cannot_forge_events() -> None:
    forged = 'x\n\ndata: [DONE]\n\nevent: response.completed\ndata: {"type":"response.completed"}\r\n\r\n\u2028\x00'
    reply = run(text(forged) + STOP + DONE, REQUEST)
    assert reply.reply.parts == done(Text(forged))
    assert [event["type"] for event in reply.events()].count("response.completed") == 1


class Endless:
    """Decodes one event into as many calls as are wanted, and counts those that it is asked for."""

    def __init__(self, emit: Callable[[Delta], None]) -> None:
        self.said = 0
        self._emit = emit

    def event(self, data: bytes, event: bytes) -> None:
        for index in range(400_000):
            self.said += 1
            self._emit(CallDelta(index, f"c{index}", "get_time", "{}"))

    def body(self, data: bytes) -> None:
        self.event(data, b"")


@table("data", [b"data: x\n\n", b"{}"], ids=["an event", "a body"])
def test_attack_24_what_has_ended_is_decoded_no_further(data: bytes) -> None:
    told: list[Told] = []
    decoders: list[Endless] = []

    def endless(emit: Callable[[Delta], None], *, more: More | None) -> Endless:
        decoders.append(Endless(emit))
        return decoders[-1]

    ledger = Ledger()
    reply = Pipeline(
        endless,
        names=NameTable([ToolSpec(ToolName("get_time"))]),
        mint=counting_mint(),
        ledger=ledger,
        sink=recorder(told),
    )
    reply.feed(data)
    reply.close()
    assert isinstance(reply.fault, Garbled)
    assert decoders[0].said == MAX_CALLS + 1 + MAX_LATE
    assert ledger.oddities["delta_after_end"] == MAX_LATE
    read_events(told)


def test_text_that_is_held_when_the_reply_ends_late_is_let_go_of() -> None:
    """Closing the stages may say more than is still counted."""
    reply = run(text("x") + STOP + DONE + text("y") * MAX_LATE)
    assert ending(reply) == COMPLETED
    reply.pipeline.fail(RESET)
    assert ending(reply) == COMPLETED
    assert reply.ledger.oddities["delta_after_end"] == MAX_LATE


@pytest.mark.parametrize("body", [b'{"choices":[%b0]}', b"data: [%b0]"], ids=["whole", "unended event"])
def test_attack_22_a_reply_that_cannot_be_read_at_once_is_a_failure_of_the_backend(body: bytes) -> None:
    reply = start()
    reply.pipeline.feed(body % (b"[]," * 500_000))
    reply.pipeline.close()
    assert ending(reply) == (Ending.FAILED, Garbled)
    assert reply.pipeline.fault is not None
    assert "values" in reply.pipeline.fault.message


# ── V25: what a reply shows of its model ──

LEARNED = overridden(KNOWN, {"thoughts_until": "</think>"})
OPENED = text("Hm.</think>Hi") + STOP
PLAIN = text("Hi") + STOP
NEVER = overridden(KNOWN, {"thoughts_until": ""})
TAG, NONE = "</think>", ""


@table(
    ("reply", "profile", "thought", "whole", "odd"),
    [
        (OPENED, KNOWN, TAG, [Reasoning("Hm."), Text("Hi")], {"thought_unopened": 1}),
        (PLAIN, KNOWN, None, [Text("Hi")], {}),
        (OPENED, NEVER, None, [Text("Hm.</think>Hi")], {}),
        (OPENED, LEARNED, TAG, [Reasoning("Hm."), Text("Hi")], {}),
        (PLAIN, LEARNED, NONE, [Text("Hi")], {"thought_taken_back": 1}),
        (text('{"a":1}') + STOP, LEARNED, None, [Text('{"a":1}')], {}),
        (
            chunk({"reasoning_content": "Hm."}) + PLAIN,
            LEARNED,
            NONE,
            [Reasoning("Hm."), Text("Hi")],
            {},
        ),
    ],
)
def test_v25_thought_and_answer_are_told_apart_once_the_reply_is_over(
    reply: bytes,
    profile: profiles.BackendProfile,
    thought: str | None,
    whole: list[Any],
    odd: dict[str, int],
) -> None:
    """Whoever has not seen it yet gets it as it was meant; for the others it stands as it was told."""
    for seen in (False, True):
        heard = run(reply + DONE, REQUEST, profile=profile)
        told = [*heard.reply.parts]
        assert heard.pipeline.put_right(seen=seen) == thought
        assert heard.reply.parts == (told if seen else done(*whole))
        assert heard.ledger.oddities == odd


def test_v25_a_call_that_a_thought_holds_is_made_once_though_the_text_is_told_twice() -> None:
    """No model rehearses in its own tokens, so in a thought they are a call at once."""
    native = "<|tool_call_begin|>functions.get_time:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
    said = f"Well.<|tool_calls_section_begin|>{native}<|tool_calls_section_end|>"
    heard = run(text(said) + STOP + DONE, profile=LEARNED)
    assert [ended.part.tool.name for ended in heard.reply.parts if isinstance(ended.part, Call)] == [
        "get_time"
    ]
    assert Text("Well.") in [ended.part for ended in heard.reply.parts]
