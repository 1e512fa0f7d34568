"""Why Gemini says it stopped, and what the reply cost.

Unlike Chat's reasons, some of these are failures that look like an empty success. Its counts have thoughts beside the
output, and tools' prompts beside the input.
"""

from collections.abc import Mapping
from typing import Any

from proxy.core.dialects.reading.decoding import MAX_LOGGED
from proxy.core.dialects.reading.token_counts import count_of
from proxy.core.errors import BackendFault, Fault, Miscalled
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quotable
from proxy.core.model import Usage

FINISHES: Mapping[str, Finish] = {
    "STOP": Finish.STOP,
    "MAX_TOKENS": Finish.LENGTH,
    "CONTINUATION": Finish.LENGTH,
    "SAFETY": Finish.FILTER,
    "RECITATION": Finish.FILTER,
    "BLOCKLIST": Finish.FILTER,
    "PROHIBITED_CONTENT": Finish.FILTER,
    "SPII": Finish.FILTER,
    "IMAGE_SAFETY": Finish.FILTER,
    "IMAGE_PROHIBITED_CONTENT": Finish.FILTER,
    "IMAGE_RECITATION": Finish.FILTER,
    "IMAGE_OTHER": Finish.FILTER,
    "MODEL_ARMOR": Finish.FILTER,
    "ESCALATION": Finish.FILTER,
    "JAILBREAK": Finish.FILTER,
}

MISCALLED = frozenset(
    {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"}
)
"""Failures that another try may not have. Whatever was said before is no answer, even a call that can be read."""

FOR_GOOD = frozenset({"MISSING_THOUGHT_SIGNATURE", "LANGUAGE", "NO_IMAGE", "PUP_LIMITED_DISABLED"})
"""Failures that would come again."""

VAGUE = frozenset({"OTHER", "FINISH_REASON_UNSPECIFIED"})


def finish(word: str, message: object, ledger: Ledger, *, spoken: bool) -> Finish | Fault:
    """Tells what a word means for the ending. `message` is the backend's own on it, if any. `spoken`: the reply had
    text or a call before."""
    if word in FINISHES:
        return FINISHES[word]
    if word in MISCALLED:
        return Miscalled(_why_stopped(word, message))
    if word in FOR_GOOD:
        return BackendFault(_why_stopped(word, message), retryable=False)
    if word not in VAGUE:
        ledger.odd("finish_unknown")
        ledger.log.info("finish_reason_unknown", characters=len(word))
    return Finish.STOP if spoken else BackendFault(_why_stopped(word, message))


def _why_stopped(word: str, message: object) -> str:
    reason = f": {quotable(message)}" if isinstance(message, str) and message else "."
    return f"The backend stopped the reply with {quotable(word)[:MAX_LOGGED]}{reason}"


def usage(counts: Mapping[str, Any]) -> Usage | None:
    """Reads the counts of tokens; None without a count of the prompt, which all of them have."""
    if "promptTokenCount" not in counts:
        return None
    sent = count_of(counts, "promptTokenCount") + count_of(counts, "toolUsePromptTokenCount")
    thought = count_of(counts, "thoughtsTokenCount")
    made = count_of(counts, "candidatesTokenCount") + thought
    return Usage(
        input_tokens=sent,
        output_tokens=made,
        total_tokens=count_of(counts, "totalTokenCount") or sent + made,
        cached_tokens=count_of(counts, "cachedContentTokenCount"),
        reasoning_tokens=thought,
    )
