"""What clients send to make a conversation, to change it, or to add items to it.

Items are read as the input of a request is, so that whatever is kept can be sent to a model. All are taken or none.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from proxy.core.errors import ClientFault
from proxy.core.ids import ItemIds
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quoted
from proxy.core.stored.kept_items import kept_items
from proxy.core.stored.references import OwnItems, is_reference
from proxy.core.surfaces.reading.checks import array, missing, too_many, wrong_type
from proxy.core.surfaces.reading.content import InputCursor
from proxy.core.surfaces.reading.fields import json_object
from proxy.core.surfaces.responses.items import read_items
from proxy.core.surfaces.responses.metadata import checked_metadata

MAX_ITEMS = 20
"""In one request. This is the published bound."""

BEGINNINGS: Final[Mapping[str, str]] = {
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctc",
    "function_call": "fc",
    "function_call_output": "fc",
    "message": "msg",
    "reasoning": "rs",
}
"""How the ids of items begin, by their types. Others are taken as they come."""

Json = dict[str, Any]


class NewConversation(NamedTuple):
    items: list[Any]
    metadata: dict[str, str]


def new_conversation(body: Any) -> NewConversation:
    """`body`: None if there was none."""
    members = json_object({} if body is None else body)
    return NewConversation(_items(members.get("items")), checked_metadata(members.get("metadata")))


def new_metadata(body: Any) -> dict[str, str]:
    members = json_object(body)
    if "metadata" not in members:
        raise missing("metadata", "an object, which replaces all that is there")
    return checked_metadata(members["metadata"])


def new_items(body: Any) -> list[Any]:
    """The items to be added; references among them are still to be replaced."""
    given = json_object(body).get("items")
    if given is None:
        raise missing("items", "an array of items")
    return _items(given)


def _items(given: Any) -> list[Any]:
    items = [] if given is None else array(given, "items")
    if len(items) > MAX_ITEMS:
        raise too_many("items", MAX_ITEMS, "items")
    for index, item in enumerate(items):
        if isinstance(item, dict) and item.get("id") is not None and not is_reference(item):
            _check_id(item, f"items[{index}].id")
    return items


def _check_id(item: Json, path: str) -> None:
    id, beginning = item["id"], BEGINNINGS.get(item.get("type") or "message", "")
    if not isinstance(id, str):
        raise wrong_type(path, "a string", id)
    if not id.startswith(beginning):
        raise ClientFault(
            f"Invalid '{path}': {quoted(id)}. Expected an ID that begins with '{beginning}'.",
            code="invalid_value",
            param=path,
        )


def kept_in_conversation(own: OwnItems, ids: ItemIds, ledger: Ledger) -> list[Json]:
    """The items as they are kept. Raises a ClientFault for the first that no model could be sent."""
    read_items(own.items, InputCursor(ledger, among="items", indices=own.indices))
    return kept_items(own.items, ids)
