"""What the bytes of a Chat reply show that its meaning does not: which field held a thought, how calls were numbered.

The decoder reads all spellings alike. A profile has to name one of them, so an examination looks at the spelling.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from proxy.core import jsontext
from proxy.core.errors import Garbled
from proxy.core.sse import STREAM_END, SseParser

THOUGHTS = ("reasoning_details", "reasoning_content", "reasoning", "reasoning_text")
"""Fields of thoughts, those first that say more than the others."""


@dataclass(slots=True)
class Spelling:
    thoughts: set[str] = field(default_factory=set)
    """Fields that held a thought."""
    proofs: bool = False
    """Did a call bring `extra_content`?"""
    other_choices: bool = False
    """Did calls stand in choices after the first?"""
    ids_change: bool = False
    """Had the fragments of one call several ids?"""

    def add(self, other: "Spelling") -> None:
        self.thoughts |= other.thoughts
        self.proofs |= other.proofs
        self.other_choices |= other.other_choices
        self.ids_change |= other.ids_change

    @property
    def thought_field(self) -> str | None:
        return next((name for name in THOUGHTS if name in self.thoughts), None)


def spelling_in(body: bytes) -> Spelling:
    """Reads a stream of chunks or one completion. What is neither has none."""
    spelling = Spelling()
    ids: dict[Any, set[str]] = {}
    for chunk in _objects(body):
        for choice in _dicts(chunk.get("choices")):
            message = choice.get("delta") or choice.get("message")
            if not isinstance(message, dict):
                continue
            spelling.thoughts |= {name for name in THOUGHTS if message.get(name)}
            for call in _dicts(message.get("tool_calls")):
                spelling.proofs |= bool(call.get("extra_content"))
                spelling.other_choices |= bool(choice.get("index"))
                _note_id(ids, call)
    spelling.ids_change = any(len(of_call) > 1 for of_call in ids.values())
    return spelling


def _note_id(ids: dict[Any, set[str]], call: dict[str, Any]) -> None:
    """Ids by the index of their call. A fragment with a name begins another call, whatever its index is."""
    index, call_id, function = call.get("index"), call.get("id"), call.get("function")
    if not isinstance(index, int):
        return
    if isinstance(function, dict) and function.get("name"):
        ids[len(ids), index] = ids.pop(index, set())  # what came before belongs to the call before
    if isinstance(call_id, str) and call_id:
        ids.setdefault(index, set()).add(call_id)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _objects(body: bytes) -> Iterator[dict[str, Any]]:
    pieces: list[bytes] = [body.strip()]
    if not pieces[0].startswith(b"{"):
        pieces = []
        parser = SseParser(lambda data, _: pieces.append(data))
        try:
            parser.feed(body)
            parser.close()
        except Garbled:
            return
    for piece in pieces:
        if piece == STREAM_END:
            continue
        try:
            value = jsontext.bounded(piece)
        except jsontext.BadJson:
            continue
        if isinstance(value, dict):
            yield value
