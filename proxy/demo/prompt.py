"""What the words of a prompt ask for: just enough that a natural prompt gets what it names."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

from proxy.demo.wire import ChatRequest, UserMessage

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")
CAPITALISED = re.compile(r"[A-ZÀ-Þ][\w'’-]*(?:[ \t]+[A-ZÀ-Þ][\w'’-]*)*")
AFTER_PREPOSITION = re.compile(r".*\b(?:in|for|of|at|about|near)\s+([^?.!\n]+)", re.IGNORECASE | re.DOTALL)
BETWEEN_SUBJECTS = re.compile(
    r"(?:(?<!\s)\s++)?+,\s*+(?:and\s++)?|(?<!\s)\s++(?:and|or|&)\s++", re.IGNORECASE
)

# Words that say nothing of what is wanted, and words that say it without being the subject.
GRAMMAR = frozenset(
    WORD.findall(
        "a about an and are at be both can could did do does for from get give has have hello here"
        " hey hi how i if in is it it's its let let's like make me my near no not now of on or"
        " please should some that the then there think this to today tomorrow use using want was"
        " what what's when where which who why will with would you your"
    )
)
OPENERS = GRAMMAR | frozenset(
    WORD.findall(
        "add ask call calls check compare describe explain fetch find json list look read refuse"
        " reply run say search show tell tool tools weather write"
    )
)
BROUGHT = "[returned by "
"""How each line begins of a message that brings what tools returned beside text: their results cannot hold that."""
MAX_SUBJECTS = 8
MAX_TEXT = 2000
"""More of a prompt is not read."""


def words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def is_said(message: Any) -> TypeGuard[UserMessage]:
    """Is this a message of the user's own, and not what a tool returned?"""
    if not isinstance(message, UserMessage):
        return False
    lines = message.text.splitlines()
    return not lines or not all(line.startswith(BROUGHT) for line in lines)


def said_by_user(request: ChatRequest) -> list[str]:
    return [message.text for message in request.messages if is_said(message)]


@dataclass(frozen=True)
class Prompt:
    text: str

    @classmethod
    def of(cls, request: ChatRequest) -> "Prompt":
        said = said_by_user(request)
        return cls(said[-1][:MAX_TEXT] if said else "")

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words(self.text))

    def says(self, *any_of: str) -> bool:
        return not self.words.isdisjoint(any_of)

    @cached_property
    def subjects(self) -> list[str]:
        """What the prompt is about: names ("Paris", "San Francisco"), else what follows its last preposition."""
        names = [name for run in CAPITALISED.findall(self.text) if (name := without_openers(run))]
        if not names and (tail := AFTER_PREPOSITION.match(self.text)):
            names = [name for part in BETWEEN_SUBJECTS.split(tail[1]) if (name := without_openers(part))]
        return list(dict.fromkeys(names))[:MAX_SUBJECTS]

    @cached_property
    def numbers(self) -> list[float]:
        return [float(number) for number in NUMBER.findall(self.text)]


def without_openers(run: str) -> str:
    return " ".join(word for word in run.split() if word.lower().rstrip("'’") not in OPENERS)
