"""JSON Schemas of what is kept: of stored responses and conversations, their items, and the queries that read them."""

from typing import Final

from proxy.core.stored.pages import LARGEST, SMALLEST
from proxy.core.stored.queries import INCLUDABLE
from proxy.core.stored.record import Status
from proxy.core.surfaces.openapi.schemas import (
    BOOLEAN,
    COUNT,
    OBJECT,
    STRING,
    Schema,
    maybe,
    one,
    ref,
    shape,
    some,
)
from proxy.core.surfaces.responses.conversations import MAX_ITEMS
from proxy.core.surfaces.responses.metadata import MAX_KEY, MAX_PAIRS, MAX_VALUE

METADATA: Final[Schema] = {
    "type": "object",
    "maxProperties": MAX_PAIRS,
    "propertyNames": {"maxLength": MAX_KEY},
    "additionalProperties": {"type": "string", "maxLength": MAX_VALUE},
}
ITEMS: Final[Schema] = some(ref("InputItem")) | {"maxItems": MAX_ITEMS}

KEPT_REQUESTS: Final[dict[str, Schema]] = {
    "NewConversation": shape({}, {"items": maybe(ITEMS), "metadata": maybe(METADATA)}),
    "NewMetadata": shape({"metadata": maybe(METADATA)}),
    "NewItems": shape({"items": ITEMS}),
}


def _gone(kind: str) -> Schema:
    return shape({"id": STRING, "object": one(kind), "deleted": BOOLEAN})


KEPT_ANSWERS: Final[dict[str, Schema]] = {
    "StoredResponse": shape(
        {"id": STRING, "object": one("response"), "status": one(*Status), "output": some(ref("OutputItem"))},
        {"created_at": COUNT, "model": STRING, "error": maybe(OBJECT), "usage": maybe(OBJECT)},
    ),
    "DeletedResponse": _gone("response.deleted"),
    "Conversation": shape(
        {"id": STRING, "object": one("conversation"), "created_at": COUNT, "metadata": METADATA}
    ),
    "DeletedConversation": _gone("conversation.deleted"),
    "StoredItem": shape({"id": STRING, "type": STRING}),
    "StoredItems": shape(
        {
            "object": one("list"),
            "data": some(ref("StoredItem")),
            "first_id": maybe(STRING),
            "last_id": maybe(STRING),
            "has_more": BOOLEAN,
        }
    ),
}

INCLUDE: Final[dict[str, Schema]] = {"include[]": some(one(*sorted(INCLUDABLE)))}
"""Others than OpenAI's clients write it without brackets, which is understood too."""
PAGE: Final[dict[str, Schema]] = {
    "limit": {"type": "integer", "minimum": SMALLEST, "maximum": LARGEST},
    "order": one("asc", "desc"),
    "after": STRING,
    "before": STRING,
}
STREAM: Final[dict[str, Schema]] = {
    "stream": BOOLEAN,
    "starting_after": COUNT,
    "include_obfuscation": BOOLEAN,
}
