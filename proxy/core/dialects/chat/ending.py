"""Why a backend stopped, in all the words that backends use, and how many tokens the reply cost.

A finish reason is advice: the reply itself shows whether there are calls. What matters is whether the reply is whole,
was cut, was filtered, or failed.
"""

from typing import Any

from proxy.core.dialects.reading import token_counts
from proxy.core.dialects.reading.decoding import MAX_LOGGED
from proxy.core.errors import BackendFault, ClientFault, Fault, Miscalled, Overloaded, Timeout
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quotable
from proxy.core.model import Usage

CONTEXT_FULL = "model_context_window_exceeded"
"""Z.ai has this word for two things: a reply that was cut, or a conversation that left no room for one."""

FINISHES = {
    "stop": Finish.STOP,
    "tool_calls": Finish.STOP,
    "function_call": Finish.STOP,
    "tool_use": Finish.STOP,
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "eos": Finish.STOP,
    "eos_token": Finish.STOP,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    CONTEXT_FULL: Finish.LENGTH,
    "blocklist": Finish.FILTER,
    "content_filter": Finish.FILTER,
    "guardrail_intervened": Finish.FILTER,
    "prohibited_content": Finish.FILTER,
    "recitation": Finish.FILTER,
    "refusal": Finish.FILTER,
    "safety": Finish.FILTER,
    "sensitive": Finish.FILTER,
    "spii": Finish.FILTER,
}
"""Gateways pass on the words of the vendor behind them, some in capitals."""

FAILED_FINISHES: dict[str, type[Fault]] = {
    "abort": BackendFault,
    "cancelled": BackendFault,
    "error": BackendFault,
    "function_call_filter": Miscalled,
    "malformed_function_call": Miscalled,
    "network_error": BackendFault,
    "timeout": Timeout,
    "insufficient_system_resource": Overloaded,
}
"""Whatever was said before one of these words is no answer, even a call that can be read."""


COUNTS = frozenset({"prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "total_tokens"})


def finish(word: str, ledger: Ledger, *, spoken: bool) -> Finish | Fault:
    """Tells what a word means for the ending. `spoken`: the reply had some output before."""
    original, word = word, word.lower().partition(":")[0]  # Google: "content_filter: RECITATION"
    if word == CONTEXT_FULL and not spoken:
        message = "The conversation leaves no room for a reply in the model's context window. Shorten it."
        return ClientFault(message, code="context_length_exceeded")
    if meaning := FINISHES.get(word):
        return meaning
    if failure := FAILED_FINISHES.get(word):
        return failure(f"The backend stopped the reply: {quotable(original, MAX_LOGGED)}.")
    ledger.odd("finish_unknown")
    ledger.log.info("finish_reason_unknown", characters=len(original))
    return Finish.STOP


def usage(raw: Any) -> Usage | None:
    """Reads the counts of tokens; None where nothing was counted. Gateways before Anthropic's API have its words, and
    Moonshot and DeepSeek words of their own for what is cached."""
    if not isinstance(raw, dict) or COUNTS.isdisjoint(raw):
        return None
    count, said = token_counts.read, raw.get
    sent = count(said("prompt_tokens", 0)) or count(said("input_tokens", 0))
    made = count(said("completion_tokens", 0)) or count(said("output_tokens", 0))
    total = count(said("total_tokens", 0))
    inside, beside = said("completion_tokens_details"), said("prompt_tokens_details")
    reasoning = count(inside.get("reasoning_tokens", 0)) if type(inside) is dict else 0
    cached = written = 0
    if type(beside) is dict:
        cached, written = count(beside.get("cached_tokens", 0)), count(beside.get("cache_write_tokens", 0))
    cached = cached or count(said("cached_tokens", 0)) or count(said("prompt_cache_hit_tokens", 0))
    if reasoning and total == sent + made + reasoning:
        made += reasoning  # xAI counts reasoning beside the completion, not in it
    return Usage(sent, made, total or sent + made, cached, reasoning, written)


def usage_elsewhere(chunk: dict[str, Any]) -> Any:
    """Finds usage in a choice, as Moonshot has it, or in a field of Groq's."""
    choices = chunk.get("choices")
    for holder in (*(choices if type(choices) is list else ()), chunk.get("x_groq")):
        if type(holder) is dict and (found := holder.get("usage")):
            return found
    return None
