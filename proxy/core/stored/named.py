"""What a request names that is kept: the response that it continues, or the conversation that it belongs to, and items.

It is loaded before the request is read.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from proxy.core.ids import MAX_ID, may_be_response
from proxy.core.masking.redact import quoted
from proxy.core.stored.faults import CONVERSATION, PREVIOUS, exclusive
from proxy.core.surfaces.reading.checks import missing, wrong_type, wrong_value


class Named(NamedTuple):
    previous: str | None = None
    conversation: str | None = None
    references: Sequence[str] = ()
    """The ids of items that stand for themselves."""
    response: str = ""
    """The id of the response that answers the request."""
    stores: bool = False
    """Will it be kept? Then a conversation is locked until it is."""
    memos: Sequence[str] = ()
    """Names of what another process of the proxy may know. A request that names these names nothing else."""


NOTHING_NAMED = Named()


class Known(NamedTuple):
    """What was found of it."""

    named: Named
    history: bytes = b"[]"
    """The items before the request's own, as a JSON list."""
    references: Mapping[str, bytes] = {}
    memos: Mapping[str, bytes] = {}


def previous_and_conversation(body: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The id of the previous response, and that of the conversation; at most one of them."""
    previous, conversation = previous_in(body), conversation_in(body)
    if previous is not None and conversation is not None:
        raise exclusive()
    return previous, conversation


def previous_in(body: Mapping[str, Any]) -> str | None:
    """Its type has been checked with the other fields."""
    previous: str | None = body.get(PREVIOUS)
    if previous is None:
        return None
    if not may_be_response(previous):
        raise wrong_value(
            PREVIOUS,
            f"must be the id of a response, 'resp_' and at most {MAX_ID - 5} letters, digits, '_' or '-', got "
            f"{quoted(previous)}.",
        )
    return previous


def conversation_in(body: Mapping[str, Any]) -> str | None:
    """It may be named by its id, or by an object that has it."""
    conversation, path = body.get(CONVERSATION), CONVERSATION
    if isinstance(conversation, dict):
        conversation, path = conversation.get("id"), f"{CONVERSATION}.id"
        if conversation is None:
            raise missing(path, "the id of the conversation")
    if conversation is None:
        return None
    if not isinstance(conversation, str):
        raise wrong_type(
            path, "the id of a conversation" if path == CONVERSATION else "a string", conversation
        )
    if not conversation.startswith("conv_"):
        raise wrong_value(
            path, f"must be the id of a conversation, which begins with 'conv_', got {quoted(conversation)}."
        )
    return conversation
