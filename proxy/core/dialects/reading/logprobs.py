"""Log probabilities, from the Chat form to the Responses form."""

from typing import Any

from proxy.core.jsontext import mend
from proxy.core.logprobs import of_text


def of_answer(raw: Any, thought: Any, answer: Any) -> Any:
    """Gives what is said of the answer, where a thought stands beside it."""
    if not thought or not isinstance(raw, dict):
        return raw
    tokens = _dicts(raw.get("content"))
    return {"content": of_text(tokens, answer)} if isinstance(answer, str) and answer else None


def read(raw: Any) -> list[Any]:
    """Makes one entry per token. It leaves out whatever is no entry, because log probabilities are never worth a
    reply."""
    tokens = raw.get("content") if isinstance(raw, dict) else None
    return [_entry(token) | {"top_logprobs": _alternatives(token)} for token in _dicts(tokens)]


def _alternatives(token: dict[str, Any]) -> list[Any]:
    return [_entry(alternative) for alternative in _dicts(token.get("top_logprobs"))]


def _entry(raw: dict[str, Any]) -> dict[str, Any]:
    """Chat backends say null for `bytes`, which clients of the Responses API cannot read."""
    token = raw.get("token")
    token = mend(token) if isinstance(token, str) else ""
    logprob, sent = raw.get("logprob"), raw.get("bytes")
    return {
        "token": token,
        "logprob": logprob if isinstance(logprob, int | float) else None,
        "bytes": [b for b in sent if isinstance(b, int)] if isinstance(sent, list) else list(token.encode()),
    }


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
