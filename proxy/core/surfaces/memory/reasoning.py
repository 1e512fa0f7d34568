"""Reasoning that a backend wants back and a client cannot carry, remembered by the call that it stood before.

Chat clients send their calls again, but not the thoughts before them. Some models refuse a call without its thoughts,
and all answer better with them. The proxy keeps them here, and puts them back into the history when the call returns.
A thought that was forgotten costs quality, never the request: every dialect can do without.

Some clients do send the thoughts, in tags within the text, where no dialect expects them. A thought that is remembered
is removed from the text, because the model would read it twice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from proxy.core import jsontext
from proxy.core.caches.shelf import Shelf
from proxy.core.events import Reply
from proxy.core.model import ASSISTANT, Call, Part, Reasoning, Request, Text, Turn
from proxy.core.surfaces.memory.memos import NO_THOUGHTS, Thoughts, read_thoughts

Key = tuple[str, str]


MAX_BYTES = 64 << 20
"""Memory for some ten thousand thoughts."""

MOST_LACKING = 128
"""Calls of one request that are asked for: what was thought long ago matters little."""

TAGS = (("<think>", "</think>"), ("<thinking>", "</thinking>"))
"""Clients put these around a thought that they send as text."""

VISIBLE = re.compile(r"\S")

ENTRY_BYTES = 500
"""Memory that one entry takes besides its text."""


class ReasoningMemory:
    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._kept: Shelf[Key, Thoughts] = Shelf(limit)

    def keep(
        self, whose: str, reply: Reply, owner: str, *, wanted_back: bool = False
    ) -> Mapping[str, Thoughts]:
        """Remembers the thoughts of a reply, and returns them by the calls that they led to. `whose` conversation it
        is: nobody gets another's thoughts by guessing a call id. `owner`: whose share of the memory they take.
        `wanted_back`: the backend wants thoughts back, so a call without any is noted too, and never `lacking`."""
        found = {}
        for call_id, thoughts in _before_calls(reply):
            if thoughts.lead or thoughts.thoughts:
                found[call_id] = thoughts
            elif not wanted_back:
                continue
            self._put(owner, (whose, call_id), thoughts)
        return found

    def lacking(self, whose: str, request: Request) -> Sequence[str]:
        """The newest calls of the request whose thoughts its client did not send, and that are not known here."""
        unknown = [
            part.call_id
            for role, parts in request.turns
            if role is ASSISTANT and not _carries(parts)
            for part in parts
            if isinstance(part, Call) and self._kept.get((whose, part.call_id)) is None
        ]
        return unknown[-MOST_LACKING:]

    def learn(self, whose: str, memos: Mapping[str, bytes | None], request: Request, owner: str) -> None:
        """Remembers what another process has told of the calls of a request. `memos`: by the call; None if there is
        none, for the calls before the newest: the memo of that may still be on its way."""
        newest = {part.call_id for part in _last_said(request) if isinstance(part, Call)}
        for call_id, memo in memos.items():
            thoughts = None if memo is None else read_thoughts(memo)
            if thoughts is not None or call_id not in newest:
                self._put(owner, (whose, call_id), thoughts or NO_THOUGHTS)

    def restored_into(self, whose: str, request: Request) -> Request:
        """The request with the thoughts that its client did not send; the request itself if there are none."""
        if not self._kept:
            return request
        turns = [self._with_thoughts(whose, turn) for turn in request.turns]
        changed = any(new is not old for new, old in zip(turns, request.turns, strict=True))
        return replace(request, turns=turns) if changed else request

    def _with_thoughts(self, whose: str, turn: Turn) -> Turn:
        role, said = turn
        if role is not ASSISTANT or _carries(said):
            return turn
        parts: list[Part] = []
        recalled = False
        after_call = 0
        for part in said:
            if isinstance(part, Call) and (kept := self._thoughts(whose, part)):
                words = [each for each in parts[after_call:] if not isinstance(each, Reasoning)]
                spoken = _without(words, (*kept.lead, *kept.thoughts))
                parts[after_call:] = [
                    *kept.lead,
                    *spoken,
                    *kept.thoughts,
                ]  # the whole of what were words alone
                part = replace(part, backend_id=kept.backend_id)
                recalled = True
            parts.append(part)
            if isinstance(part, Call):
                after_call = len(parts)
        return (role, parts) if recalled else turn

    def _thoughts(self, whose: str, call: Call) -> Thoughts | None:
        kept = self._kept.get((whose, call.call_id))
        return kept if kept and (kept.lead or kept.thoughts) else None

    def _put(self, owner: str, key: Key, kept: Thoughts) -> None:
        ids = sum(map(len, key)) + len(kept.backend_id or "")
        thoughts = sum(
            len(each.text) + len(jsontext.dumps(each.extras)) for each in (*kept.lead, *kept.thoughts)
        )
        self._kept.put(owner, key, kept, ENTRY_BYTES + ids + thoughts)


def _before_calls(reply: Reply) -> Iterator[tuple[str, Thoughts]]:
    """Each call with what was thought before it."""
    lead: list[Reasoning] = []
    thoughts: list[Reasoning] = []
    called = False
    for ended in reply.parts:
        part = ended.part
        if isinstance(part, Reasoning):
            thoughts.append(part)
        elif isinstance(part, Call):
            called = True
            yield part.call_id, Thoughts(lead, thoughts, part.backend_id)
            lead, thoughts = [], []
        elif not called:  # what is said after a call stands before it in a chat client's message
            lead += thoughts
            thoughts = []


def _last_said(request: Request) -> Sequence[Part]:
    return next((parts for role, parts in reversed(request.turns) if role is ASSISTANT), ())


def _carries(parts: Sequence[Part]) -> bool:
    """Has the client sent back what it was given to keep?"""
    return any(isinstance(part, Reasoning) and part.extras for part in parts)


def _without(spoken: Sequence[Part], thoughts: Sequence[Reasoning]) -> Sequence[Part]:
    """The parts without the thoughts at their beginning, which stand there as one or one by one."""
    if not spoken or not isinstance(spoken[0], Text):
        return spoken
    text = spoken[0].text
    at = _behind(text, 0, "".join(each.text for each in thoughts).strip())
    for each in thoughts if at == 0 else ():
        if thought := each.text.strip():
            before, at = at, _behind(text, at, thought)
            if at == before:
                break
    if at == 0:
        return spoken
    return [replace(spoken[0], text=text[at:]), *spoken[1:]] if at < len(text) else spoken[1:]


def _behind(text: str, at: int, thought: str) -> int:
    """The position behind the thought, if it stands at `at` between tags; otherwise `at`."""
    for opener, closer in TAGS:
        if thought and text.startswith(opener, at):
            inner = _visible(text, at + len(opener))
            end = _visible(text, inner + len(thought))
            if text.startswith(thought, inner) and text.startswith(closer, end):
                return _visible(text, end + len(closer))
    return at


def _visible(text: str, at: int) -> int:
    found = VISIBLE.search(text, at)
    return found.start() if found else len(text)
