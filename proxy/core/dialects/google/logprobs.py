"""Log probabilities, from Gemini's form to the Responses form: the chosen tokens in one list, the others beside it."""

from itertools import zip_longest
from typing import Any

from proxy.core.dialects.reading import logprobs


def read(raw: Any) -> list[Any]:
    """Makes one entry per token; whatever is no entry is left out."""
    if not isinstance(raw, dict):
        return []
    chosen, beside = _list(raw.get("chosenCandidates")), _list(raw.get("topCandidates"))
    entries = [
        _entry(token)
        | {"top_logprobs": [_entry(other) for other in _list(_others(others)) if _is_one(other)]}
        for token, others in zip_longest(chosen, beside[: len(chosen)])
        if _is_one(token)
    ]
    return logprobs.read({"content": entries})


def _others(beside: Any) -> Any:
    return beside.get("candidates") if isinstance(beside, dict) else None


def _entry(raw: dict[str, Any]) -> dict[str, Any]:
    return {"token": raw.get("token"), "logprob": raw.get("logProbability")}


def _is_one(raw: Any) -> bool:
    return isinstance(raw, dict)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
