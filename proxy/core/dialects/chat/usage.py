"""How many tokens a reply cost, as each backend counts them."""

from typing import Any

from proxy.core.dialects.reading import token_counts
from proxy.core.model import Usage

COUNTS = {"prompt_tokens", "completion_tokens", "total_tokens"}
CACHED = ("cached_tokens", "prompt_cache_hit_tokens")
"""Beside OpenAI's `prompt_tokens_details.cached_tokens`: Moonshot's word and DeepSeek's."""


def read(said: Any) -> Usage | None:
    """None where nothing was counted."""
    if not isinstance(said, dict) or COUNTS.isdisjoint(said):
        return None
    sent = token_counts.read(said.get("prompt_tokens"))
    made = token_counts.read(said.get("completion_tokens"))
    total = token_counts.read(said.get("total_tokens"))
    reasoning = _detail(said.get("completion_tokens_details"), "reasoning_tokens")
    cached = _detail(said.get("prompt_tokens_details"), "cached_tokens")
    for name in CACHED:
        if not cached and name in said:
            cached = token_counts.read(said[name])
    if (
        reasoning and total == sent + made + reasoning
    ):  # xAI counts reasoning beside the completion, not in it
        made += reasoning
    return Usage(sent, made, total or sent + made, cached, reasoning)


def _detail(details: Any, name: str) -> int:
    return token_counts.read(details.get(name)) if isinstance(details, dict) else 0
