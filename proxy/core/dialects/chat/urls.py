"""Where a Chat backend is asked: at one address for all models."""

from proxy.core.backends.target import MODELS, Target, below


def reply_url(target: Target, model: str) -> str:
    return below(target, target.profile.path)


def models_url(target: Target) -> str:
    return below(target, MODELS)
