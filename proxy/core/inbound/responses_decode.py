"""From a Responses request, as JSON, to the neutral Request. Whatever is wrong with it is said here, before anything
is sent: one ClientFault that names the place.
"""

from typing import Any

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.inbound.checks import json_name, missing, wrong_type, wrong_value
from proxy.core.inbound.history import OrphanOutputs, Said, canonical
from proxy.core.inbound.responses_choice import read_choice
from proxy.core.inbound.responses_envelope import MAX_INPUT_TEXT, Envelope, Format, read_envelope
from proxy.core.inbound.responses_items import read_items
from proxy.core.inbound.responses_parts import Walk
from proxy.core.inbound.responses_tools import read_tools
from proxy.core.inbound.seal import Seal
from proxy.core.ledger import Ledger
from proxy.core.model import (
    ChoiceMode,
    FormatKind,
    OutputFormat,
    ReasoningWish,
    Request,
    Role,
    Sampling,
    Text,
    ToolChoice,
    Turn,
)
from proxy.core.tools import schema

MAX_DEPTH = 128
"""Levels of a request. orjson reads 1024 but writes 254, and schemas are wrapped a few levels deeper on the way."""

LOGPROBS = "message.output_text.logprobs"


SEALED_REASONING = "reasoning.encrypted_content"


def decode(
    body: Any, ledger: Ledger, orphan_outputs: OrphanOutputs = "refuse", seal: Seal | None = None
) -> Request:
    if not isinstance(body, dict):
        raise ClientFault(
            f"The request body must be a JSON object, got {json_name(body)}.", code="invalid_type"
        )
    if jsontext.deeper_than(body, MAX_DEPTH):
        raise ClientFault(f"The request body is nested deeper than {MAX_DEPTH} levels.", code="invalid_value")
    envelope = read_envelope(body, ledger)
    if not envelope.model:
        raise missing("model")
    walk = Walk(ledger, seal)
    said = _said(envelope, walk)
    toolbox = read_tools([(envelope.tools or [], "tools"), *walk.tools], ledger)
    turns = canonical(said, ledger, orphan_outputs)
    if not turns:
        raise wrong_value("input", "holds nothing that can be sent to a model.")
    text = envelope.text
    return Request(
        model=envelope.model,
        turns=turns,
        tools=list(toolbox.specs.values()),
        choice=ToolChoice(ChoiceMode.NONE)
        if walk.compact
        else read_choice(envelope.tool_choice, toolbox, ledger),
        parallel_calls=envelope.parallel_tool_calls is not False,
        sampling=_sampling(envelope),
        reasoning=_reasoning(envelope),
        format=_format(text.format) if text and text.format and not walk.compact else OutputFormat(),
        verbosity=text.verbosity if text else None,
        generate=envelope.generate is not False,
        stream=bool(envelope.stream),
        compact=walk.compact,
    )


def _said(envelope: Envelope, walk: Walk) -> list[Said]:
    said: list[Said] = []
    if envelope.instructions:
        said.append((Turn(Role.SYSTEM, [Text(envelope.instructions)]), ""))
    match envelope.input:
        case None:
            raise missing("input")
        case str() as text if len(text) > MAX_INPUT_TEXT:
            raise wrong_value("input", f"may have at most {MAX_INPUT_TEXT} characters.")
        case str() as text:  # an empty one too: the API has no lower bound, and instructions may say it all
            said.append((Turn(Role.USER, [Text(text)]), ""))
        case list() as items if items or said:
            said += read_items(items, walk)
        case list():
            raise wrong_value("input", "is an empty array, and there are no instructions.")
        case other:
            raise wrong_type("input", "a string or an array of items", other)
    return said


def _sampling(envelope: Envelope) -> Sampling:
    top_logprobs = envelope.top_logprobs or 0
    return Sampling(
        temperature=envelope.temperature,
        top_p=envelope.top_p,
        presence_penalty=envelope.presence_penalty,
        frequency_penalty=envelope.frequency_penalty,
        max_tokens=envelope.max_output_tokens,
        logprobs=top_logprobs > 0 or LOGPROBS in (envelope.include or ()),
        top_logprobs=top_logprobs,
    )


def _reasoning(envelope: Envelope) -> ReasoningWish:
    thinking = envelope.reasoning
    return ReasoningWish(
        effort=thinking.effort if thinking else None,
        summary=thinking.summary if thinking else None,
        sealed=SEALED_REASONING in (envelope.include or ()),
    )


def _format(wish: Format) -> OutputFormat:
    kind = FormatKind(wish.type)
    if kind is not FormatKind.JSON_SCHEMA:
        return OutputFormat(kind)
    if wish.name is None:
        raise missing("text.format.name")
    if wish.schema_ is None:
        raise missing("text.format.schema")
    schema.check_schema(wish.schema_, "text.format.schema")
    return OutputFormat(kind, wish.name, wish.schema_, wish.description, wish.strict)
