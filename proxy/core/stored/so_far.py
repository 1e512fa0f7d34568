"""The output of a response that is not finished, out of the events that were told of it.

Whoever cancels it, on whatever process, finds in its log what it has said until then.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from proxy.core import jsontext

Json = dict[str, Any]

PARTS: Final[Mapping[str, str]] = {
    "response.content_part.added": "content",
    "response.reasoning_summary_part.added": "summary",
}
"""Events that open the part of an item, each with the member that the part belongs to."""

DELTAS: Final = frozenset(
    {
        "response.custom_tool_call_input.delta",
        "response.function_call_arguments.delta",
        "response.output_text.delta",
        "response.reasoning_summary_text.delta",
        "response.refusal.delta",
    }
)


class OutputSoFar:
    __slots__ = ("_items", "_pieces")

    def __init__(self, events: Iterable[bytes] = ()) -> None:
        """`events`: each as the JSON that its client gets, from the first one on."""
        self._items: dict[int, Json] = {}
        self._pieces: dict[int, list[str]] = {}
        """The text of each item that is open. An item has one part at most."""
        for event in events:
            self.feed(event)

    def feed(self, event: bytes) -> None:
        fields = jsontext.quick(event)
        kind, index = fields["type"], fields.get("output_index")
        if kind == "response.output_item.added":
            self._items[index] = fields["item"]
            self._pieces[index] = []
        elif kind == "response.output_item.done":
            self._items[index] = fields["item"]
            self._pieces.pop(index, None)
        elif kind in PARTS:
            self._items[index][PARTS[kind]] = [fields["part"]]
        elif kind in DELTAS:
            self._pieces[index].append(fields["delta"])

    def finished(self) -> bytes:
        """The items that are done, as a JSON list."""
        return jsontext.dumps(
            [self._items[index] for index in sorted(self._items.keys() - self._pieces.keys())]
        )

    def cut(self) -> bytes:
        """All items as they are left, the open ones as `incomplete`."""
        return jsontext.dumps([self._as_left(index) for index in sorted(self._items)])

    def _as_left(self, index: int) -> Json:
        item = self._items[index]
        if index not in self._pieces:
            return item
        left = item | {"status": "incomplete"}
        if with_text := WITH_TEXT.get(item["type"]):
            left |= with_text(item, "".join(self._pieces[index]))
        return left


def _message(item: Json, text: str) -> Json:
    return {"content": [part | {_member_of(part): text} for part in item["content"]]}


def _member_of(part: Json) -> str:
    return "refusal" if part["type"] == "refusal" else "text"


WITH_TEXT: Final[Mapping[str, Callable[[Json, str], Json]]] = {
    "custom_tool_call": lambda item, text: {"input": text},
    "function_call": lambda item, text: {"arguments": text},
    "message": _message,
    "reasoning": lambda item, text: {"summary": [part | {"text": text} for part in item["summary"]]},
}
"""How an item that is open holds its text, by its type. Others are told in one piece, when they are done."""
