"""How the tokens of a request are counted by those servers that have a counter beside this API."""

from collections.abc import Mapping

from proxy.core.backends.counter import Body, TokenCounter, picked
from proxy.core.dialects.responses.urls import count_url

IN_PROMPT = (
    "model",
    "instructions",
    "input",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
)
"""The fields that the counter takes."""


def question(asked: Body, model: str) -> Body:
    return picked(asked, IN_PROMPT)


COUNTERS: Mapping[str, TokenCounter] = {"openai": TokenCounter(count_url, question, "input_tokens")}
