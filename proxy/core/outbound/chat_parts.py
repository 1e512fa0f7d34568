"""Content and reasoning that come as lists of parts instead of as text."""

from typing import Any

from proxy.core.events import Delta, ReasoningDelta, RefusalDelta, TextDelta
from proxy.core.ledger import Ledger


def read(parts: list[Any], ledger: Ledger) -> list[Delta]:
    """Mistral's reasoning models answer `[{"type": "thinking", "thinking": [parts]}, {"type": "text", …}]`."""
    deltas: list[Delta] = []
    for part in parts:
        match part:
            case str(text) | {"type": "text" | "output_text", "text": str(text)}:
                deltas.append(TextDelta(text))
            case {"type": "thinking", "thinking": str() | list() as thought}:
                deltas.append(ReasoningDelta(thought if isinstance(thought, str) else thoughts(thought)))
            case {"type": "refusal", "refusal": str(text)}:
                deltas.append(RefusalDelta(text))
            case _:
                ledger.odd("content_part_unknown")
    return deltas


def thoughts(details: Any) -> str:
    """The readable part of OpenRouter's `reasoning_details`, or of a list of Mistral's; the rest is encrypted."""
    if not isinstance(details, list):
        return ""
    readable = [detail.get("text") or detail.get("summary") for detail in details if isinstance(detail, dict)]
    return "".join(text for text in readable if isinstance(text, str))
