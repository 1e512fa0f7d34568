"""A turn so far, sent again in front of the outputs of its tools.

With each step of a loop the AI SDK in a conversation and Semantic Kernel send its prompt, and the stateful agents of
Strands whatever was said and called since: what has no id is sent as often as they ask. A prompt behind its answer is
a new one for the model, which calls its tools again, and of two calls of one id only one has an output.
"""

from collections.abc import Iterator, Sequence, Set
from typing import Any

from proxy.core import jsontext
from proxy.core.stored.answered import Answered
from proxy.core.stored.kept_items import parts_of

Json = dict[str, Any]
Said = tuple[Any, ...]


def sent_again(items: Sequence[Any], history: Sequence[Json], answered: Answered, ids: Set[str]) -> Set[int]:
    """Which of a request's own items, by their places, are the newest of the history: all messages and calls in front
    of the last output that a call of the history waits for, or none. Those with one of its `ids` are known anyway."""
    if not history:
        return frozenset()
    last = max((at for at, item in enumerate(items) if answered.awaits(item)), default=0)
    again = [
        at
        for at, item in enumerate(items[:last])
        if not (answered.awaits(item) or answered.has(item) or _is_of(item, ids))
    ]
    newest = reversed(history)
    if all(_found(_said(items[at]), newest) for at in reversed(again)):
        return frozenset(again)
    return frozenset()


def _is_of(item: Any, ids: Set[str]) -> bool:
    return isinstance(item, dict) and isinstance(id := item.get("id"), str) and id in ids


def _found(said: Said | None, newest: Iterator[Json]) -> bool:
    """Goes back in the history to what was said: past what the model has said and called, but past no prompt."""
    for item in newest if said else ():
        there = _said(item)
        if there == said:
            return True
        if there and there[0] == "message" and there[1] != "assistant":
            return False
    return False


def _said(item: Any) -> Said | None:
    """Who says what in a message, or which tool is called with what. None for any other item."""
    if not isinstance(item, dict):
        return None
    kind = item.get("type", "message")
    if kind == "message":
        role, parts = item.get("role"), parts_of(item)
        return kind, role, _texts(parts) if role == "assistant" else parts
    if isinstance(kind, str) and kind.endswith("_call"):
        return kind, item.get("call_id"), item.get("name"), _read(item.get("arguments")), item.get("input")
    return None


def _texts(parts: Any) -> Any:
    """Reduces a model's words to their text, because clients leave out what else was told of them."""
    if not isinstance(parts, list):
        return parts
    return [part.get("text", part.get("refusal")) if isinstance(part, dict) else part for part in parts]


def _read(arguments: Any) -> Any:
    """Clients that have read them write them anew. What is nested too deep to be compared stays as it is written."""
    try:
        value = jsontext.loads(arguments) if isinstance(arguments, str) else None
    except jsontext.BadJson:
        return arguments
    return arguments if jsontext.deeper_than(value, jsontext.WRITABLE_DEPTH) else value
