"""Reads content and reasoning that come as lists of parts instead of as text."""

from typing import Any

from proxy.core.events import Delta, ReasoningDelta, RefusalDelta, TextDelta
from proxy.core.extras import readable
from proxy.core.ledger import Ledger

READ = frozenset(
    {
        "role",
        "content",
        "refusal",
        "reasoning_content",
        "reasoning",
        "reasoning_text",
        "reasoning_details",
        "annotations",
        "tool_calls",
        "function_call",
    }
)
"""These fields of a delta are read. Whatever else there may be, such as images or sound, has no place in a reply of
ours."""


def leaves_out(delta: dict[str, Any]) -> bool:
    """Does it say something that is not read?"""
    return not READ.issuperset(delta) and any(delta[name] for name in delta.keys() - READ)


def says_something(message: dict[str, Any]) -> bool:
    return any(value for name, value in message.items() if name != "role")


def entries(calls: dict[str, Any]) -> list[Any]:
    """Lists the calls of a gateway that writes one call, or calls by their indexes, as an object."""
    return [calls] if calls.keys() & {"function", "name", "arguments"} else list(calls.values())


def read(parts: list[Any] | dict[str, Any], ledger: Ledger) -> list[Delta]:
    """Reads parts, or one by itself. Mistral's reasoning models answer `[{"type": "thinking", "thinking": [parts]},
    {"type": "text", …}]`."""
    deltas: list[Delta] = []
    for part in parts if isinstance(parts, list) else [parts]:
        match part:
            case str(text) | {"type": "text" | "output_text", "text": str(text)}:
                deltas.append(TextDelta(text))
            case {"type": "thinking", "thinking": str() | list() as thought}:
                deltas.append(ReasoningDelta(thought if isinstance(thought, str) else readable(thought)))
            case {"type": "refusal", "refusal": str(text)}:
                deltas.append(RefusalDelta(text))
            case _:
                ledger.odd("content_part_unknown")
    return deltas
