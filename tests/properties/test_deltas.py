"""Any deltas in any order, most of them nonsense: the promises hold, and nothing is lost without being counted."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    Ending,
    ErrorDelta,
    Finish,
    FinishDelta,
    PartStarted,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)
from proxy.core.jsontext import is_object
from proxy.core.model import Call, Reasoning, Refusal, Text, ToolKind
from proxy.core.sink import Sink
from proxy.core.stream.lifecycle import ReplyPhase
from proxy.core.stream.stages.collector import Collector
from proxy.core.stream.think import FIRST_CLOSERS, MAX_LEADING_BLANKS, THINK_FORMS, ThinkForm, ThinkSplitter
from proxy.core.surfaces.clients import Extended
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.response import ResponseObject
from proxy.core.tools.names import NameTable
from tests.properties.drawn_deltas import assembled, deltas, tables
from tests.properties.examples import examples
from tests.support.assembling import TOOLS, PartDelta, into
from tests.support.replies import NOW, WITH_TOOLS, counting_mint, read_stream
from tests.support.written import as_sent


def heard(said: list[Delta]) -> list[Delta]:
    """What was said before the reply ended."""
    for number, delta in enumerate(said):
        if isinstance(delta, EndDelta | ErrorDelta):
            return said[:number]
    return said


@examples(250)
@given(deltas, tables, st.sampled_from(["id", "index"]))
def test_the_promises_hold_for_any_deltas(said: list[Delta], names: NameTable, identity: str) -> None:
    reply = assembled(said, names, identity)
    assert reply.assembler.phase is ReplyPhase.ENDED
    assert reply.assembler.begun == any(isinstance(event, PartStarted) for event in reply.events)
    ids = [ended.part.call_id for ended in reply.parts if isinstance(ended.part, Call)]
    assert all(0 < len(id) <= 64 and id.isprintable() and id != "taken" for id in ids)


@examples(250)
@given(deltas, tables)
def test_prose_is_delivered_in_order_and_what_is_cut_or_blank_alone_is_counted(
    said: list[Delta], names: NameTable
) -> None:
    """V24, V36: a part of nothing but white space is left out, and no other character is."""
    reply = assembled(said, names)
    for kind, part in ((TextDelta, Text), (ReasoningDelta, Reasoning), (RefusalDelta, Refusal)):
        came = "".join(delta.text for delta in heard(said) if isinstance(delta, kind))
        left = "".join(ended.part.text for ended in reply.parts if isinstance(ended.part, part))
        assert visible(came).startswith(visible(left))
        assert visible(left) == visible(came) or reply.odd["text_cut"]
        assert left == came or reply.odd.keys() & {"text_cut", "blank_prose"}


def visible(text: str) -> str:
    return "".join(text.split())


@examples(250)
@given(deltas, tables)
def test_no_argument_is_invented_and_each_that_is_lost_is_counted(
    said: list[Delta], names: NameTable
) -> None:
    reply = assembled(said, names)
    made = [ended.part for ended in reply.parts if isinstance(ended.part, Call)]
    came = Counter("".join(delta.arguments for delta in heard(said) if isinstance(delta, CallDelta)))
    left = Counter("".join(call.arguments for call in made if call.kind is ToolKind.FUNCTION))
    made_up = Counter({"{": 0, "}": 0})
    made_up.update("".join(call.arguments for call in made if call.arguments == "{}"))
    assert not left - came - made_up
    reasons = (
        "call_dropped_nameless",
        "call_dropped_forbidden",
        "call_dropped_cut",
        "arguments_after_call",
        "placeholder_arguments",
    )
    if not any(reply.odd.get(reason) for reason in reasons) and all(
        call.kind is ToolKind.FUNCTION for call in made
    ):
        assert not came - left


@examples(250)
@given(deltas, tables)
def test_r3_no_success_without_proof(said: list[Delta], names: NameTable) -> None:
    reply = assembled(said, names)
    before, after = heard(said), said[len(heard(said)) :]
    finishes = [delta.finish for delta in before if isinstance(delta, FinishDelta)]
    ending = reply.ended.ending
    if after and isinstance(after[0], ErrorDelta):
        assert ending is Ending.FAILED
    elif finishes:
        assert (
            ending
            in {
                Finish.STOP: (Ending.COMPLETED, Ending.FAILED),
                Finish.LENGTH: (Ending.MAX_TOKENS,),
                Finish.FILTER: (Ending.FILTERED,),
            }[next((each for each in finishes if each is not Finish.STOP), Finish.STOP)]
        )
    else:
        assert ending is Ending.FAILED or (ending is Ending.COMPLETED and after)
        calls = [ended.part for ended in reply.parts if isinstance(ended.part, Call)]
        if ending is Ending.COMPLETED:
            assert all(is_object(call.arguments) for call in calls if call.kind is ToolKind.FUNCTION)
    if ending is Ending.COMPLETED:
        assert all(ended.complete for ended in reply.parts)
        assert reply.parts
        answered = any(not isinstance(ended.part, Reasoning) for ended in reply.parts)
        assert answered or (Finish.STOP in finishes and reply.odd["no_answer"])  # V21


@examples(100)
@given(deltas, deltas)
def test_a_dead_machine_stays_dead(said: list[Delta], more: list[Delta]) -> None:
    reply = assembled([*said, EndDelta()], NameTable(TOOLS))
    events, late = list(reply.events), reply.odd.get("delta_after_end", 0)
    for delta in more:
        reply.assembler.feed(delta)
    reply.assembler.close()
    assert reply.events == events
    assert reply.odd.get("delta_after_end", 0) == late + sum(
        not isinstance(delta, EndDelta) for delta in more
    )


@examples(100)
@given(deltas, st.data())
def test_no_cut_of_the_prose_matters(said: list[Delta], data: st.DataObject) -> None:
    pieces: list[Delta] = []
    for delta in said:
        if isinstance(delta, TextDelta | ReasoningDelta | RefusalDelta) and len(delta.text) > 1:
            at = data.draw(st.integers(1, len(delta.text) - 1))
            pieces += [type(delta)(delta.text[:at]), type(delta)(delta.text[at:])]
        else:
            pieces.append(type(delta)(delta.text) if isinstance(delta, TextDelta) else delta)
    assert merged(assembled(pieces, NameTable(TOOLS)).events) == merged(
        assembled(said, NameTable(TOOLS)).events
    )


def merged(events: list[Any]) -> list[Any]:
    lines: list[Any] = []
    for event in events:
        if isinstance(event, PartDelta) and lines and isinstance(lines[-1], str):
            lines[-1] += event.text
        else:
            lines.append(event.text if isinstance(event, PartDelta) else _told(event))
    return lines


def _told(event: Any) -> str | tuple[str, ...]:
    """Faults are compared by what they say, and log probabilities not at all."""
    part = getattr(event, "part", None)
    if isinstance(part, Text):
        return ("text", part.text, str(event.complete))
    fault = getattr(event, "fault", None)
    return (
        ("ended", event.ending.value, str(fault), str(event.usage))
        if hasattr(event, "ending")
        else (repr(event),)
    )


@examples(150)
@given(deltas, tables, st.booleans())
def test_whatever_was_said_the_client_gets_one_valid_stream(
    said: list[Delta], names: NameTable, extended: bool
) -> None:
    frames: list[bytes] = []
    response = ResponseObject(WITH_TOOLS, counting_mint(), lambda: NOW)
    encoder = ResponsesEncoder(response, frames.append, extended=Extended(extended, extended))
    collector = Collector(encoder.feed)
    feed = into(Sink(collector.feed, encoder.delta))
    for event in assembled(said, names).events:
        feed(event)
    final = read_stream(b"".join(frames))[-1]["response"]
    whole = as_sent(ResponseObject(WITH_TOOLS, counting_mint(), lambda: NOW).whole(collector.reply))
    for one in (final, whole):
        one["output"] = [
            {name: value for name, value in item.items() if name != "id"} for item in one["output"]
        ]
    assert whole == final


# ── thoughts ──

tags = st.sampled_from([*THINK_FORMS, *THINK_FORMS[:1] * 5])


@st.composite
def contents(draw: st.DrawFn) -> tuple[ThinkForm, list[str]]:
    """Pieces of a text in which the tags of one family come often, whole and in parts."""
    form = draw(tags)
    parts = [form.opener, form.closer, form.opener[:-1], form.closer[:2], form.answer or ">"]
    plain = ["<", "[", ">", " ", "\n", "a", "😀", " " * 40]
    return form, draw(st.lists(st.sampled_from(parts + plain), max_size=10))


TOKENS = tuple(tag for form in THINK_FORMS if form.token for tag in (form.opener, form.closer))


def is_meant(visible: str) -> bool:
    """Behind the tokens of some families a blank shows that the text is about them."""
    return not any(visible.startswith((f"{tag} ", f"{tag}\t")) for tag in TOKENS)


@examples(150)
@given(contents())
def test_text_out_and_markup_taken_are_the_text_that_came_in(said: tuple[ThinkForm, list[str]]) -> None:
    """Read once more by hand: a block at the very start is reasoning, with the blanks around its tags."""
    form, pieces = said
    content = "".join(pieces)
    visible = content.lstrip()
    reasoning, text = "", content
    if len(content) - len(visible) <= MAX_LEADING_BLANKS:
        if not is_meant(visible):
            pass
        elif visible.startswith(form.opener):
            inside, _, after = visible.removeprefix(form.opener).partition(form.closer)
            reasoning, text = inside.lstrip(), after.lstrip().removeprefix(form.answer).lstrip()
        elif alone := next((tag for tag in FIRST_CLOSERS if visible.startswith(tag)), None):
            text = visible.removeprefix(alone).lstrip()
    for cutting in ([content], pieces, list(content)):
        out: list[Delta] = []
        splitter = ThinkSplitter(out.append)
        for piece in cutting:
            splitter.feed(TextDelta(piece))
        splitter.close()
        assert "".join(delta.text for delta in out if isinstance(delta, ReasoningDelta)) == reasoning
        assert "".join(delta.text for delta in out if isinstance(delta, TextDelta)) == text
