"""The four kinds of backends as the matrix needs them: how the proxy is set up for each, and what each was asked.

That a request is right by all rules of its provider is checked by the scripted servers; here it is read for its
meaning.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proxy.core.profile import overridden
from tests.contract import read_anthropic, read_chat, read_google, read_responses
from tests.contract.cases import Received
from tests.scripted import anthropic, chat, google, responses
from tests.scripted.serving import Provider

Json = dict[str, Any]


@dataclass(frozen=True)
class Backend:
    provider: Provider
    model: str
    """One of the provider's that can do all that the cases ask for."""
    settings: Json
    """For the proxy, besides the URL."""
    read: Callable[[Json], Received]


SIGNING = {**chat.OVERRIDES, "replay": "none", "signed_calls": True}

BACKENDS = {
    "chat": Backend(
        chat.provider(), "m", {"profile": chat.NAME, "overrides": chat.OVERRIDES}, read_chat.received
    ),
    "anthropic": Backend(
        anthropic.PROVIDER, "claude-sonnet-4-6", {"profile": "anthropic"}, read_anthropic.received
    ),
    "google": Backend(google.provider(), google.MODEL, {"profile": google.NAME}, read_google.received),
    "responses": Backend(
        responses.provider(),
        responses.MODEL,
        {"profile": responses.NAME, "overrides": {"wire": "responses", "hosted_tools": []}},
        read_responses.received,
    ),
}
"""The columns of the matrix."""

SIGNING_CHAT = Backend(
    chat.provider(overridden(chat.PROFILE, SIGNING)),
    "m",
    {"profile": chat.NAME, "overrides": SIGNING},
    read_chat.received,
)
"""Gemini behind a Chat endpoint: its proofs stand in its calls, as they do in its own dialect."""
