"""Parts that are nothing but text: an answer, reasoning, or a refusal.

Such a part begins with its first visible character. Models leave blank lines around thoughts and calls, and a message
of them alone would be one that nobody said; in front of words they are the model's own, and stay.
"""

from dataclasses import dataclass, field
from typing import Any

from proxy.core.events import PartKind
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning, Refusal, ReplyPart, Text

TEXT, REASONING = PartKind.TEXT, PartKind.REASONING
"""Looked up once: Python 3.11 is slow to find a member in its enumeration."""


@dataclass(slots=True)
class Prose:
    """Some text of a kind, on its way."""

    kind: PartKind
    text: str
    logprobs: list[Any] | None = None


@dataclass(slots=True)
class OpenProse:
    """The open part, while it grows."""

    kind: PartKind
    pieces: list[str] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)

    def add(self, text: str, logprobs: list[Any] | None) -> None:
        self.pieces.append(text)
        if logprobs:
            self.logprobs += logprobs

    def said(self) -> tuple[str, list[Any] | None]:
        """So far, in one piece."""
        return "".join(self.pieces), [*self.logprobs] or None

    def part(self) -> ReplyPart:
        text = "".join(self.pieces)
        if self.kind is TEXT:
            return Text(text, self.logprobs or None)
        return Refusal(text) if self.kind is PartKind.REFUSAL else Reasoning(text)


class Leading:
    """White space that may become the beginning of a part."""

    __slots__ = ("_ledger", "_prose")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._prose: OpenProse | None = None

    def grown(self, kind: PartKind, text: str, logprobs: list[Any] | None) -> OpenProse | None:
        """What can open by now, with more text of its kind."""
        prose = self._prose
        if prose is None or prose.kind is not kind:
            self.leave_out()
            prose = OpenProse(kind)
        prose.add(text, logprobs)
        self._prose = prose if text.isspace() else None
        return None if self._prose else prose

    def leave_out(self) -> None:
        """Something else comes instead."""
        if self._prose is not None:
            self._prose = None
            self._ledger.odd("blank_prose")
