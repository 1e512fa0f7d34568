"""How the Messages API counts the tokens of a request."""

from collections.abc import Mapping

from proxy.core.backends.counter import Body, TokenCounter, picked
from proxy.core.dialects.anthropic.urls import count_url

COUNTED = ("model", "system", "messages", "tools", "tool_choice", "thinking", "output_config")
"""The fields that its counter takes; it refuses all others."""


def body(asked: Body, model: str) -> Body:
    return picked(asked, COUNTED)


COUNTERS: Mapping[str, TokenCounter] = {"anthropic": TokenCounter(count_url, body, "input_tokens")}
