"""What clients get of what is kept: the response object, the conversation, and that something is gone."""

from dataclasses import replace
from typing import Any

import orjson

from proxy.core import jsontext
from proxy.core.stored.conversation import Conversation
from proxy.core.stored.private import public_list
from proxy.core.stored.record import Record, Status


def response_object(record: Record, output: bytes | None = None) -> bytes:
    """The response as it ended, or as far as it has come. `output`: its finished items, where somebody knows more of
    them than the record."""
    answer = jsontext.loads(record.answer)
    items = record.output if output is None else output
    return jsontext.dumps(answer | {"output": orjson.Fragment(public_list(items))})


def in_progress(record: Record) -> Record:
    """The record of queued work when a backend is asked."""
    answer = jsontext.loads(record.answer) | {"status": Status.IN_PROGRESS}
    return replace(record, status=Status.IN_PROGRESS, answer=jsontext.dumps(answer))


def deleted_response(id: str) -> dict[str, Any]:
    return {"id": id, "object": "response.deleted", "deleted": True}


def conversation_object(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": conversation.id,
        "object": "conversation",
        "created_at": conversation.created,
        "metadata": jsontext.loads(conversation.metadata),
    }


def deleted_conversation(id: str) -> dict[str, Any]:
    return {"id": id, "object": "conversation.deleted", "deleted": True}
