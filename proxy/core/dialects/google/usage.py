"""Token counts in Gemini's words, where thoughts are not among the output, nor tools' prompts among the input."""

from collections.abc import Mapping
from typing import Any

from proxy.core.dialects.reading import token_counts
from proxy.core.model import Usage


def read(counts: Mapping[str, Any]) -> Usage | None:
    """None without a count of the prompt, which all of them have."""
    if "promptTokenCount" not in counts:
        return None
    sent = _count(counts, "promptTokenCount") + _count(counts, "toolUsePromptTokenCount")
    thought = _count(counts, "thoughtsTokenCount")
    made = _count(counts, "candidatesTokenCount") + thought
    return Usage(
        input_tokens=sent,
        output_tokens=made,
        total_tokens=_count(counts, "totalTokenCount") or sent + made,
        cached_tokens=_count(counts, "cachedContentTokenCount"),
        reasoning_tokens=thought,
    )


def _count(counts: Mapping[str, Any], name: str) -> int:
    return token_counts.read(counts.get(name))
