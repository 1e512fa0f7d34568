"""How a reply of the Messages API ended, and what it cost."""

from collections.abc import Mapping
from typing import Any

from proxy.core.dialects.reading.token_counts import count_of
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from proxy.core.model import Usage

FINISHES = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.STOP,
    "pause_turn": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.FILTER,
}


def finish(reason: str, ledger: Ledger) -> Finish:
    if reason not in FINISHES:
        ledger.odd("finish_unknown")
        ledger.log.info("finish_reason_unknown", characters=len(reason))
    return FINISHES.get(reason, Finish.STOP)


def explanation(details: Any) -> str:
    """Gives the reason why the model refused, if it says so."""
    words = details.get("explanation") if isinstance(details, Mapping) else None
    return words if isinstance(words, str) else ""


def usage(counts: Mapping[str, Any]) -> Usage | None:
    """Reads the counts of tokens; None where nothing was counted. What was read from the cache, or written there, is
    not in `input_tokens`."""
    read, written = (
        count_of(counts, "cache_read_input_tokens"),
        count_of(counts, "cache_creation_input_tokens"),
    )
    sent = count_of(counts, "input_tokens") + read + written
    made = count_of(counts, "output_tokens")
    if not sent and not made:
        return None
    details = counts.get("output_tokens_details")
    thought = count_of(details, "thinking_tokens") if isinstance(details, Mapping) else 0
    return Usage(sent, made, sent + made, read, thought, written)
