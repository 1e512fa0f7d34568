"""Every reply that a backend can mean, in every dialect and every cut: what the model said is what the client gets."""

from collections.abc import Collection
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from openai._models import construct_type
from openai._types import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from proxy.core.errors import Truncated
from proxy.core.events import Ending
from proxy.core.model import Call, ReplyPart, ToolKind, Usage
from proxy.core.surfaces.responses.response import ResponseObject
from tests.properties.examples import examples
from tests.properties.scripts import Script, body, comparable, expected, expected_parts, scripts, wire
from tests.support.replies import NOW, TERMINAL, WITH_TOOLS, bytewise, counting_mint, cut, outline, run
from tests.support.written import as_sent

cuts = st.lists(st.integers(0, 1 << 16), max_size=8)


@examples(250)
@given(scripts())
def test_the_reply_is_what_the_script_says(script: Script) -> None:
    got = run(wire(script))
    parts, ending = expected(script)
    assert comparable(got.reply.parts, script) == comparable(parts, script)
    ended = got.reply.ended
    assert ended is not None
    assert ended.ending is ending
    if ending is not Ending.FAILED:
        assert ended.usage == (None if script.usage == "no" else Usage(5, 7, 12))


@examples(100)
@given(scripts(), cuts, st.booleans())
def test_f32_no_cut_of_the_bytes_matters(script: Script, at: list[int], extended: bool) -> None:
    data = wire(script)
    whole = outline(run(data, extended=extended).events())
    assert outline(run(cut(data, at), extended=extended).events()) == whole
    assert outline(run(bytewise(data), extended=extended).events()) == whole


@examples(100)
@given(scripts(), st.integers(0, 1 << 16))
def test_f60_wherever_the_bytes_break_off_the_reply_is_a_beginning_of_the_whole(
    script: Script, at: int
) -> None:
    data = wire(script)
    broken = run(cut(data, [at])[:1], fault=Truncated("Gone."))
    broken.events()
    for got, meant in zip(broken.reply.parts, expected_parts(script), strict=False):
        assert type(got.part) is type(meant)
        if got.complete:
            assert text_of(got.part) == text_of(meant)
        elif not is_custom(got.part):
            assert text_of(meant).startswith(text_of(got.part))
    assert len(broken.reply.parts) <= len(expected_parts(script))


def is_custom(part: ReplyPart) -> bool:
    """What is seen of half a custom call is not promised."""
    return isinstance(part, Call) and part.kind is ToolKind.CUSTOM


def text_of(part: ReplyPart) -> str:
    return part.arguments if isinstance(part, Call) else part.text


@examples(80)
@given(scripts())
def test_folded_the_stream_is_the_answer_to_a_client_that_does_not_stream(script: Script) -> None:
    got = run(wire(script))
    whole = as_sent(ResponseObject(WITH_TOOLS, counting_mint(), lambda: NOW).whole(got.reply))
    assert without_item_ids(whole) == without_item_ids(got.events()[-1]["response"])


@examples(60)
@given(scripts(canonical=True))
def test_f17_as_one_json_object_the_reply_is_the_same(script: Script) -> None:
    streamed, whole = (run(data).events()[-1]["response"] for data in (wire(script), body(script)))
    said = {call.id for call in script.calls}
    assert without_item_ids(whole, said) == without_item_ids(streamed, said)


def without_item_ids(
    response: dict[str, Any], call_ids: Collection[str | None] | None = None
) -> dict[str, Any]:
    """Items without the ids that we make up: their own, and those of calls that the backend gave none."""
    items = [{name: value for name, value in item.items() if name != "id"} for item in response["output"]]
    for item in items:
        if call_ids is not None and item.get("call_id") not in call_ids:
            item["call_id"] = None
    return response | {"output": items}


ADDITIONS = ("response.output_tool_call.", "response.done")


@examples(80)
@given(scripts())
def test_r04_an_extended_stream_is_the_standard_one_with_each_delta_of_a_call_told_twice(
    script: Script,
) -> None:
    data = wire(script)
    extended = run(data, extended=True).events()
    for event, after in pairwise(extended):
        if event["type"] == "response.output_tool_call.delta":
            assert after["type"].endswith(("_call_arguments.delta", "_call_input.delta"))
            assert (after["delta"], after["item_id"]) == (event["delta"], event["item_id"])
    rest = [event for event in extended if not event["type"].startswith(ADDITIONS)]
    for event in rest:
        if "item" in event:
            assert event.pop("item_id") == event["item"]["id"]
    assert outline(rest) == outline(run(data).events())


# ── the official SDK ──

OFFICIAL: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


@examples(40)
@given(scripts())
def test_every_event_is_one_that_the_official_sdk_declares(script: Script) -> None:
    """But for the codes of errors: the SDK lists a few, and everybody sends others."""
    for event in run(wire(script)).events():
        response = event.get("response") or {}
        if response.get("error"):
            response["error"]["code"] = "server_error"
        OFFICIAL.validate_python(event, strict=True)


@examples(40)
@given(scripts(), st.booleans())
def test_the_accumulator_of_the_official_sdk_rebuilds_our_final_object(
    script: Script, extended: bool
) -> None:
    events = run(wire(script), extended=extended).events()
    state = ResponseStreamState(input_tools=omit, text_format=omit)
    heard = [
        told
        for event in events
        for told in state.handle_event(construct_type(type_=ResponseStreamEvent, value=event))
    ]
    [told] = [event.response for event in heard if event.type in TERMINAL]
    [final] = [event["response"] for event in events if event["type"] in TERMINAL]
    assert [(item.type, item.id) for item in told.output] == [
        (item["type"], item["id"]) for item in final["output"]
    ]
    for accumulated, item in zip(state._output_items.values(), final["output"], strict=True):
        assert accumulated.id == item["id"]
        match item:
            case {"type": "message", "content": [{"type": "output_text", "text": text}]}:
                assert [part.text for part in accumulated.content] == [text]
            case {"type": "function_call", "arguments": arguments}:
                assert accumulated.arguments == arguments
    completed = state._completed_response
    assert (completed is not None) == (final["status"] == "completed")
    if completed is not None:
        assert completed.id == final["id"]
        assert completed.output_text == "".join(
            part["text"] for item in final["output"] for part in item.get("content", ()) if "text" in part
        )
