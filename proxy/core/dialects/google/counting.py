"""How Gemini counts the tokens of a request."""

from collections.abc import Mapping

from proxy.core.backends.counter import Body, TokenCounter
from proxy.core.backends.listing import bare
from proxy.core.dialects.google.urls import count_url


def body(asked: Body, model: str) -> Body:
    """The whole request: the shorter form of the question counts neither instructions nor tools."""
    return {"generateContentRequest": {"model": f"models/{bare(model)}", **asked}}


COUNTERS: Mapping[str, TokenCounter] = {"google": TokenCounter(count_url, body, "totalTokens")}
