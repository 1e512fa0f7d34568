"""Bytes that no backend should send: the client gets one valid stream all the same, and no success without proof."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.core.errors import Timeout
from proxy.core.events import Ending
from tests.properties.examples import examples
from tests.properties.scripts import Script, body, scripts, wire
from tests.support.replies import DONE, STOP, Run, bytewise, call_chunk, chunk, cut, outline, run

places = st.integers(0, 1 << 16)
cuts = st.lists(places, max_size=6)

MARKUP = [
    "<tool_call>",
    "<function=get_time>",
    "<parameter=zone>\nUTC\n",
    "</parameter>",
    "</function></tool_call>",
    '{"name": "get_weather", "arguments": {"city": "Rome"}}',
    "[TOOL_CALLS]",
    "```",
    "<think>",
    "</think>",
]

SNIPPETS = [
    DONE,
    STOP,
    chunk({"content": "x"}),
    chunk({"content": ["x", {"type": "text", "text": "y"}, {"type": "thinking", "thinking": [None]}]}),
    chunk({"tool_calls": [{}, None, 1, {"function": None}]}),
    chunk({"tool_calls": [{"function": {"name": "get_time", "arguments": {"a": {"b": [1]}}}}]}),
    chunk(error={"message": "m"}),
    call_chunk(0, "a", "get_time", "{"),
    *(chunk({"content": piece}) for piece in MARKUP),
    b'data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":'
    + b"[" * 300
    + b"]" * 300
    + b"}}]}}]}\n\n",
    b"data: " + b"[" * 5000 + b"\n\n",
    b"data: [1]\n\ndata: null\n\n",
    b'{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}]}',
    *b"data:|event: error\n|: c\n|\n\n|\r|\n|<html>".split(b"|"),
    *b'"content":|"tool_calls":|"finish_reason":"stop"|"usage":{"prompt_tokens":"x"}|"choices":[{"index":1e3}]'.split(
        b"|"
    ),
    *b'null|NaN|1e999|-|99999999999999999999999|{|}|[|]|"|\\|\\ud83d|\xef\xbb\xbf|\x00|\xff'.split(b"|"),
]

soups = st.lists(st.one_of(st.sampled_from(SNIPPETS), st.binary(max_size=4)), max_size=12).map(b"".join)


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """A valid reply with something cut out, doubled, flipped or put in between."""
    script = draw(scripts())
    data = draw(st.sampled_from([wire, body]))(script)
    for _ in range(draw(st.integers(1, 3))):
        a, b = sorted((draw(places) % (len(data) + 1), draw(places) % (len(data) + 1)))
        b = min(b, a + draw(st.sampled_from([1, 2, 20, 200])))
        match draw(st.sampled_from(["cut out", "double", "flip", "insert", "truncate"])):
            case "cut out":
                data = data[:a] + data[b:]
            case "double":
                data = data[:b] + data[a:]
            case "flip":
                data = (
                    data[:a]
                    + bytes(byte ^ draw(st.sampled_from([1, 32, 128])) for byte in data[a:b])
                    + data[b:]
                )
            case "insert":
                data = data[:a] + draw(st.sampled_from(SNIPPETS)) + data[a:]
            case "truncate":
                data = data[:a]
    return data


hostile = st.one_of(soups, spoilt(), st.binary(max_size=60))


def story(got: Run) -> tuple[Any, ...]:
    """All that a cut might change: the events, and what the engine is told."""
    pipeline = got.pipeline
    return outline(got.events()), pipeline.ended, pipeline.begun, pipeline.finishing, str(pipeline.fault)


@examples(250)
@given(hostile, st.booleans())
def test_whatever_comes_nothing_raises_and_the_stream_is_valid(data: bytes, extended: bool) -> None:
    got = run(data, extended=extended)
    assert got.pipeline.ended
    got.events()


@examples(100)
@given(hostile, cuts)
def test_no_cut_of_any_bytes_matters(data: bytes, at: list[int]) -> None:
    whole = story(run(data))
    assert story(run(bytewise(data))) == whole
    assert story(run(cut(data, at))) == whole


@examples(100)
@given(hostile)
def test_r3_no_success_without_proof_in_the_bytes(data: bytes) -> None:
    """A finish, the end mark, or a JSON object that has come to its own end."""
    ended = run(data).reply.ended
    assert ended is not None
    if ended.ending is Ending.COMPLETED:
        assert b"[DONE]" in data or re.search(rb'_reason"\s*:\s*"[^"]', data) or data.rstrip().endswith(b"}")


@examples(100)
@given(scripts(), places)
def test_f39_without_its_finish_and_its_end_mark_no_reply_is_a_success(script: Script, at: int) -> None:
    """The proof is in two places only: all that stands before them proves nothing."""
    data = wire(script)
    proofs = [data.find(proof) for proof in (b'"finish_reason":"', DONE.rstrip()) if proof in data]
    unproved = data[: min(proofs, default=len(data))]
    got = run(unproved[: at % (len(unproved) + 1)])
    assert got.reply.ended is not None
    assert got.reply.ended.ending is Ending.FAILED


@examples(100)
@given(hostile, places)
def test_f62_a_connection_that_breaks_anywhere_ends_the_stream_well(data: bytes, at: int) -> None:
    got = run(cut(data, [at])[:1], fault=Timeout("Silence."))
    got.events()
    assert got.pipeline.ended


@examples(100)
@given(hostile, hostile)
def test_f46_nothing_after_the_end_changes_anything(data: bytes, more: bytes) -> None:
    got = run(data)
    frames = list(got.frames)
    got.pipeline.feed(more)
    got.pipeline.close()
    got.pipeline.fail(Timeout("Silence."))
    assert got.frames == frames
