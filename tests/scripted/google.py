"""A scripted Gemini backend: generateContent, streamed or not, in the form of the third generation.

Its stream has no event names and no end mark, its calls come whole, and its signature stands on the first call or, if
there is none, on an empty text at the end. What it refuses is told in `google_rules`.
"""

from typing import Any

from proxy.core import jsontext
from tests.scripted import google_rules
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import Provider, Recorded

NAME = "google"
MODEL = "gemini-3.5-flash"
STREAM = ":streamGenerateContent"
WORDS = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY", "refusal": "PROHIBITED_CONTENT"}
STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
MODELS = {
    "models": [
        {
            "name": f"models/{MODEL}",
            "version": "3.5",
            "displayName": "Gemini 3.5 Flash",
            "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
            "thinking": True,
        }
    ]
}
HEAD = {"modelVersion": MODEL, "responseId": "r1"}

Part = dict[str, Any]


def provider() -> Provider:
    return Provider(
        stream=stream,
        body=body,
        error=error,
        check=check,
        streamed=lambda recorded: STREAM in recorded.path,
        models=MODELS,
    )


def check(recorded: Recorded) -> None:
    google_rules.refuse(recorded.path, recorded.headers, recorded.body)


# ── a stream ──


def stream(say: Say) -> list[bytes]:
    if _is_blocked(say):
        return [event(_blocked(say))]
    parts = [{"text": part, "thought": True} for part in _halves(say.thinking)]
    parts += [{"text": part} for part in _halves(say.text)]
    chunks = [chunk([part], say) for part in parts]
    if say.calls:
        chunks.append(chunk(_calls(say), say))
    return [event(each) for each in chunks + _ending(say)]


def event(said: Any) -> bytes:
    return b"data: " + jsontext.dumps(said) + b"\r\n\r\n"


def chunk(parts: list[Part], say: Say, **candidate: Any) -> dict[str, Any]:
    content = {"content": {"parts": parts, "role": "model"}}
    counts = {"promptTokenCount": say.usage[0], "totalTokenCount": say.usage[0]}
    return {"candidates": [content | {"index": 0} | candidate], "usageMetadata": counts} | HEAD


def _ending(say: Say) -> list[dict[str, Any]]:
    if say.cut:
        return []
    if say.error_midway is not None:
        return [error(500, say.error_midway)]
    return [chunk([_last(say)], say, **_finish(say)) | {"usageMetadata": _usage(say)}]


# ── a whole body ──


def body(say: Say) -> dict[str, Any]:
    if _is_blocked(say):
        return _blocked(say)
    parts: list[Part] = [{"text": say.thinking, "thought": True}] if say.thinking else []
    parts += [{"text": say.text}] if say.text else []
    parts += _calls(say)
    if say.signature and not say.calls:
        parts.append(_last(say))
    return chunk(parts, say, **_finish(say)) | {"usageMetadata": _usage(say)}


def error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": message, "status": STATUSES.get(status, "UNKNOWN")}}


# ── both ──


def _is_blocked(say: Say) -> bool:
    """A refusal before a word is said is one of the prompt: there are no candidates."""
    return say.finish == "refusal" and not (say.thinking or say.text or say.calls)


def _blocked(say: Say) -> dict[str, Any]:
    told = {"blockReasonMessage": say.refusal} if say.refusal else {}
    counts = {"promptTokenCount": say.usage[0], "totalTokenCount": say.usage[0]}
    feedback = {"blockReason": "PROHIBITED_CONTENT"} | told
    return {"promptFeedback": feedback, "usageMetadata": counts} | HEAD


def _calls(say: Say) -> list[Part]:
    parts = [_call(call) for call in say.calls]
    if parts and say.signature:
        parts[0]["thoughtSignature"] = say.signature
    return parts


def _call(call: SayCall) -> Part:
    arguments = jsontext.strict(call.arguments) if isinstance(call.arguments, str) else call.arguments
    return {"functionCall": {"id": call.id, "name": call.name, "args": arguments}}


def _last(say: Say) -> Part:
    signed = {"thoughtSignature": say.signature} if say.signature and not say.calls else {}
    return {"text": ""} | signed


def _finish(say: Say) -> dict[str, Any]:
    told = {"finishMessage": say.refusal} if say.refusal else {}
    return {"finishReason": WORDS[say.finish]} | told


def _usage(say: Say) -> dict[str, int]:
    sent, made = say.usage
    return {"promptTokenCount": sent, "candidatesTokenCount": made, "totalTokenCount": sent + made}


def _halves(text: str) -> list[str]:
    """In two fragments, as far as there is text for two."""
    middle = (len(text) + 1) // 2
    return [part for part in (text[:middle], text[middle:]) if part]
