"""The fields around `messages` in Chat Completions: they are checked, and made into the neutral request.

`messages`, `tools` and `tool_choice` have readers of their own.
"""

from typing import Any, TypeVar

from pydantic import TypeAdapter

from proxy.core.ledger import Ledger
from proxy.core.model import UNTUNED, OutputFormat, ReasoningWish, Request, Sampling, ToolChoice, Turn
from proxy.core.surfaces.reading.checks import array, missing, too_many, unsupported, wrong_type, wrong_value
from proxy.core.surfaces.reading.fields import (
    ANY_TEXT,
    MODEL,
    AtLeastOne,
    FormatWord,
    Loose,
    ModelName,
    NamedSchema,
    RequestOptions,
    Temperature,
    TopLogprobs,
    TopP,
    Verbosity,
    Whole,
    cache_labels,
    checked,
    count_unread,
    json_object,
    output_format,
    user_id,
)
from proxy.core.surfaces.reading.tools import Toolbox
from proxy.core.work import Work

MAX_STOPS = 4
"""The published bound."""


class ChatStreamOptions(Loose):
    include_usage: bool | None = None


class ResponseFormat(Loose):
    type: FormatWord
    json_schema: NamedSchema | None = None


class ChatEnvelope(Loose):
    model: ModelName | None = None
    messages: Any = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    functions: list[Any] | None = None
    function_call: Any = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    stream_options: ChatStreamOptions | None = None
    max_tokens: AtLeastOne | None = None
    max_completion_tokens: AtLeastOne | None = None
    temperature: Temperature | None = None
    top_p: TopP | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: Whole | None = None
    stop: Any = None
    logprobs: bool | None = None
    top_logprobs: TopLogprobs | None = None
    n: AtLeastOne | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: str | None = None
    """Any word is accepted: each model generation brings new ones, and backends differ."""
    reasoning: Any = None
    """What OpenRouter calls it: `{"effort": …}`."""
    verbosity: Verbosity | None = None
    modalities: list[str] | None = None
    audio: Any = None
    logit_bias: Any = None
    prediction: Any = None
    service_tier: str | None = None
    user: Any = None
    safety_identifier: Any = None
    prompt_cache_key: Any = None
    prompt_cache_retention: Any = None
    store: bool | None = None
    web_search_options: Any = None
    request_options: RequestOptions | None = None


HARMLESS: dict[str, tuple[Any, ...]] = {
    "audio": (None,),
    "logit_bias": (None, {}),
    "prediction": (None,),
    "store": (None, False),
}
"""Fields that change nothing here. Other values than these are counted."""

CHAT = TypeAdapter(ChatEnvelope)

Envelope = TypeVar("Envelope", bound=ChatEnvelope)

OTHER_API = "`input` is for the Responses API: send it to /v1/responses"


def read_envelope(form: TypeAdapter[Envelope], body: Any, ledger: Ledger) -> Envelope:
    envelope = checked(form, json_object(body, ledger.work.levels(body)))
    if not envelope.model:
        raise missing("model", MODEL)
    if envelope.messages is None:
        other = "" if body.get("input") is None else f". {OTHER_API}"
        raise missing("messages", f"an array of messages{other}")
    if not array(envelope.messages, "messages"):
        raise wrong_value("messages", "must hold at least one message.")
    if envelope.stream_options is not None and not envelope.stream:
        raise wrong_value("stream_options", "is only for streams: set stream to true, or leave it out.")
    if (envelope.n or 1) > 1:
        raise unsupported("n", "must be 1: a request has one answer here. Send it again for another one.")
    if set(envelope.modalities or ()) - {"text"}:
        raise unsupported("modalities", 'may only be ["text"]: answers are never spoken here.')
    for name, harmless in HARMLESS.items():
        if getattr(envelope, name) not in harmless:
            ledger.drop(name)
    count_unread(body, ledger)
    return envelope


def wants_usage(envelope: ChatEnvelope) -> bool:
    return bool(envelope.stream_options and envelope.stream_options.include_usage)


def request(
    envelope: ChatEnvelope, turns: list[Turn], toolbox: Toolbox, choice: ToolChoice, ledger: Ledger
) -> Request:
    if not turns:
        raise wrong_value(
            "messages", "hold nothing that can be sent to a model: give one of them some content."
        )
    options = envelope.request_options
    return Request(
        model=envelope.model or "",
        turns=turns,
        tools=toolbox.tools,
        choice=choice,
        parallel_calls=envelope.parallel_tool_calls is not False,
        parallel_wanted=bool(envelope.parallel_tool_calls),
        sampling=_sampling(envelope),
        reasoning=ReasoningWish(effort=envelope.reasoning_effort or _effort(envelope.reasoning)),
        format=_format(envelope.response_format, ledger.work),
        verbosity=envelope.verbosity,
        user=user_id(envelope.safety_identifier, envelope.user),
        cache=cache_labels(vars(envelope)),
        service_tier=envelope.service_tier,
        stream=bool(envelope.stream),
        validate_arguments=options.validate_tool_arguments if options else None,
    )


def _effort(reasoning: Any) -> str | None:
    if not isinstance(reasoning, dict):
        return None
    effort = reasoning.get("effort")
    return (
        effort
        if isinstance(effort, str) and effort
        else "none"
        if reasoning.get("enabled") is False
        else None
    )


TUNING = frozenset(
    {
        "temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "stop", "max_tokens",
        "max_completion_tokens", "logprobs", "top_logprobs",
    }
)  # fmt: skip
"""The fields that make these options."""


def _sampling(envelope: ChatEnvelope) -> Sampling:
    if TUNING.isdisjoint(envelope.model_fields_set):
        return UNTUNED
    top_logprobs = envelope.top_logprobs or 0
    return Sampling(
        temperature=envelope.temperature,
        top_p=envelope.top_p,
        presence_penalty=envelope.presence_penalty,
        frequency_penalty=envelope.frequency_penalty,
        seed=envelope.seed,
        stop=_stops(envelope.stop),
        max_tokens=envelope.max_completion_tokens or envelope.max_tokens,
        logprobs=bool(envelope.logprobs) or top_logprobs > 0,
        top_logprobs=top_logprobs,
    )


def _stops(stop: Any) -> list[str] | None:
    """The stop sequences without empty ones, which would stop nothing and which backends refuse."""
    if stop is None:
        return None
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list):
        raise wrong_type("stop", "a string or an array of strings", stop)
    if len(stops) > MAX_STOPS:
        raise too_many("stop", MAX_STOPS, "strings")
    for index, word in enumerate(stops):
        if not isinstance(word, str):
            raise wrong_type(f"stop[{index}]", "a string", word)
    return [word for word in stops if word] or None


def _format(wish: ResponseFormat | None, work: Work) -> OutputFormat:
    if wish is None:
        return ANY_TEXT
    return output_format(wish.type, wish.json_schema or NamedSchema(), "response_format.json_schema", work)
