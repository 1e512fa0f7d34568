"""Where a Responses backend is asked: at one address for all models."""

from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from proxy.core.backends.target import DEPLOYMENTS, MODELS, RESPONSES, Target, below

UNDATED = "/openai/v1"


def reply_url(target: Target, model: str) -> str:
    return below(_beside_deployments(target), RESPONSES)


def _beside_deployments(target: Target) -> Target:
    """Azure has this API beside the deployments of its resource, under a version that has no date."""
    url = urlsplit(target.base_url)
    before, found, _ = url.path.partition(DEPLOYMENTS)
    if not found:
        return target
    base = urlunsplit((url.scheme, url.netloc, before + UNDATED, "", ""))
    return replace(target, base_url=base, profile=replace(target.profile, query={}))


def models_url(target: Target) -> str:
    return below(target, MODELS)


def count_url(target: Target, model: str) -> str:
    """OpenAI counts the tokens of this path's requests below it, as llama.cpp does."""
    return below(target, f"{RESPONSES}/input_tokens")
