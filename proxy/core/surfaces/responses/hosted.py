"""Items of tools that a backend runs itself: clients get them as they are but for their ids, and may send them back."""

from typing import Any, Final

from proxy.core.model import HostedItem

PREFIXES: Final = {
    "web_search_call": "ws",
    "file_search_call": "fs",
    "code_interpreter_call": "ci",
    "image_generation_call": "ig",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "mcp_approval_request": "mcpr",
    "computer_call": "cu",
}
"""By the type of an item, how its ids begin."""

ANSWERS: Final = ("mcp_approval_response", "computer_call_output")
"""Types of items in which clients answer those."""


def prefix_of(part: HostedItem) -> str:
    return PREFIXES.get(part.item.get("type", ""), "item")


def begun(item: dict[str, Any]) -> dict[str, Any]:
    """The item as it was before it had a result, for the event that announces it."""
    return item | {"status": "in_progress"} if "status" in item else item
