"""How many tokens a reply cost, as each backend counts them."""

from math import isfinite
from typing import Any

from proxy.core.model import Usage

COUNTS = {"prompt_tokens", "completion_tokens", "total_tokens"}
CACHED = ("cached_tokens", "prompt_cache_hit_tokens")
"""Beside OpenAI's `prompt_tokens_details.cached_tokens`: Moonshot's word and DeepSeek's."""


def read(said: Any) -> Usage | None:
    """None where nothing was counted. Fractions are cut, and what no count can be (negative, text) is zero."""
    if not isinstance(said, dict) or COUNTS.isdisjoint(said):
        return None
    sent = _count(said.get("prompt_tokens"))
    made = _count(said.get("completion_tokens"))
    total = _count(said.get("total_tokens"))
    reasoning = _detail(said, "completion_tokens_details", "reasoning_tokens")
    cached = _detail(said, "prompt_tokens_details", "cached_tokens")
    for name in CACHED:
        if not cached and name in said:
            cached = _count(said[name])
    if (
        reasoning and total == sent + made + reasoning
    ):  # xAI counts reasoning beside the completion, not in it
        made += reasoning
    return Usage(sent, made, total or sent + made, cached, reasoning)


def _count(value: Any) -> int:
    if isinstance(value, int | float) and isfinite(value):
        return max(int(value), 0)
    return 0


def _detail(said: dict[str, Any], group: str, name: str) -> int:
    details = said.get(group)
    return _count(details.get(name)) if isinstance(details, dict) else 0
