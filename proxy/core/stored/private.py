"""What a kept item has that no client is shown: one member, which no item of the API has.

A client may send a member of this name: it is taken out before the item is kept (`normalised`), so whatever has it in
the store has it from us.
"""

from typing import Any, Final

from proxy.core import jsontext

KEPT: Final = "_kept"

_MARK = b'"_kept":'
"""In JSON of ours, which has no spaces, this is always a name: within a text its quotation marks are escaped."""


def public(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != KEPT} if KEPT in item else item


def public_list(items: bytes) -> bytes:
    """A JSON list of items as its client sees it. Most lists are returned as they are, unread."""
    if _MARK not in items:
        return items
    return jsontext.dumps([public(item) for item in jsontext.loads(items)])
