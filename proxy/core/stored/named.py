"""What a request names that is kept: the response that it continues, or the conversation that it belongs to."""

from collections.abc import Mapping
from typing import Any

from proxy.core.ids import MAX_ID, may_be_response
from proxy.core.masking.redact import quoted
from proxy.core.stored.faults import CONVERSATION, PREVIOUS, previous_and_conversation
from proxy.core.surfaces.reading.checks import missing, wrong_type, wrong_value


def named(body: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The id of the previous response, and that of the conversation; at most one of them."""
    previous, conversation = previous_in(body), conversation_in(body)
    if previous is not None and conversation is not None:
        raise previous_and_conversation()
    return previous, conversation


def previous_in(body: Mapping[str, Any]) -> str | None:
    previous = body.get(PREVIOUS)
    if previous is None:
        return None
    if not isinstance(previous, str):
        raise wrong_type(PREVIOUS, "a string", previous)
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
