"""What an error body says, in whichever of a dozen shapes it says it.

OpenAI nests it in `error`; SGLang, Mistral and Cerebras write it flat; LM Studio and xAI make `error` a string;
FastAPI servers have `detail`, Fireworks `fault`, MiniMax `base_resp`, Groq's streams `x_groq.error`; OpenRouter quotes
the vendor's own body as text in `metadata.raw`; gateways put web pages and plain text in front of all of them.
"""

from dataclasses import dataclass
from typing import Any

from proxy.core import jsontext

MESSAGES = ("message", "error", "detail", "faultstring", "status_msg", "msg")
"""These fields hold the text, if they hold a string; the first one counts."""
NESTED = (
    "error",
    "detail",
    "fault",
    "errors",
    "base_resp",
    "message",
    "metadata",
    "raw",
    "x_groq",
    "choices",
)
"""These fields are searched further, if they hold no string, or JSON in a string. What is nested deeper is closer to
the cause."""
MAX_DEPTH = 8
"""Twice the deepest known: a gateway's error around OpenRouter's around a vendor's."""
MAX_ENTRIES = 3
"""A schema check may complain about every single field; three explain it."""
MAX_WORDS = 10_000
"""An error may come with a stack trace or a whole prompt; no backend says what is wrong only after that."""
MAX_CODE = 100
"""A longer text is no code and no type."""

STATUS_FIELDS = ("http_code", "http_status_code", "status_code", "status", "code")
"""These fields may hold an HTTP status, the surest first."""

NO_VALUES = ("", "None", "null")
"""Stand for no field name; LiteLLM writes what Python prints."""

SIGNS = frozenset({"error", "base_resp", "x_groq", "type", "message", "detail", "fault"})
"""Error bodies have these fields, beside `object` and `choices`; hardly any reply has."""

MINIMAX_STATUS = {1002: 429, 1004: 401, 1008: 402, 1027: 400, 1039: 429, 2013: 400, 2049: 401}
"""MiniMax reports failures inside HTTP 200, with numbers of its own."""


@dataclass(slots=True, frozen=True)
class ErrorBody:
    message: str = ""
    code: str = ""
    type: str = ""
    param: str | None = None
    status: int | None = None
    """The HTTP status that the body itself claims."""
    words: str = ""
    """Everything that is said at any level, in lower case: matchers search here."""


def read(body: bytes) -> ErrorBody:
    return of(body.decode("utf-8", "replace"))


def is_one(raw: Any) -> bool:
    """Is this an error, where a reply or a chunk of one was expected?"""
    if not isinstance(raw, dict):
        return False
    choices = raw.get("choices")
    if not SIGNS.isdisjoint(raw) and _complains(raw, choices):
        return True
    if isinstance(choices, list):
        for choice in choices:
            if isinstance(choice, dict) and choice.get("error"):
                return True
    return not choices and _is_error(raw.get("object"))


def _complains(raw: dict[str, Any], choices: Any) -> bool:
    base, groq, error = raw.get("base_resp"), raw.get("x_groq"), raw.get("error")
    if isinstance(error, dict) and choices:
        error = any(error.values())  # gateways in Go write each field, one without a value too
    if isinstance(groq, dict):
        error = error or groq.get("error")
    if error or (isinstance(base, dict) and base.get("status_code")):
        return True
    if choices:
        return False
    words = isinstance(raw.get("message"), str) or bool(raw.get("detail") or raw.get("fault"))
    return words or _is_error(raw.get("type"))


def _is_error(word: Any) -> bool:
    return isinstance(word, str) and word.lower() == "error"


def of(raw: Any, depth: int = 0) -> ErrorBody:
    if depth == MAX_DEPTH:
        return ErrorBody()
    match raw:
        case str():
            return _of_text(raw.strip(), depth)
        case list():
            return _of_entries([of(entry, depth + 1) for entry in raw[:MAX_ENTRIES]])
        case dict():
            return _of_object(raw, depth)
        case _:
            return ErrorBody()


def _of_text(text: str, depth: int) -> ErrorBody:
    if text.startswith(("{", "[")):
        try:
            return of(jsontext.loads(text), depth + 1)
        except jsontext.BadJson:
            pass  # text after all
    if text.startswith("<"):
        return ErrorBody()  # a web page says nothing to whom we answer
    return ErrorBody(message=text, words=text[:MAX_WORDS].lower())


def _of_entries(entries: list[ErrorBody]) -> ErrorBody:
    if not entries:
        return ErrorBody()
    first = entries[0]
    return ErrorBody(
        "; ".join(entry.message for entry in entries if entry.message),
        first.code,
        first.type,
        first.param,
        first.status,
        " ".join(entry.words for entry in entries),
    )


def _of_object(raw: dict[str, Any], depth: int) -> ErrorBody:
    inner = ErrorBody()
    for name in NESTED:
        value = raw.get(name)
        if not inner.message and (name == "raw" or not isinstance(value, str) or value.startswith("{")):
            found = of(value, depth + 1)
            inner = found if found.words else inner
    message = next((text for name in MESSAGES if isinstance(text := raw.get(name), str) and text), "")
    code, kind = _word(raw.get("code")), _word(raw.get("type"))
    param = raw.get("param")
    if path := _path(raw.get("loc")):
        message, param = f"{message}: {path} ({kind})", path
    return ErrorBody(
        inner.message or message,
        inner.code or code,
        inner.type or kind,
        inner.param or (param if isinstance(param, str) and param not in NO_VALUES else None),
        inner.status or _status(raw),
        " ".join(filter(None, (message[:MAX_WORDS].lower(), code.lower(), kind.lower(), inner.words))),
    )


def _path(loc: Any) -> str:
    """FastAPI's `["body", "messages", 0, "name"]` → `messages[0].name`."""
    if not isinstance(loc, list):
        return ""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc)
    return path.removeprefix(".body").removeprefix(".")


def _status(raw: dict[str, Any]) -> int | None:
    for name in STATUS_FIELDS:
        word = _word(raw.get(name))
        if len(word) == 3 and word.isdecimal() and word[0] in "45":
            return int(word)
    number = raw.get("status_code")
    return MINIMAX_STATUS.get(number) if isinstance(number, int) else None


def _word(value: Any) -> str:
    return str(value)[:MAX_CODE] if isinstance(value, str | int) and not isinstance(value, bool) else ""
