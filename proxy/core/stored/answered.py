"""Which calls have their output already.

The AI SDK leaves out what has an id when it goes on in a conversation, and an output has none: it sends all outputs of
its loop again with each step. So does Semantic Kernel, which goes on from a response.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]
Answer = tuple[str, str]
"""The type of an output, and the call that it is for."""

OF_NO_MEANING = frozenset({"id", "status"})
"""Members in which what is kept differs from what was sent."""


class Answered:
    def __init__(self, history: Iterable[Json]) -> None:
        self._outputs: dict[Answer, Json] = {}
        self._waiting: Counter[str] = Counter()
        for item in history:
            if (answer := self.add(item)) is not None:
                self._outputs[answer] = item

    def add(self, item: Any) -> Answer | None:
        """One more item of the conversation. Which call it answers, if it does."""
        if not isinstance(item, dict) or not isinstance(call_id := item.get("call_id"), str):
            return None
        if (answer := _answer(item)) is None:
            self._waiting[call_id] += 1
        elif self._waiting[call_id]:
            self._waiting[call_id] -= 1
        return answer

    def awaits(self, item: Any) -> bool:
        """Is it the output of a call that has none?"""
        answer = _answer(item)
        return answer is not None and self._waiting[answer[1]] > 0

    def has(self, item: Any) -> bool:
        """Is it an output of the history, word for word, and no other call of its id waits for one? Some backends
        give each turn's call the same id."""
        answer = _answer(item)
        if answer is None or self.awaits(item):
            return False
        known = self._outputs.get(answer)
        return known is not None and _meaning(known) == _meaning(item)


def _answer(item: Any) -> Answer | None:
    if not isinstance(item, dict):
        return None
    kind, call_id = item.get("type"), item.get("call_id")
    if not isinstance(kind, str) or not isinstance(call_id, str) or not kind.endswith("_output"):
        return None
    return kind, call_id


def _meaning(item: Json) -> Json:
    return {name: value for name, value in item.items() if name not in OF_NO_MEANING}
