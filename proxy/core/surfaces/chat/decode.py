"""From a Chat Completions request, as JSON, to the neutral Request. An error in it is found here, before anything is
sent, and becomes one ClientFault with its path.
"""

from dataclasses import dataclass
from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.surfaces.chat import envelope as chat_envelope
from proxy.core.surfaces.chat import tools as chat_tools
from proxy.core.surfaces.chat.turns import SPEAKERS
from proxy.core.surfaces.reading.content import InputCursor
from proxy.core.surfaces.reading.history import canonical
from proxy.core.surfaces.reading.messages import MessagesSoFar, read_messages


@dataclass(slots=True)
class ChatRequest:
    """The request, and the client's wishes for the form of the answer."""

    request: Request
    include_usage: bool = False
    """Does the stream end with a chunk of the usage?"""
    legacy_functions: bool = False
    """Were the tools declared as `functions`? Then the client expects a `function_call`."""


def decode(body: Any, ledger: Ledger) -> ChatRequest:
    envelope = chat_envelope.read_envelope(chat_envelope.CHAT, body, ledger)
    said = read_messages(envelope.messages, SPEAKERS, MessagesSoFar(InputCursor(ledger, among="messages")))
    tools, choice = chat_tools.read(envelope, ledger)
    request = chat_envelope.request(envelope, canonical(said, ledger), tools, choice, ledger)
    request.strict_alone = any(spec.strict for spec in request.tools)
    if envelope.functions:
        request.parallel_calls = False  # an answer has one function_call
    return ChatRequest(
        request,
        include_usage=chat_envelope.wants_usage(envelope),
        legacy_functions=bool(envelope.functions),
    )
