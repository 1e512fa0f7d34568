"""What clients cannot carry: reasoning that its backend wants back, remembered by the call it stood before.

Chat clients send their calls again, but nothing of the thoughts before them; some models refuse a call without its
thoughts, and all answer better with them. So they wait here, and rejoin the history when the call returns. What is
forgotten costs quality, never the request: every dialect has a way to do without.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proxy.core import jsontext
from proxy.core.events import Reply
from proxy.core.model import ASSISTANT, Call, Part, Reasoning, Request, Turn

Key = tuple[str, str]


MAX_BYTES = 64 << 20
"""Some ten thousand thoughts of a long day; the oldest are forgotten first."""

ENTRY_BYTES = 500
"""What one entry takes besides its words."""


@dataclass(slots=True)
class _Kept:
    lead: list[Reasoning]
    """Stood before the text that the model said before its first call; chat clients send that text again."""
    thoughts: list[Reasoning]
    """Stood right before the call."""
    backend_id: str | None
    """What the backend called the call: its own objects may speak of it."""
    size: int


class Recall:
    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()

    def keep(self, owner: str, reply: Reply) -> None:
        """`owner`: whose conversation it is; nobody gets another's thoughts by guessing a call's id."""
        lead: list[Reasoning] = []
        thoughts: list[Reasoning] = []
        called = False
        for ended in reply.parts:
            part = ended.part
            if isinstance(part, Reasoning):
                thoughts.append(part)
            elif isinstance(part, Call):
                called = True
                if lead or thoughts:
                    self._put((owner, part.call_id), lead, thoughts, part.backend_id)
                lead, thoughts = [], []
            elif not called:  # what is said after a call stands before it in a chat client's message
                lead += thoughts
                thoughts = []

    def completed(self, owner: str, request: Request) -> Request:
        """The request with the thoughts that its client did not send. The same object if there are none."""
        if not self._kept:
            return request
        turns = [self._with_thoughts(owner, turn) for turn in request.turns]
        changed = any(new is not old for new, old in zip(turns, request.turns, strict=True))
        return replace(request, turns=turns) if changed else request

    def _with_thoughts(self, owner: str, turn: Turn) -> Turn:
        if turn.role is not ASSISTANT or _carries(turn.parts):
            return turn
        parts: list[Part] = []
        recalled = False
        after_call = 0
        for part in turn.parts:
            if isinstance(part, Call) and (kept := self._get((owner, part.call_id))):
                said = [each for each in parts[after_call:] if not isinstance(each, Reasoning)]
                parts[after_call:] = [*kept.lead, *said, *kept.thoughts]  # the whole of what were words alone
                part = replace(part, backend_id=kept.backend_id)
                recalled = True
            parts.append(part)
            if isinstance(part, Call):
                after_call = len(parts)
        return Turn(turn.role, parts) if recalled else turn

    def _get(self, key: Key) -> _Kept | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def _put(
        self, key: Key, lead: list[Reasoning], thoughts: list[Reasoning], backend_id: str | None
    ) -> None:
        self._forget(key)
        size = ENTRY_BYTES + sum(
            len(each.text) + len(jsontext.dumps(each.extras)) for each in (*lead, *thoughts)
        )
        self._kept[key] = _Kept(lead, thoughts, backend_id, size)
        self._size += size
        while self._size > self._limit:
            self._forget(next(iter(self._kept)))

    def _forget(self, key: Key) -> None:
        if kept := self._kept.pop(key, None):
            self._size -= kept.size


def _carries(parts: Sequence[Part]) -> bool:
    """Does the client send what was given to it to keep?"""
    return any(isinstance(part, Reasoning) and part.extras for part in parts)
