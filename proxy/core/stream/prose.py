"""Parts that are nothing but text: an answer, reasoning, or a refusal."""

from dataclasses import dataclass, field
from typing import Any

from proxy.core.events import PartKind
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

    def part(self) -> ReplyPart:
        text = "".join(self.pieces)
        if self.kind is TEXT:
            return Text(text, self.logprobs or None)
        return Refusal(text) if self.kind is PartKind.REFUSAL else Reasoning(text)
