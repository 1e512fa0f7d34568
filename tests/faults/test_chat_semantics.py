"""Chunks that are well spelt and mean strange things (F39-F59)."""

from typing import Any

import pytest

from tests.support.outcomes import ASK, Row, final, told
from tests.support.proxies import Proxy
from tests.support.replies import read_stream
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    Line,
    Script,
    ScriptedBackend,
    delta,
    event,
    finish,
    http_chunk,
    reply,
    text,
    usage,
)

HELLO = "completed | Hello"
ROME = 'completed | get_weather({"city":"Rome"})'
BOTH = 'completed | get_weather({"city":"Rome"}) | get_time({})'


def stream(*pieces: bytes, reason: str = "stop") -> bytes:
    return reply_with(*pieces, finish(reason))


def reply_with(*pieces: bytes) -> bytes:
    return b"".join((HEAD, *pieces, DONE, END))


def ended(*pieces: bytes) -> bytes:
    """The body ends well, and says no more than this."""
    return b"".join((HEAD, *pieces, END))


def reset_after(*pieces: bytes) -> Script:
    async def plays(line: Line) -> None:
        line.send(HEAD, *pieces)
        await line.drained()
        line.close()  # inside of a chunked body

    return plays


def call(arguments: Any = None, name: str | None = None, **fields: Any) -> bytes:
    """A fragment of a call; what is None is not said."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return delta(tool_calls=[{**fields, "function": function}])


WEATHER = call("", "get_weather", index=0, id="a")
ARGS = (call('{"city":', index=0), call('"Rome"}', index=0))
TIME = call("{}", "get_time", index=1, id="b")

ROWS = [
    Row("F39", "it just ends", ended(text("Hel")), "failed upstream_stream_truncated | Hel…"),
    Row("F39", "it just ends within a call",
        ended(WEATHER, ARGS[0]), 'failed upstream_stream_truncated | get_weather({"city":)…'),
    Row("F39", "it just ends after a whole call",
        ended(WEATHER, *ARGS), 'failed upstream_stream_truncated | get_weather({"city":"Rome"})…'),
    Row("F40", "no end mark after the finish", ended(text("Hello"), finish()), HELLO),
    Row("F41", "no finish, but an end mark", reply_with(text("Hello")), HELLO),
    Row("F41", "no finish, an end mark, and nothing",
        reply_with(delta(role="assistant")), "502 upstream_stream_truncated"),
    Row("F41", "no finish, an end mark, and half a call",
        reply_with(WEATHER, ARGS[0]), 'failed upstream_stream_truncated | get_weather({"city":)…'),
    Row("F42", "broken off after the finish", reset_after(text("Hello"), finish()), HELLO),
    Row("F45", "two finishes", stream(text("Hello"), finish()), HELLO),
    Row("F45", "finished with every chunk, and cut at last",
        stream(text("He"), finish(), text("l"), finish(), reason="length"), "incomplete max_output_tokens | Hel…"),
    Row("F45", "cut, and finished after that",
        stream(text("Hel"), finish("length"), finish()), "incomplete max_output_tokens | Hel…"),
    Row("F45", "a finish that is none, in a word, and no end",
        ended(delta(content="Hel"), finish("null")), "failed upstream_stream_truncated | Hel…"),
    Row("F45", "text after the finish", stream(text("Hel"), finish(), text("lo")), HELLO),
    Row("F46", "more after the end mark",
        ended(text("Hello"), finish(), DONE, text("!"), event({"error": "x"})), HELLO),
    Row("F47", "no choices at first",
        stream(event({"choices": [], "prompt_filter_results": []}), text("Hello")), HELLO),
    Row("F47", "a choice without a delta", stream(event({"choices": [{"index": 0}]}), text("Hello")), HELLO),
    Row("F47", "a delta of null", stream(event({"choices": [{"index": 0, "delta": None}]}), text("Hello")), HELLO),
    Row("F47", "a message for a delta",
        stream(event({"choices": [{"index": 0, "message": {"content": "Hello"}}]})), HELLO),
    Row("F48", "no content, then white space",
        stream(delta(role="assistant", content=None), text(""), text(" \n"), text("x")), "completed |  \nx"),
    Row("F49", "content in parts",
        stream(delta(content=[{"type": "text", "text": "Hel"}, {"type": "strange"}, {"type": "text", "text": "lo"}])),
        HELLO),
    Row("F50", "another choice",
        stream(event({"choices": [{"index": 1, "delta": {"content": "other"}}]}), text("Hello")), HELLO),
    Row("F51", "a call without an index", stream(call("", "get_weather", id="a"), call('{"city":"Rome"}')), ROME),
    Row("F51", "two calls with the same index",
        stream(WEATHER, *ARGS, call("{}", "get_time", index=0, id="b")), BOTH),
    Row("F51", "indexes from one",
        stream(call('{"city":"Rome"}', "get_weather", index=1, id="a"), call("{}", "get_time", index=2, id="b")),
        BOTH),
    Row("F51", "no ids at all",
        stream(call('{"city":"Rome"}', "get_weather", index=0), call("{}", "get_time", index=1)), BOTH),
    Row("F51", "the id in every chunk",
        stream(WEATHER, call('{"city":', index=0, id="a"), call('"Rome"}', index=0, id="a")), ROME),
    Row("F51", "the name in every chunk",
        stream(WEATHER, call('{"city":', "get_weather", index=0), call('"Rome"}', "get_weather", index=0)), ROME),
    Row("F51", "the name in fragments",
        stream(call("", "get_", index=0, id="a"), call("", "weather", index=0), *ARGS), ROME),
    Row("F52", "two calls interleaved",
        stream(WEATHER, ARGS[0], call("{", "get_time", index=1, id="b"), ARGS[1], call("}", index=1)), BOTH),
    Row("F53", "arguments in one piece", stream(call('{"city":"Rome"}', "get_weather", index=0, id="a")), ROME),
    Row("F53", "arguments in pieces, and once more in one",
        stream(WEATHER, *ARGS, call('{"city":"Rome"}', index=0)), ROME),
    Row("F53", "a whole call twice",
        stream(*[call('{"city":"Rome"}', "get_weather", index=0, id="a")] * 2), ROME),
    Row("F53", "no arguments", stream(call("", "get_time", index=0, id="a")), "completed | get_time({})"),
    Row("F53", "arguments of null", stream(call(None, "get_time", index=0, id="a")), "completed | get_time({})"),
    Row("F53", "an object for arguments", stream(call({"city": "Rome"}, "get_weather", index=0, id="a")), ROME),
    Row("F54", "a call cut by the limit",
        stream(WEATHER, ARGS[0], reason="length"), 'incomplete max_output_tokens | get_weather({"city":)…'),
    Row("F54", "arguments that are no JSON",
        stream(call('{"city":Rome}', "get_weather", index=0, id="a")), "completed | get_weather({\"city\":Rome})"),
    Row("F55", "finished by stop, with a call", stream(WEATHER, *ARGS, reason="stop"), ROME),
    Row("F55", "finished by calls, without one", stream(text("Hello"), reason="tool_calls"), HELLO),
    Row("F55", "finished by calls, with nothing at all",
        stream(delta(role="assistant"), reason="tool_calls"), "502 upstream_empty_reply"),
    Row("F55", "a call in the oldest form",
        stream(delta(function_call={"name": "get_weather", "arguments": '{"city":"Rome"}'}), reason="function_call"),
        ROME),
    Row("F56", "the limit", stream(text("Hel"), reason="length"), "incomplete max_output_tokens | Hel…"),
    Row("F56", "a filter", stream(text("Hel"), reason="content_filter"), "incomplete content_filter | Hel…"),
    Row("F56", "a call that Gemini could not read, behind a Chat endpoint",
        stream(text("Hel"), reason="function_call_filter: MALFORMED_FUNCTION_CALL"),
        "failed upstream_error | Hel…"),
    Row("F56", "a reason that nobody knows", stream(text("Hello"), reason="vibes"), HELLO),
    Row("F57", "reasoning by its name",
        stream(delta(reasoning_content="Hm."), text("Hello")), "completed | (Hm.) | Hello"),
    Row("F57", "reasoning by its other name",
        stream(delta(reasoning="Hm."), text("Hello")), "completed | (Hm.) | Hello"),
    Row("F57", "reasoning in tags", stream(text("<th"), text("ink>Hm.</think>Hello")), "completed | (Hm.) | Hello"),
    Row(
        "F57",
        "reasoning, text and calls by turns",
        stream(delta(reasoning_content="Hm."), text("Hel"), delta(reasoning_content="So."), WEATHER, *ARGS),
        'completed | (Hm.) | Hel | (So.) | get_weather({"city":"Rome"})',
    ),
    Row("F58", "a refusal", stream(delta(refusal="I "), delta(refusal="won't.")), "completed | !I won't."),
    Row("F59", "thousands of deltas in one read", stream(*[text("x")] * 5000), f"completed | {'x' * 5000}"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_row(row: Row, backend: ScriptedBackend, proxy: Proxy) -> None:
    await row.check(backend, proxy)


USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
USAGES = [
    ("F43 after the finish", (text("x"), finish(), usage(3, 5)), 8),
    ("F44 missing", (text("x"), finish()), None),
    ("F44 in every chunk", (text("x"), usage(3, 1), usage(3, 5), finish(), usage(3, 5)), 8),
    ("F44 zero", (text("x"), finish(), usage(0, 0)), 0),
    ("F44 with other fields", (text("x"), finish(), event({"choices": [], "usage": USAGE | {"cost": {"x": 1}}})), 8),
    ("F44 beyond all numbers",
     (text("x"), finish(), event({"choices": [], "usage": {"prompt_tokens": 1e300, "completion_tokens": 5}})), 5),
    ("F44 with more digits than a float has",
     (text("x"), finish(), http_chunk(b'data: {"usage": {"prompt_tokens": 1%b}}\n\n' % (b"0" * 400))), 0),
    ("F44 of another form", (text("x"), finish(), event({"choices": [], "usage": [1, 2]})), None),
]  # fmt: skip


@pytest.mark.parametrize(("pieces", "total"), [row[1:] for row in USAGES], ids=[row[0] for row in USAGES])
async def test_usage(
    pieces: tuple[bytes, ...], total: int | None, backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(reply_with(*pieces))
    async with proxy.post(ASK) as response:
        counted = final(await response.read())["usage"]
    assert (counted and counted["total_tokens"]) == total


async def test_f46_a_connection_with_more_on_it_is_not_used_again(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """What comes after the end mark would be taken for the next answer."""
    backend.answers(
        HEAD + text("Hello") + finish() + DONE + END + b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nEek"
    )
    for _ in range(3):
        assert await told(proxy) == HELLO
    assert backend.connections == 3


async def test_f51_ids_are_made_up_once_and_differ(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(stream(call("{}", "get_weather", index=0), call("{}", "get_time", index=1)))
    async with proxy.post(ASK) as response:
        found = read_stream(await response.read())
    begun = [e["item"]["call_id"] for e in found if e["type"] == "response.output_item.added"]
    done = [e["item"]["call_id"] for e in found if e["type"] == "response.output_item.done"]
    assert begun == done
    assert len({*begun}) == 2


async def test_f59_what_is_read_together_is_written_together(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Of five thousand deltas come far fewer chunks, each of them a write."""
    backend.answers(reply(*[text("x")] * 5000))
    async with proxy.post(ASK) as response:
        writes = 0
        async for _, is_end in response.content.iter_chunks():
            writes += is_end
    assert writes < 100
