"""The spans of one request that has ended, by the semantic conventions for HTTP and for generative AI.

The request is a span of a server: what it was asked for, and what it answered. Each time that a backend was asked is a
span of a client below it, with what a model was asked for and what it cost. So whoever adds up the tokens of all spans
counts each of them once, and time that was lost with a backend that failed is seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from proxy.core.errors import Fault
from proxy.core.events import Ending
from proxy.core.tracing.wishes import conventional
from proxy.shell.ops.fault_codes import code_label
from proxy.shell.watching.watch import Attempt, Watch

Value = str | bool | int | float | Sequence[str]
Attributes = dict[str, Value]

CHAT: Final = "chat"
OPENAI: Final = "openai"
OWN: Final = "responses_proxy"
"""Before the names of attributes that no convention has."""
LONGEST: Final = 256
"""Characters of a text."""
SERVER_ERROR: Final = 500
CLIENT_ERROR: Final = 400
NANOSECONDS: Final = 1_000_000_000
PORTS: Final = {"http": 80, "https": 443}

PROVIDERS: Final[Mapping[str, str]] = {
    "anthropic": "anthropic",
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "default": "openai",
    "gemini": "gcp.gemini",
    "google": "gcp.gemini",
    "groq": "groq",
    "mistral": "mistral_ai",
    "openai": "openai",
    "perplexity": "perplexity",
    "xai": "x_ai",
}
"""The conventions' names, by those of profiles. Others, such as vLLM, go by the name of their profile."""

FINISHES: Final[Mapping[Ending, str]] = {
    Ending.COMPLETED: "stop",
    Ending.MAX_TOKENS: "length",
    Ending.FILTERED: "content_filter",
    Ending.FAILED: "error",
}
TOOL_CALLS: Final = "tool_calls"

API_TYPES: Final[Mapping[str, str]] = {"chat": "chat_completions"}
"""The conventions' names for OpenAI's two APIs, where dialects have others."""

USAGE: Final[Mapping[str, str]] = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
}
FACTS: Final[Mapping[str, str]] = {
    "model": "gen_ai.request.model",
    "stream": "gen_ai.request.stream",
    "response_id": "gen_ai.response.id",
    "continues": "gen_ai.request.previous_response.id",
    "conversation": "gen_ai.conversation.id",
    "client": f"{OWN}.client",
    "calls": f"{OWN}.calls",
    "attempts": f"{OWN}.attempts",
    "background": f"{OWN}.background",
    "bytes_out": "http.response.body.size",
}
MOMENTS: Final = (("place", "slot got"), ("head", "response head"), ("first_byte", "first byte"),
                  ("first_text", "first text"))  # fmt: skip


@dataclass(slots=True, frozen=True)
class Span:
    name: str
    kind: Literal["server", "client"]
    trace_id: int
    span_id: int
    parent_id: int
    """0 for the first of a trace."""
    parent_is_remote: bool
    state: str
    start: int
    end: int
    """Nanoseconds since 1970."""
    attributes: Attributes
    events: tuple[tuple[str, int], ...] = ()
    error: str | None = None
    """None: all was well, as far as this span goes. Else the proxy's own words for what went wrong, if there are."""


@dataclass(slots=True, frozen=True)
class Ids:
    """Which spans are to be made."""

    trace_id: int
    span_id: int
    parent_id: int
    state: str
    attempts: Sequence[int]
    """One for each attempt."""


def spans_of(watch: Watch, ids: Ids) -> list[Span]:
    request = _request(watch, ids)
    attempts = watch.attempts
    return [request, *(_attempt(watch, ids, attempts, number) for number in range(len(attempts)))]


def _request(watch: Watch, ids: Ids) -> Span:
    facts: Mapping[str, Any] = watch.facts
    attributes: Attributes = {
        "http.request.method": watch.method,
        "url.path": _text(watch.path),
        f"{OWN}.request_id": _text(watch.request_id),
        f"{OWN}.transport": watch.transport,
    }
    if watch.surface is not None:
        attributes[f"{OWN}.surface"] = watch.surface
        attributes["gen_ai.operation.name"] = CHAT
    if watch.tenant is not None:
        attributes[f"{OWN}.tenant"] = _text(watch.tenant)
    attributes |= _named(facts, FACTS)
    for kind, counts in watch.remarks.items():
        attributes[f"{OWN}.{kind}"] = [_text(name) for name in sorted(counts)]
    status = watch.status or 0
    attributes["http.response.status_code"] = status
    failed = status >= SERVER_ERROR or (watch.fault is not None and watch.fault.status >= SERVER_ERROR)
    if failed:
        attributes["error.type"] = _error_type(watch.fault, status)
    model = facts.get("model")
    return Span(
        f"{CHAT} {_text(model)}" if model else watch.method,
        "server",
        ids.trace_id,
        ids.span_id,
        ids.parent_id,
        parent_is_remote=True,
        state=ids.state,
        start=_nanoseconds(watch, 0),
        end=_nanoseconds(watch, watch.ended),
        attributes=attributes,
        error=_words(watch.fault) if failed else None,
    )


def _attempt(watch: Watch, ids: Ids, attempts: Sequence[Attempt], number: int) -> Span:
    attempt = attempts[number]
    is_last = number == len(attempts) - 1
    attributes = _asked(watch, attempt)
    if is_last:
        attributes |= _answered(watch.facts, attempt)
    if attempt.status is not None:
        attributes["http.response.status_code"] = attempt.status
    failed = attempt.fault is not None or attempt.ending is Ending.FAILED
    failed |= (attempt.status or 0) >= CLIENT_ERROR
    if failed:
        attributes["error.type"] = _error_type(attempt.fault, attempt.status or 0)
    return Span(
        f"{CHAT} {_text(attempt.backend_model)}",
        "client",
        ids.trace_id,
        ids.attempts[number],
        ids.span_id,
        parent_is_remote=False,
        state=ids.state,
        start=_nanoseconds(watch, attempt.began),
        end=_nanoseconds(watch, watch.ended if attempt.ended is None else attempt.ended),
        attributes=attributes,
        events=tuple(
            (words, _nanoseconds(watch, at))
            for name, words in MOMENTS
            if (at := getattr(attempt, name)) is not None and at >= attempt.began
        ),
        error=_words(attempt.fault) if failed else None,
    )


def _asked(watch: Watch, attempt: Attempt) -> Attributes:
    url = urlsplit(attempt.url)
    found: Attributes = {
        "gen_ai.operation.name": CHAT,
        "gen_ai.provider.name": _provider(attempt),
        "gen_ai.request.model": _text(attempt.backend_model),
        "server.address": _text(url.hostname or ""),
        "server.port": url.port or PORTS.get(url.scheme, 0),
        f"{OWN}.backend": _text(attempt.backend),
        f"{OWN}.attempt": attempt.why,
        **conventional(attempt.wishes or {}, watch.remarks.get("dropped", {})),
    }
    if found["gen_ai.provider.name"] == OPENAI:
        found["openai.api.type"] = API_TYPES.get(attempt.dialect, attempt.dialect)
    if "stream" in watch.facts:
        found["gen_ai.request.stream"] = watch.facts["stream"]
    if attempt.first_byte is not None:
        found["gen_ai.response.time_to_first_chunk"] = attempt.first_byte - attempt.began
    return found


def _answered(facts: Mapping[str, Any], attempt: Attempt) -> Attributes:
    found = _named(facts, USAGE)
    if attempt.ending is not None:
        called = attempt.ending is Ending.COMPLETED and facts.get("calls")
        found["gen_ai.response.finish_reasons"] = [TOOL_CALLS if called else FINISHES[attempt.ending]]
    return found


def _provider(attempt: Attempt) -> str:
    for name in (attempt.profile, attempt.dialect):
        for known, provider in PROVIDERS.items():
            if name.startswith(known):
                return provider
    return _text(attempt.profile)


def _named(facts: Mapping[str, Any], names: Mapping[str, str]) -> Attributes:
    return {
        attribute: _text(value) if isinstance(value, str) else value
        for name, attribute in names.items()
        if (value := facts.get(name)) is not None
    }


def _error_type(fault: Fault | None, status: int) -> str:
    if fault is None:
        return str(status or "_OTHER")
    return code_label(fault) if fault.code else type(fault).__name__


def _words(fault: Fault | None) -> str:
    """Never the message, which may quote what was said."""
    return _text(fault.own_words) if fault is not None and fault.own_words else ""


def _text(text: str) -> str:
    """Half characters have no form in which they could be sent."""
    return text[:LONGEST].encode("utf-8", "replace").decode()


def _nanoseconds(watch: Watch, seconds: float | None) -> int:
    return int((watch.date + (seconds or 0.0)) * NANOSECONDS)
