"""C06, N04: whatever a backend says and however its bytes are cut, a Chat stream joins to the whole answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import NOT_GIVEN
from openai._models import construct_type
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import TypeAdapter

from proxy.core import jsontext
from proxy.core.errors import Truncated, Unfit
from proxy.core.events import Ending
from proxy.core.ledger import Ledger
from proxy.core.model import Call
from proxy.core.surfaces.chat.calls import FunctionCall
from proxy.core.surfaces.memory.call_ids import CallMap
from proxy.core.surfaces.native.calls import ParsedCalls
from tests.properties.examples import examples
from tests.properties.scripts import Script, scripts, wire
from tests.support.chat_streams import ChatRun, run_chat
from tests.support.replies import SIGNER, bytewise, cut

cuts = st.lists(st.integers(0, 1 << 16), max_size=8)


def succeeded(run: ChatRun) -> bool:
    ended = run.pipeline.reply.ended
    return ended is not None and ended.ending is not Ending.FAILED


def fails(run: ChatRun) -> bool:
    """Does it say so, and does it not claim anything else?"""
    return "error" in run.chunks()[-1]


@examples(150)
@given(scripts(), cuts, st.booleans())
def test_joined_the_stream_is_the_whole_answer(script: Script, at: list[int], include_usage: bool) -> None:
    run = run_chat(cut(wire(script), at), include_usage=include_usage)
    assert fails(run) != succeeded(run)
    if succeeded(run):
        whole = run.whole() if include_usage else run.whole() | {"usage": None}
        assert run.folded() == whole


@examples(60)
@given(scripts())
def test_f32_no_cut_of_the_bytes_matters(script: Script) -> None:
    data = wire(script)
    whole, cut_up = run_chat(data), run_chat(bytewise(data))
    assert fails(whole) == fails(cut_up)
    if succeeded(whole):
        assert whole.folded() == cut_up.folded()


@examples(60)
@given(scripts(), st.integers(0, 1 << 16))
def test_f60_a_broken_stream_never_looks_finished(script: Script, at: int) -> None:
    broken = run_chat(cut(wire(script), [at])[:1], fault=Truncated("Gone."))
    assert fails(broken) != succeeded(broken)


@examples(80)
@given(scripts())
def test_the_old_form_has_the_first_call_and_no_other(script: Script) -> None:
    run = run_chat(wire(script), form=FunctionCall(Ledger()))
    if succeeded(run):
        assert run.folded() == run.whole() | {"usage": None}
        assert "tool_calls" not in run.folded()["choices"][0]["message"]


@examples(100)
@given(scripts())
def test_n04_natively_each_call_is_one_chunk_with_an_object(script: Script) -> None:
    """All but custom tools, whose input is text and which this surface does not offer."""
    run = run_chat(wire(script), form=ParsedCalls(CallMap(SIGNER)))
    calls = [ended for ended in run.pipeline.reply.parts if isinstance(ended.part, Call) and ended.complete]
    if not succeeded(run):
        return
    if fails(run):
        assert not all(jsontext.is_object(ended.part.arguments) for ended in calls)
        with pytest.raises(Unfit):
            run.whole()
        return
    assert run.folded() == run.whole() | {"usage": None}
    deltas = [choice["delta"] for chunk in run.chunks() for choice in chunk["choices"]]
    told = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert all(isinstance(call["function"]["arguments"], dict) for call in told)
    assert len(told) == len(calls)


# ── the official SDK ──

CHUNK: TypeAdapter[Any] = TypeAdapter(ChatCompletionChunk)
WHOLE: TypeAdapter[Any] = TypeAdapter(ChatCompletion)


@examples(40)
@given(scripts(), st.booleans())
def test_every_chunk_is_one_that_the_official_sdk_declares(script: Script, include_usage: bool) -> None:
    """But for custom calls, which it declares in whole answers only."""
    run = run_chat(wire(script), include_usage=include_usage)
    for chunk in run.chunks():
        custom = any(
            "custom" in call
            for choice in chunk.get("choices", ())
            for call in choice["delta"].get("tool_calls", ())
        )
        if "error" not in chunk and not custom:
            CHUNK.validate_python(chunk, strict=True)
    if succeeded(run):
        WHOLE.validate_python(run.whole(), strict=True)


@examples(40)
@given(scripts())
def test_the_accumulator_of_the_official_sdk_rebuilds_the_whole(script: Script) -> None:
    run = run_chat(wire(script), include_usage=True)
    if not succeeded(run):
        return
    state = ChatCompletionStreamState(input_tools=NOT_GIVEN, response_format=NOT_GIVEN)
    for chunk in run.chunks():
        list(state.handle_chunk(construct_type(type_=ChatCompletionChunk, value=chunk)))
    [told] = state.current_completion_snapshot.choices
    [choice] = run.whole()["choices"]
    message = choice["message"]
    assert told.finish_reason == choice["finish_reason"]
    assert (told.message.content, told.message.refusal) == (message["content"], message["refusal"])
    assert (told.message.model_extra or {}).get("reasoning_content") == message.get("reasoning_content")
    accumulated = [call.to_dict() for call in told.message.tool_calls or ()]
    assert [as_sent(call) for call in accumulated] == message.get("tool_calls", [])


def as_sent(call: dict[str, Any]) -> dict[str, Any]:
    """Without what the accumulator adds."""
    inner = {name: value for name, value in call[call["type"]].items() if name != "parsed_arguments"}
    return {"id": call["id"], "type": call["type"], call["type"]: inner}
