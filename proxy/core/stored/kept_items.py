"""Items as they are kept: one form for what clients may send in several, and an id for each.

What a request adds has been read by then, so nothing here is in doubt. An id that the client chose stays. A second item
of the same id gets another one: lists go on behind an id.
"""

from collections.abc import Mapping, Set
from typing import Any, Final

from proxy.core.ids import ItemIds
from proxy.core.stored.private import packed_again

Json = dict[str, Any]

HOSTED_PREFIXES: Final[Mapping[str, str]] = {
    "web_search_call": "ws",
    "file_search_call": "fs",
    "code_interpreter_call": "ci",
    "image_generation_call": "ig",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "mcp_approval_request": "mcpr",
    "computer_call": "cu",
}
"""Prefixes of the ids of items in which tools of the backend's own tell what they do."""

HOSTED_ANSWERS: Final[Mapping[str, str]] = {"mcp_approval_response": "mcpa", "computer_call_output": "cuo"}
"""Prefixes of the ids of items in which clients answer them."""

PREFIXES: Final[Mapping[str, str]] = {
    **HOSTED_PREFIXES,
    **HOSTED_ANSWERS,
    "additional_tools": "at",
    "agent_message": "amsg",
    "apply_patch_call": "apc",
    "apply_patch_call_output": "apco",
    "compaction": "cmp",
    "compaction_summary": "cmp",
    "configuration_update": "cfg",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "function_call": "fc",
    "function_call_output": "fco",
    "local_shell_call": "lsh",
    "local_shell_call_output": "lsho",
    "message": "msg",
    "reasoning": "rs",
    "shell_call": "sh",
    "shell_call_output": "sho",
    "tool_search_call": "tsc",
    "tool_search_output": "tso",
}
"""Prefixes of the ids of items, by their types."""

OTHER: Final = "item"

WITH_STATUS: Final = ("_call", "_output")
"""How the types of items end that have a status, as messages do."""


def kept_items(given: Any, ids: ItemIds, taken: Set[str] = frozenset()) -> list[Json]:
    """What the `input` of a request adds. `taken`: the ids of the history before it."""
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    used = set(taken)
    items: list[Json] = []
    for index, item in enumerate(given or ()):
        kept: Json = {"id": None, "type": None} | packed_again(item)
        kind = kept["type"] = kept["type"] or "message"
        if kind == "message":
            kept["content"] = parts_of(kept)
        if (kind == "message" or kind.endswith(WITH_STATUS)) and not isinstance(kept.get("status"), str):
            kept["status"] = "completed"
        own = kept["id"]
        if not isinstance(own, str) or not own or own in used:
            own = kept["id"] = ids.input(PREFIXES.get(kind, OTHER), index)
        used.add(own)
        items.append(kept)
    return items


def parts_of(message: Json) -> Any:
    """The content of a message as a list, whichever form it has."""
    content = message.get("content")
    if content is None:
        return []
    if not isinstance(content, str):
        return content
    if message.get("role") == "assistant":
        return [{"type": "output_text", "text": content, "annotations": []}]
    return [{"type": "input_text", "text": content}]
