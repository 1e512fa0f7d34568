"""Turns taken one after another, where a message is a list of parts, and a result has no field for its failure.

What comes out, whatever went in: instructions that open the conversation by themselves, and later ones as the backend
takes them; a user first, and last someone who wants an answer; neighbours of the user's as one message, where the
backend wants that; and what a result cannot hold right after all the results.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from proxy.core.dialects.writing import call_arguments
from proxy.core.dialects.writing.call_ids import CallIds
from proxy.core.dialects.writing.content_parts import ContentPart, ContentParts
from proxy.core.dialects.writing.failed_results import ERROR_PREFIX, says_error
from proxy.core.dialects.writing.notes import CONTINUE, MOVED, PARTS, as_instruction, returned_by
from proxy.core.ledger import Ledger
from proxy.core.model import ASSISTANT, TOOL, USER, Call, Part, Reasoning, Result, Turn, UserPart
from proxy.core.profile import BackendProfile
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tools.names import NameTable


class TurnWriter(ABC):
    """`flatten`: calls and results are told as text. `media_results`: a result can hold more than text."""

    def __init__(
        self,
        content: ContentParts,
        names: NameTable,
        profile: BackendProfile,
        model: str,
        ledger: Ledger,
        *,
        flatten: bool,
        media_results: bool = False,
    ) -> None:
        self._content = content
        self._names = names
        self._profile = profile
        self._model = model
        self._ledger = ledger
        self._flatten = flatten
        self._media_results = media_results
        self._ids = CallIds(profile.call_id)
        self._called: dict[str, str] = {}
        """Says what was called, by the client's call id."""
        self._system: list[str] = []
        self._messages: list[dict[str, Any]] = []
        self._speaker = ""
        """Who says the last of them."""
        self._blocks: list[list[ContentPart]] = []
        """The parts of each message that went into that one; none where it is no message."""
        self._joined: dict[int, list[list[ContentPart]]] = {}
        """The same of those, by their places, into which more than one went."""

    def take(self, turns: Sequence[Turn]) -> None:
        for role, parts in turns:
            if role is USER:
                self._user(self._readable(parts))
            elif role is ASSISTANT:
                self._assistant(parts)
            elif role is TOOL:
                self._results(parts)
            else:
                self._instruct(parts)
        if self._speaker not in ("user", "tool"):
            self._user([CONTINUE])
        for place, blocks in self._joined.items():
            self._messages[place]["content"] = self._content.content(blocks)

    @abstractmethod
    def _assistant(self, parts: Sequence[Part]) -> None: ...

    @abstractmethod
    def _answer(self, result: Result, contents: list[ContentPart]) -> None:
        """Writes a result. `contents`: as much of it as it can hold."""

    def _say(self, role: str, blocks: list[list[ContentPart]]) -> dict[str, Any]:
        """Begins a message."""
        message: dict[str, Any] = {"role": role, "content": self._content.content(blocks)}
        self._speaker, self._blocks = role, blocks
        self._messages.append(message)
        return message

    def _remark(self, words: str) -> None:
        """Begins a message in the model's name."""
        self._say("assistant", [[words]])

    def _join(self, blocks: list[list[ContentPart]]) -> None:
        """Goes on with the last message."""
        self._blocks += blocks
        self._joined[len(self._messages) - 1] = self._blocks

    def _other(self, part: Part) -> None:
        """Takes what has no place in a message."""
        self._ledger.drop("misplaced_part")

    # ── what the model is told ─────────────────────────────────────────────────────────────────────────────────

    def _instruct(self, parts: Sequence[Part]) -> None:
        words = PARTS.join([part for part in self._readable(parts) if isinstance(part, str)])
        if not words:
            return
        if not self._messages or self._profile.late_system == "merge":
            self._system.append(words)
        elif self._profile.late_system == "keep":
            self._say(self._profile.system_role, [[words]])
        else:
            self._user([as_instruction(words)])

    def _readable(self, parts: Sequence[Part]) -> list[ContentPart]:
        readable: list[ContentPart] = []
        for part in parts:
            if isinstance(part, str):
                if part:
                    readable.append(part)
            elif isinstance(part, UserPart):
                readable.append(self._content.of_user(part, self._profile, self._ledger))
            else:
                self._other(part)
        return readable

    def _user(self, block: list[ContentPart]) -> None:
        if not block:
            return
        if self._speaker == "user" and self._blocks and self._profile.join_users:
            self._join([block])
            return
        if self._speaker == "tool" and self._profile.after_tool:
            self._remark(self._profile.after_tool)
        self._say("user", [block])

    # ── what the model said ────────────────────────────────────────────────────────────────────────────────────

    def _as_called(self, call: Call) -> tuple[str, str]:
        """The name and the arguments of a call, as the backend knows them."""
        name = self._called[call.call_id] = self._names.upstream(call.tool, call.kind)
        translated = BRIDGES[call.kind].to_function
        return name, call_arguments.as_text(translated(call.arguments))

    def _forget(self, parts: Sequence[Part]) -> None:
        if any(isinstance(part, Reasoning) for part in parts):
            self._ledger.drop("reasoning")

    # ── what its tools returned ────────────────────────────────────────────────────────────────────────────────

    def _results(self, parts: Sequence[Part]) -> None:
        moved: list[ContentPart] = []
        for part in parts:
            if isinstance(part, Result):
                moved += self._result(part)
            else:
                self._ledger.drop("misplaced_part")
        if moved:
            self._user(moved)

    def _result(self, result: Result) -> list[ContentPart]:
        """Writes a result; returns what it cannot hold, for the user to say."""
        contents: list[ContentPart] = []
        shows = False
        for part in result.content:
            if isinstance(part, str):
                contents.append(part)
            else:
                contents.append(shown := self._content.of_tool(part, self._profile, self._ledger))
                shows = shows or not isinstance(shown, str)
        if result.is_error:
            contents = _marked(contents)
        if self._flatten:
            self._user([self._origin(result), *contents])
            return []
        if not shows or self._media_results:
            self._answer(result, contents)
            return []
        self._answer(result, [*(part for part in contents if isinstance(part, str)), MOVED])
        return [self._origin(result), *(part for part in contents if not isinstance(part, str))]

    def _origin(self, result: Result) -> str:
        return returned_by(self._called.get(result.call_id, "a tool"))


def _marked(contents: list[ContentPart]) -> list[ContentPart]:
    """Marks the result of a tool that failed: with no field for it, the words have to say it."""
    first = contents[0] if contents and isinstance(contents[0], str) else ""
    return contents if says_error(first) else [ERROR_PREFIX, *contents]
