"""Where a Responses backend is asked: at one address for all models."""

from proxy.core.backends.target import MODELS, RESPONSES, Target, below


def reply_url(target: Target, model: str) -> str:
    return below(target, RESPONSES)


def models_url(target: Target) -> str:
    return below(target, MODELS)


def count_url(target: Target, model: str) -> str:
    """OpenAI counts the tokens of this path's requests below it, as llama.cpp does."""
    return below(target, f"{RESPONSES}/input_tokens")
