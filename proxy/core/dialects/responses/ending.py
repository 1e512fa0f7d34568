"""How a response ended, and what it cost."""

from collections.abc import Mapping
from typing import Any

from proxy.core.dialects.reading import token_counts
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from proxy.core.model import Usage

FAILED = ("failed", "cancelled")
UNFINISHED = ("queued", "in_progress")

REASONS = {
    "max_output_tokens": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "length": Finish.LENGTH,
    "content_filter": Finish.FILTER,
}
"""Why a response is incomplete."""

COUNTS = {"input_tokens", "output_tokens"}


def has_failed(response: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    """A whole response that is not finished is one that works in the background, which was not asked for."""
    status = response.get("status")
    unfinished = event is response and status in UNFINISHED
    return status in FAILED or unfinished or event.get("type") in ("response.failed", "response.cancelled")


def finish(response: Mapping[str, Any], event: str, ledger: Ledger) -> Finish:
    """Some servers call what was cut completed in the event's name, and say what it is in the object; some the other
    way round. Whatever calls it incomplete is believed."""
    incomplete = response.get("status") == "incomplete" or event == "response.incomplete"
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    if isinstance(reason, str) and reason in REASONS:
        return REASONS[reason]
    if not incomplete:
        return Finish.STOP
    if reason is not None:
        ledger.odd("finish_unknown")
        ledger.log.info("finish_reason_unknown", characters=len(reason) if isinstance(reason, str) else 0)
    return Finish.LENGTH


def usage(raw: Any) -> Usage | None:
    """Reads the counts of tokens; None where nothing was counted."""
    if not isinstance(raw, Mapping) or COUNTS.isdisjoint(raw):
        return None
    sent, made = token_counts.read(raw.get("input_tokens")), token_counts.read(raw.get("output_tokens"))
    cached = _detail(raw.get("input_tokens_details"), "cached_tokens")
    written = _detail(raw.get("input_tokens_details"), "cache_write_tokens")
    thought = _detail(raw.get("output_tokens_details"), "reasoning_tokens")
    total = token_counts.read(raw.get("total_tokens")) or sent + made
    return Usage(sent, made, total, cached, thought, written)


def _detail(details: Any, name: str) -> int:
    return token_counts.read(details.get(name)) if isinstance(details, Mapping) else 0
