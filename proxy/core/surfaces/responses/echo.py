"""The echo: which members of a request come back in its response, and in which form.

It is made of the request as the client sent it, not of what was read out of it: what came as 1.0 goes back as 1.0. The
body has been checked by then, so nothing here is in doubt. Which tools are offered is decided by `tools`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from proxy.core import jsontext
from proxy.core.caches.consequences import found_of
from proxy.core.model import ToolKind, ToolSpec
from proxy.core.surfaces.reading.tool_choice import MODES
from proxy.core.surfaces.responses.tools import is_offered

ECHO_DEFAULTS: dict[str, Any] = {
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "safety_identifier": None,
    "temperature": 1.0,
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
"""Request members that come back as they were sent, each with its default."""

LABELS = ("prompt_cache_retention", "user")
"""More of them, which only OpenAI's object has. They are not checked, and come back if they were sent."""

ECHO = "echo"
"""What is found of tools here."""

CALLED: frozenset[str] = frozenset(ToolKind)


def echoed(
    body: Mapping[str, Any], run: Callable[[], Collection[str]] = tuple, declared: Sequence[ToolSpec] = ()
) -> dict[str, Any]:
    """Only what was sent: a response has a default for the rest. `run`: returns the types of tools that the backend
    runs. `declared`: the tools as they were read, also with regard to `run`."""
    echo: dict[str, Any] = {}
    for name, value in body.items():
        if value is None:
            continue
        if name in ECHO_DEFAULTS:
            echo[name] = value
        elif name == "tools":
            echo[name] = found_of(declared, ECHO, partial(_echo_tools, value, run()))
        elif name in ECHOES:
            echo[name] = ECHOES[name](value)
        elif name in LABELS and isinstance(value, str):
            echo[name] = value
    return echo


def _echo_reasoning(reasoning: Any) -> dict[str, Any] | None:
    if not reasoning:
        return None
    return {"effort": reasoning.get("effort"), "summary": reasoning.get("summary")}


def _echo_text(text: Any) -> dict[str, Any]:
    wanted = text.get("format") or {"type": "text"}
    if wanted["type"] == "json_schema":
        wanted = {
            "type": "json_schema",
            "name": wanted.get("name"),
            "description": wanted.get("description"),
            "schema": wanted.get("schema"),
            "strict": bool(wanted.get("strict")),
        }
    echo = {"format": wanted}
    return echo | {"verbosity": text["verbosity"]} if text.get("verbosity") else echo


SECRETS = frozenset({"authorization", "headers"})
"""Members of a hosted tool that are for its server alone: a response may be kept, and shown to others."""


def _echo_tools(tools: Any, run: Collection[str]) -> orjson.Fragment:
    """Hosted tools that nobody runs were filtered out of the request; an echo would claim that they work."""
    echoes = [_echo_tool(tool) for tool in tools if is_offered(tool, run)]
    return jsontext.written([_without_secrets(tool) if tool["type"] in run else tool for tool in echoes])


def _without_secrets(tool: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in tool.items() if name not in SECRETS}


def _flat(raw: dict[str, Any]) -> dict[str, Any]:
    """The object without the additional level of the Chat form."""
    kind = raw["type"]
    inner = raw.get(kind)
    return {"type": kind, **inner} if isinstance(inner, dict) else raw


def _echo_tool(tool: Any) -> dict[str, Any]:
    flat = _flat(tool)
    if flat["type"] != "function":
        return flat
    return {
        "type": "function",
        "name": flat["name"],
        "description": flat.get("description"),
        "parameters": flat.get("parameters"),
        "strict": flat.get("strict"),
    }


def _echo_choice(choice: Any) -> Any:
    """The choice in the specification's form, whichever form the request used, and without hosted tools."""
    if not isinstance(choice, dict):
        return choice
    kind = choice["type"]
    if kind in MODES:
        return kind
    if kind != "allowed_tools":
        return _flat(choice) if kind in CALLED else "auto"
    flat = _flat(choice)
    allowed = [_flat(tool) for tool in flat["tools"] if tool["type"] in CALLED]
    return {"type": kind, "mode": flat.get("mode") or "auto", "tools": allowed} if allowed else "none"


ECHOES: dict[str, Callable[[Any], Any]] = {
    "reasoning": _echo_reasoning,
    "text": _echo_text,
    "tool_choice": _echo_choice,
}
"""Request members that come back in one form, because clients may send them in several."""
