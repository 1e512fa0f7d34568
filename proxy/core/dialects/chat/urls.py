"""Where a Chat backend is asked: at one address for all models."""

from urllib.parse import urlsplit, urlunsplit

from proxy.core.backends.target import MODELS, Target, below

TOKENIZE = "/tokenize"


def reply_url(target: Target, model: str) -> str:
    return below(target, target.profile.path)


def models_url(target: Target) -> str:
    return below(target, MODELS)


def count_url(target: Target, model: str) -> str:
    """llama.cpp counts the tokens of a path's requests below that path."""
    return below(target, f"{target.profile.path}/input_tokens")


def tokenize_url(target: Target, model: str) -> str:
    return below(target, TOKENIZE)


def root_tokenize_url(target: Target, model: str) -> str:
    """vLLM has it beside the version, not below it."""
    url = urlsplit(tokenize_url(target, model))
    root = url.path.removesuffix(TOKENIZE).removesuffix(target.profile.root)
    return urlunsplit(url._replace(path=root + TOKENIZE))
