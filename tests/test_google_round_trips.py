"""Gemini's replies through the whole core, cut anywhere, and back: what it said is what it is told again.

The three streams are those of its documentation: text, two calls at once, a thought and a call.
"""

from collections.abc import Iterable
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.dialects.google.signatures import DUMMY
from proxy.core.errors import BackendFault, Empty, Fault, Overloaded, Truncated
from proxy.core.events import Ending, Reply
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Call,
    Part,
    Reasoning,
    Request,
    Result,
    Role,
    ToolKind,
    ToolName,
    Usage,
)
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from tests.support.assembling import Told, recorder
from tests.support.google_requests import GOOGLE, NEW, body_of, tool_spec
from tests.support.replies import bytewise, cut, pipeline_for

USER = (Role.USER, ["Hi"])
TOOLS = [tool_spec("get_weather"), tool_spec("now")]


def part_chunk(*parts: Any, **more: Any) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}],
        "responseId": "r",
    }


def counted(chunk: dict[str, Any], **counts: int) -> dict[str, Any]:
    return chunk | {"usageMetadata": counts}


WEATHER: dict[str, Any] = {"name": "get_weather", "args": {"city": "Oslo"}}
TEXT = [
    counted(part_chunk({"text": "Hi"}), promptTokenCount=5, totalTokenCount=5),
    counted(
        part_chunk({"text": "", "thoughtSignature": "U0lH"}, finishReason="STOP"),
        promptTokenCount=5,
        candidatesTokenCount=2,
        thoughtsTokenCount=7,
        totalTokenCount=14,
    ),
]
TWO_CALLS = [
    part_chunk({"text": "Both."}),
    part_chunk(
        {"functionCall": {"id": "c1", **WEATHER}, "thoughtSignature": "U0lH"},
        {"functionCall": {"id": "c2", "name": "now", "args": {}}},
    ),
    part_chunk({"text": ""}, finishReason="STOP"),
]
THINK_CALL = [
    part_chunk({"text": "Need weather.", "thought": True}),
    part_chunk({"functionCall": WEATHER, "thoughtSignature": "U0lH"}, finishReason="STOP"),
]


def sse(chunks: Iterable[Any]) -> bytes:
    return b"".join(b"data: " + jsontext.dumps(chunk) + b"\r\n\r\n" for chunk in chunks)


class Heard:
    """One reply, as far as it came."""

    def __init__(self, pieces: Iterable[bytes], *, one_call: bool = False) -> None:
        self.ledger = Ledger()
        self.events: list[Told] = []
        request = Request(NEW, [], tools=TOOLS, parallel_calls=not one_call)
        self.pipeline = pipeline_for(request, GOOGLE, recorder(self.events), self.ledger, stamp="17")
        for piece in pieces:
            self.pipeline.feed(piece)
        self.pipeline.close()

    @property
    def reply(self) -> Reply:
        return self.pipeline.reply

    @property
    def ending(self) -> Ending:
        assert self.reply.ended is not None
        return self.reply.ended.ending

    @property
    def usage(self) -> Usage | None:
        assert self.reply.ended is not None
        return self.reply.ended.usage

    @property
    def parts(self) -> list[Part]:
        return [ended.part for ended in self.reply.parts]  # type: ignore[misc]

    @property
    def said(self) -> list[tuple[str, ...]]:
        told = []
        for part in self.parts:
            words = (part.call_id, part.tool.name, part.arguments) if isinstance(part, Call) else (part.text,)  # type: ignore[union-attr]
            told.append((type(part).__name__, *words))
        return told

    @property
    def fault(self) -> Fault | None:
        return self.pipeline.fault


CASES = {
    "text": (TEXT, [("Text", "Hi"), ("Reasoning", "")], Usage(5, 9, 14, reasoning_tokens=7)),
    "two calls": (
        TWO_CALLS,
        [
            ("Text", "Both."),
            ("Reasoning", ""),
            ("Call", "c1", "get_weather", '{"city":"Oslo"}'),
            ("Call", "c2", "now", "{}"),
        ],
        None,
    ),
    "thought and call": (
        THINK_CALL,
        [("Reasoning", "Need weather."), ("Call", "call_17_get_weather", "get_weather", '{"city":"Oslo"}')],
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_reply_is_the_same_however_its_bytes_are_cut(name: str) -> None:
    chunks, said, usage = CASES[name]
    data = sse(chunks)
    for pieces in ([data], bytewise(data), cut(data, range(0, len(data), 7)), [jsontext.dumps(chunks)]):
        heard = Heard(pieces)
        assert (heard.said, heard.usage, heard.ending) == (said, usage, Ending.COMPLETED)
        assert not heard.ledger.oddities


@pytest.mark.parametrize("name", CASES)
def test_a_reply_that_stops_anywhere_is_no_success(name: str) -> None:
    """Without a finish reason it was cut."""
    chunks, _, _ = CASES[name]
    data = sse(chunks)
    whole = len(sse(chunks[:-1])) + len(b"data: ") + len(jsontext.dumps(chunks[-1]))
    for end in range(whole):
        heard = Heard([data[:end]])
        assert heard.ending is Ending.FAILED
        assert isinstance(heard.fault, BackendFault)
    assert isinstance(Heard([sse(chunks[:-1])]).fault, Truncated)
    assert isinstance(Heard([jsontext.dumps(chunks[:-1])]).fault, Truncated)


def test_a_finish_with_nothing_said_is_a_failure_that_may_pass() -> None:
    fault = Heard([sse([part_chunk(finishReason="STOP")])]).fault
    assert isinstance(fault, Empty)
    assert fault.retryable


def test_calls_of_one_turn_may_be_spread_and_text_may_follow() -> None:
    heard = Heard(
        [sse([part_chunk({"functionCall": WEATHER}), part_chunk({"functionCall": {"name": "now"}}), *TEXT])]
    )
    assert [kind for kind, *_ in heard.said] == ["Call", "Call", "Text", "Reasoning"]


@pytest.mark.parametrize("wrap", [lambda error: error, lambda error: [error]])
def test_an_error_ends_the_reply_wherever_it_comes(wrap: Any) -> None:
    plain = {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}
    error = wrap(plain)
    for data in (
        sse([error]),
        sse([TEXT[0], error]),
        sse(TEXT[:1]) + jsontext.dumps(error),
        jsontext.dumps(error),
        jsontext.dumps([TEXT[0], plain]),
    ):
        assert isinstance(Heard([data]).fault, Overloaded)


# ── the second turn ──


def next_turn(parts: list[Part], model: str = NEW) -> list[dict[str, Any]]:
    """What the model is told of its own reply when its calls have been answered, or the user goes on."""
    calls = [part for part in parts if isinstance(part, Call)]
    answers = (Role.TOOL, [Result(call.call_id, ["ok"]) for call in calls])
    turns = [USER, (Role.ASSISTANT, parts), answers if calls else USER]
    contents = body_of(*turns, tools=TOOLS, model=model)["contents"]
    parts_ = contents[1]["parts"]
    assert isinstance(parts_, list)
    return parts_


def data_parts(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    return [part for part in parts if part != {"text": ""} and not part.get("thought")]


@pytest.mark.parametrize("name", CASES)
def test_the_model_gets_back_what_it_said_with_each_signature_on_its_part(name: str) -> None:
    """Byte for byte, and the id that we had to invent on both sides."""
    chunks, _, _ = CASES[name]
    expected = data_parts(chunks)
    for part in expected:
        if "functionCall" in part:
            part["functionCall"].setdefault("id", "call_17_get_weather")
    assert next_turn(Heard([sse(chunks)]).parts) == expected


def test_another_model_gets_a_stand_in() -> None:
    parts = next_turn(Heard([sse(THINK_CALL)]).parts, model="gemini-3-pro-preview")
    assert [part["thoughtSignature"] for part in parts] == [DUMMY]


def test_a_client_that_carries_nothing_is_helped_out() -> None:
    """Chat clients send the call alone; what stood before it is remembered."""
    heard = Heard([sse(TWO_CALLS)])
    memory = ReasoningMemory()
    memory.keep("me", heard.reply, "ann")
    bare: list[Part] = [part for part in heard.parts if not isinstance(part, Reasoning)]
    request = memory.restored_into("me", Request(NEW, [USER, (Role.ASSISTANT, bare)]))
    assert next_turn(request.turns[1][1]) == data_parts(TWO_CALLS)
    assert next_turn(bare)[1]["thoughtSignature"] == DUMMY


def test_one_call_at_a_time_is_kept_to_in_history_too() -> None:
    """V23: the calls that do not pass leave their signatures with nobody."""
    signed = {"functionCall": {"id": "c2", "name": "now", "args": {}}, "thoughtSignature": "U0lH"}
    chunks = [*TWO_CALLS[:2], part_chunk(signed), part_chunk({"text": "Wait."}, finishReason="STOP")]
    heard = Heard([sse(chunks)], one_call=True)
    assert next_turn(heard.parts) == [*data_parts(TWO_CALLS)[:2], {"text": "Wait."}]


def test_a_custom_tools_call_goes_round() -> None:
    call = Call("c1", ToolName("apply"), ToolKind.CUSTOM, "*** Begin")
    [part] = next_turn(
        [Reasoning("", {"google": {"signatures": [{"model": NEW, "signature": "U0lH"}]}}), call]
    )
    assert part["functionCall"]["args"] == {"input": "*** Begin"}
    assert part["thoughtSignature"] == "U0lH"
