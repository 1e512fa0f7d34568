"""Did the conversation outgrow the model's context window? Every vendor says it differently; clients must know.

A client that is told `context_length_exceeded` makes its history shorter and goes on; any other error ends the
turn. So the words are matched here, and the words that only look like them are ruled out.
"""

import re

from proxy.core.dialects.reading.error_body import ErrorBody

CODES = {
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_max_prompt_tokens_exceeded",
    "model_context_window_exceeded",
    "1261",
}

FRAGMENTS = (
    *CODES - {"1261"},
    "available context size",
    "context window",
    "contextwindowexceeded",
    "exceed context limit",
    "exceeds max length",
    "greater than the context length",
    "input is too long",
    "input token count",
    "longer than the context length",
    "max_new_tokens` must be",
    "maximum context length",
    "maximum prompt length is",
    "model token limit",
    "model's context length",
    "n_keep",
    "prompt is too long",
    "prompt token count",
    "range of input length should be",
    "reduce the length of the messages",
    "tokens to keep",
    "too large for model with",
    "trying to keep the first",
    "while limit is",
)

RATE_LIMIT = re.compile(r"rate[ _]?limit|per minute|\btpm\b")
"""Rate limits count tokens too, but no shorter history cures them."""

LOOK_ALIKE = re.compile(r"string_above_max_length|string too long|max_tokens is too large")
"""An over-long string or a wish for too much output is no overflow, even where a gateway files it as one."""


def matches(error: ErrorBody) -> bool:
    if error.status == 429 or RATE_LIMIT.search(error.words) or LOOK_ALIKE.search(error.words):
        return False
    if error.code in CODES or error.type in CODES:
        return True
    return any(fragment in error.words for fragment in FRAGMENTS)
