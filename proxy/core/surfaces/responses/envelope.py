"""The fields around `input` in the Responses API: their names, types and bounds.

`input`, `tools` and `tool_choice` have readers of their own.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.stored.faults import no_background
from proxy.core.stored.named import previous_and_conversation
from proxy.core.surfaces.reading.checks import missing
from proxy.core.surfaces.reading.fields import (
    LOOSE,
    MODEL,
    UNREAD,
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
    checked,
    count_unread,
)
from proxy.core.surfaces.responses.metadata import MAX_KEY, MAX_PAIRS, MAX_VALUE, checked_metadata

MAX_INPUT_TEXT = 10_485_760
"""Characters of an `input` that is one string. This is the published bound."""

Label = Annotated[str, Field(max_length=64)]
UserLabel = Annotated[str, Field(max_length=128)]
Key = Annotated[str, Field(max_length=MAX_KEY)]
Value = Annotated[str, Field(max_length=MAX_VALUE)]


class FormatWish(NamedSchema):
    type: FormatWord


class TextWish(Loose):
    format: FormatWish | None = None
    verbosity: Verbosity | None = None


class Thinking(Loose):
    effort: str | None = None
    """Any word is accepted: each model generation brings new ones, and backends differ."""
    summary: Literal["auto", "concise", "detailed"] | None = None
    generate_summary: Literal["auto", "concise", "detailed"] | None = None
    """The older name of `summary`."""
    context: str | None = None
    mode: str | None = None


class ConfigurationUpdate(Loose):
    """An item that changes both for the rest of the conversation."""

    reasoning: Thinking | None = None
    text: TextWish | None = None


class ResponsesStreamOptions(Loose):
    include_obfuscation: bool | None = None


@with_config(LOOSE)
class ResponsesEnvelope(TypedDict, total=False):
    """Holds only what was sent: most requests have five of three dozen fields."""

    model: ModelName | None
    input: Any
    instructions: str | None
    tools: list[Any] | None
    tool_choice: Any
    parallel_tool_calls: bool | None
    include: list[str] | None
    max_output_tokens: AtLeastOne | None
    max_tool_calls: AtLeastOne | None
    temperature: Temperature | None
    top_p: TopP | None
    presence_penalty: float | None
    frequency_penalty: float | None
    top_logprobs: TopLogprobs | None
    text: TextWish | None
    reasoning: Thinking | None
    truncation: Literal["auto", "disabled"] | None
    generate: bool | None
    stream: bool | None
    stream_options: ResponsesStreamOptions | None
    background: bool | None
    store: bool | None
    metadata: Annotated[dict[Key, Value], Field(max_length=MAX_PAIRS)] | None
    service_tier: str | None
    user: Any
    safety_identifier: UserLabel | None
    prompt_cache_key: Label | None
    previous_response_id: str | None
    conversation: Any
    prompt: Any
    context_management: Any
    moderation: Any
    request_options: RequestOptions | None


ENVELOPE = TypeAdapter(ResponsesEnvelope)
CONFIGURATION = TypeAdapter(ConfigurationUpdate)

HARMLESS: dict[str, tuple[Any, ...]] = {
    "access_programs": (None,),
    "context_management": (None,),
    "image": (None,),
    "moderation": (None,),
    "prompt_cache_options": (None,),
    "truncation": (None, "disabled"),
}
"""Fields that are checked and echoed, but change nothing here. Other values than these are counted."""

OF_CHAT = {
    "max_completion_tokens": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "messages": "input",
    "reasoning_effort": "reasoning.effort",
    "response_format": "text.format",
}
"""Chat's fields that have another name here. Unknown fields are ignored, but the client of these expects an effect."""

OTHER_API = "`messages` are for Chat Completions: send them to /v1/chat/completions"

REFUSED = {
    "prompt": "prompt templates are not stored here. Send their text as instructions and input.",
}
"""Fields that cannot be ignored, because the answer would be another one, and what to do instead."""


REMARKABLE = frozenset({*HARMLESS, *OF_CHAT, *REFUSED, *UNREAD})
"""Most requests have none of these fields."""


def model_in(envelope: ResponsesEnvelope) -> str:
    model = envelope.get("model")
    if not model:
        raise missing("model", MODEL)
    return model


def read_envelope(body: dict[str, Any], ledger: Ledger, *, background: bool = False) -> ResponsesEnvelope:
    """`background`: may work go on in the background?"""
    if "metadata" in body:
        checked_metadata(body["metadata"])
    envelope = checked(ENVELOPE, body)
    continued = previous_and_conversation(body)
    if body.get("background") and not background:
        raise no_background()
    if REMARKABLE.isdisjoint(body):
        return envelope
    if body.get("messages") is not None and body.get("input") is None and not any(continued):
        raise missing("input", f"a string or an array of items. {OTHER_API}")
    for name, value in body.items():
        if name in REFUSED and value not in (None, False):
            message = f"{name} is not supported: {REFUSED[name]}"
            raise ClientFault(message, code="unsupported_parameter", param=name)
        if name in HARMLESS and value not in HARMLESS[name]:
            ledger.drop(name)
        if name in OF_CHAT and value is not None:
            ledger.drop(name)
            ledger.warn(f"{name} is a field of Chat Completions, and was not read: send {OF_CHAT[name]}.")
    count_unread(body, ledger)
    return envelope
