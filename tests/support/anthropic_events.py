"""The events of a Messages stream as Anthropic sends them."""

from typing import Any

from tests.support.anthropic_requests import MODEL

Json = dict[str, Any]


def start(**usage: Any) -> Json:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    return {"type": "message_start", "message": message | {"stop_reason": None, "usage": usage}}


def opens(index: int, kind: str, **block: Any) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **block}}


def adds(index: int, kind: str, **delta: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def text(index: int, words: str) -> Json:
    return adds(index, "text_delta", text=words)


def arguments(index: int, piece: str) -> Json:
    return adds(index, "input_json_delta", partial_json=piece)


def ends(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def reason(stop_reason: str | None, usage: Json | None = None, **more: Any) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": stop_reason, **more}, "usage": usage or {}}


STOP = {"type": "message_stop"}
PING = {"type": "ping"}

TEXT = [
    start(input_tokens=9, cache_read_input_tokens=4, cache_creation_input_tokens=0, output_tokens=1),
    PING,
    opens(0, "text", text=""),
    text(0, "Hi"),
    ends(0),
    reason("end_turn", {"output_tokens": 3}, stop_sequence=None),
    STOP,
]
TWO_CALLS = [
    start(input_tokens=9, output_tokens=1),
    opens(0, "text", text=""),
    text(0, "Both."),
    ends(0),
    opens(1, "tool_use", id="toolu_a", name="get_weather", input={}),
    arguments(1, ""),
    arguments(1, '{"city":"Os'),
    arguments(1, 'lo"}'),
    ends(1),
    opens(2, "tool_use", id="toolu_b", name="now", input={}),
    ends(2),
    reason("tool_use", {"output_tokens": 31}),
    STOP,
]
THINK_CALL = [
    start(input_tokens=9, output_tokens=1),
    opens(0, "thinking", thinking="", signature=""),
    adds(0, "thinking_delta", thinking="Need weather."),
    adds(0, "signature_delta", signature="U0lH"),
    ends(0),
    opens(1, "redacted_thinking", data="RU5D"),
    ends(1),
    opens(2, "tool_use", id="toolu_c", name="get_weather", input={}),
    arguments(2, '{"city":"Oslo"}'),
    ends(2),
    reason("tool_use", {"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 12}}),
    STOP,
]

THOUGHT = {"type": "thinking", "thinking": "Need weather.", "signature": "U0lH"}
HIDDEN = {"type": "redacted_thinking", "data": "RU5D"}


def kept(*blocks: Json) -> list[Json]:
    return [{"anthropic": {"blocks": [{"model": MODEL, "block": block}]}} for block in blocks]
