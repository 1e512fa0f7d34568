"""A scripted Chat Completions backend: OpenRouter's form, which has a place for everything that a model can say.

With a profile whose calls are signed it is Google's Chat endpoint: there the proof stands in the first call.
"""

from functools import partial
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.profile import BackendProfile, overridden
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import Provider, Recorded
from tests.support.strict_server import refuse

NAME = "openrouter"
OVERRIDES = {"force_tool": "object"}
"""OpenRouter passes a forced tool on to whoever understands it; the default profile does not rely on that."""
PROFILE = overridden(PROFILES[NAME], OVERRIDES)
PATH = "/api/v1/chat/completions"
HEAD = {"id": "gen-1", "created": 1_700_000_000, "model": "m", "provider": "Scripted"}
WORDS = {
    "stop": "stop",
    "length": "length",
    "filter": "content_filter",
    "refusal": "content_filter",
    "no room": "model_context_window_exceeded",
}


def provider(profile: BackendProfile = PROFILE) -> Provider:
    return Provider(
        stream=partial(stream, signed=profile.signed_calls),
        body=partial(body, signed=profile.signed_calls),
        error=error,
        check=partial(check, profile=profile),
        streamed=lambda recorded: bool(recorded.body["stream"]),
        models={"object": "list", "data": [{"id": "m", "object": "model"}]},
    )


def check(recorded: Recorded, profile: BackendProfile) -> None:
    assert recorded.path == PATH, recorded.path
    assert recorded.headers["content-type"] == "application/json"
    refuse(recorded.body, profile)


# ── a stream ──


def stream(say: Say, *, signed: bool = False) -> list[bytes]:
    """`signed`: the proof stands in the first call."""
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_details": [detail]} for detail in _details(say, signed)]
    deltas += [{"content": part} for part in _halves(say.text)]
    deltas += [{"refusal": part} for part in _halves(say.refusal)]
    for index, call in enumerate(say.calls):
        head = _call(call, "") | {"index": index} | (_proof(say) if signed and not index else {})
        pieces = [{"index": index, "function": {"arguments": part}} for part in _halves(_arguments(call))]
        deltas += [{"tool_calls": [piece]} for piece in (head, *pieces)]
    return [_chunk([_choice(delta)]) for delta in deltas] + _ending(say)


def _ending(say: Say) -> list[bytes]:
    if say.cut:
        return []
    if say.error_midway is not None:
        return [_chunk([_choice({}, "error")], error={"code": 502, "message": say.error_midway})]
    finish = _chunk([_choice({}, _finish(say))])
    return [finish, _chunk([], usage=_usage(say)), b"data: [DONE]\n\n"]


def _chunk(choices: list[Any], **more: Any) -> bytes:
    chunk = HEAD | {"object": "chat.completion.chunk", "choices": choices} | more
    return b"data: " + jsontext.dumps(chunk) + b"\n\n"


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _details(say: Say, signed: bool) -> list[dict[str, Any]]:
    """The proof comes with the last fragment, whose text is empty."""
    one = {"type": "reasoning.text", "format": "scripted-v1", "index": 0}
    said = [{**one, "text": part} for part in _halves(say.thinking)]
    proven = say.signature and not signed
    return [*said, {**one, "text": "", "signature": say.signature}] if proven else said


# ── a whole body ──


def body(say: Say, *, signed: bool = False) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None}
    if say.refusal:
        message["refusal"] = say.refusal
    if say.thinking or say.signature:
        one = {"type": "reasoning.text", "format": "scripted-v1", "index": 0}
        message["reasoning_details"] = [{**one, "text": say.thinking, "signature": say.signature or None}]
    if say.calls:
        message["tool_calls"] = [_call(call, _arguments(call)) for call in say.calls]
        message["tool_calls"][0] |= _proof(say) if signed else {}
    choice = {"index": 0, "message": message, "finish_reason": _finish(say)}
    return HEAD | {"object": "chat.completion", "choices": [choice], "usage": _usage(say)}


def error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": message}}


# ── both ──


def _call(call: SayCall, arguments: str) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _proof(say: Say) -> dict[str, Any]:
    return {"extra_content": {"google": {"thought_signature": say.signature}}} if say.signature else {}


def _arguments(call: SayCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else jsontext.compact(call.arguments)


def _finish(say: Say) -> str:
    return "tool_calls" if say.calls and say.finish == "stop" else WORDS[say.finish]


def _usage(say: Say) -> dict[str, int]:
    sent, made = say.usage
    return {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}


def _halves(text: str) -> list[str]:
    """In two fragments, as far as there is text for two."""
    middle = (len(text) + 1) // 2
    return [part for part in (text[:middle], text[middle:]) if part]
