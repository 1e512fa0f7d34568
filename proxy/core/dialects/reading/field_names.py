"""Which field of the client's request a backend means when it complains about one of its own.

We wrote the backend's request from the client's, so places inside lists do not agree: an item is not a message, and
the third tool here may be the fifth there. Those are named without their place.
"""

import re

from proxy.core.dialects.reading.error_body import ErrorBody

NAMES = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "response_format": "text.format",
    "verbosity": "text.verbosity",
    "reasoning_effort": "reasoning.effort",
    "thinking": "reasoning.effort",
    "enable_thinking": "reasoning.effort",
    "thinking_budget": "reasoning.effort",
    "chat_template_kwargs": "reasoning.effort",
    "reasoning": "reasoning.effort",
    "functions": "tools",
    "tools": "tools",
    "function_call": "tool_choice",
    "tool_choice": "tool_choice",
    "logprobs": "top_logprobs",
}
"""Every other field has the same name on both sides."""

_NAMED = re.compile(
    r"""
    (?: property
      | unsupported\ parameter(?:\(s\))?:
      | unknown\ parameter:
      | unrecognized\ request\ argument\ supplied:
      | does\ not\ support\ parameter
      | field:
      | \bloc\\?['"]?:\ ?[(\[]\\?['"]body\\?['"],      # pydantic's, as FastAPI and others print it
      | \d\ validation\ errors?\ for\ \w{1,80}
    )
    \s*\\?['"`]?(?P<name>[A-Za-z_][\w.\[\]]*)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Backends name a field that they refuse in these words, if they do not say it in `param`."""
_FIELD = re.compile(r"\w{1,64}")


def client_name(error: ErrorBody) -> str | None:
    name = error.param
    if name is None and (named := _NAMED.search(error.message)):
        name = named["name"]
    field = _FIELD.match(name or "")
    return NAMES.get(field[0], field[0]) if field else None
