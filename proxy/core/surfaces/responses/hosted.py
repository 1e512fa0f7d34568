"""Items of tools that a backend runs itself: clients get them as they are but for their ids, and may send them back."""

from typing import Any

from proxy.core.model import HostedItem
from proxy.core.stored.kept_items import HOSTED_PREFIXES, OTHER


def prefix_of(part: HostedItem) -> str:
    return HOSTED_PREFIXES.get(part.item.get("type", ""), OTHER)


def begun(item: dict[str, Any]) -> dict[str, Any]:
    """The item as it was before it had a result, for the event that announces it."""
    return item | {"status": "in_progress"} if "status" in item else item
