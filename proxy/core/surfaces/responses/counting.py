"""A request whose tokens are to be counted, as the turn that it would be."""

from typing import Any

from proxy.core.stored.faults import CONVERSATION, PREVIOUS

READ = (
    "model",
    "input",
    "instructions",
    PREVIOUS,
    CONVERSATION,
    "prompt",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "truncation",
)
"""The fields of a turn that a count reads. `prompt` is among them because it is refused."""

INSTEAD = ("instructions", PREVIOUS, CONVERSATION)
"""Fields that give a count something to do where the input is left out."""


def requested(body: Any) -> Any:
    """The turn, which keeps nothing and takes no lock. Its errors are found when it is read."""
    if not isinstance(body, dict):
        return body
    turn = {name: body[name] for name in READ if name in body} | {"store": False}
    if turn.get("input") is None and any(turn.get(name) is not None for name in INSTEAD):
        turn["input"] = []
    return turn


def counted(tokens: int) -> dict[str, Any]:
    return {"object": "response.input_tokens", "input_tokens": tokens}
