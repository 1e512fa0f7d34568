"""What stands out in a request, in the order in which a person should look at it.

It is said in words what happened, and what to do. Whoever looks for a leaked call, a cut stream, a wrong schema or a
slow backend finds it here first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from proxy.core.events import Ending
from proxy.core.facts import RequestFacts
from proxy.core.inspected.fault_words import fault_words
from proxy.core.inspected.remark_words import loss, markup, oddity

LEFT: Final = 499
"""The status of a request whose client did not wait."""
LONG_QUEUE: Final = 1.0
LONG_HEAD: Final = 8.0
LONG_FIRST_BYTE: Final = 8.0
LONG_FIRST_TEXT: Final = 8.0
SLOW_TOKENS: Final = 8.0
"""Tokens per second; fewer than most people read."""
FEW_TOKENS: Final = 24
"""So few say nothing of the speed."""

LEAKS: Final = frozenset({"undeclared", "capped", "unread"})
"""What became of text that looks like a call, and that the client has seen as text."""


class Level(StrEnum):
    BAD = "bad"
    """The request failed, or its answer is worth less."""
    SLOW = "slow"
    ODD = "odd"
    """It went well, although something was strange."""
    NOTE = "note"


class Finding(NamedTuple):
    level: Level
    what: str
    advice: str = ""


@dataclass(slots=True, frozen=True)
class Waits:
    """The seconds of one attempt between one moment and the next; None for what has not happened."""

    backend: str
    queue: float | None = None
    connect: float | None = None
    first_byte: float | None = None
    first_text: float | None = None
    rest: float | None = None


@dataclass(slots=True, frozen=True)
class Noted:
    """What is known of a request."""

    status: int | None
    facts: RequestFacts
    oddities: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    markup: Mapping[str, int] = field(default_factory=dict)
    attempts: Sequence[Waits] = ()


INCOMPLETE: Final[Mapping[str, tuple[str, str]]] = {
    Ending.MAX_TOKENS: (
        "The reply is incomplete: the model reached the limit of tokens.",
        "The limit is that of the request (max_output_tokens), of the backend, or what the model's window had left.",
    ),
    Ending.FILTERED: (
        "The reply is incomplete: a content filter stopped it.",
        "The filter is the backend's: another prompt, another model, or its settings help.",
    ),
}


def findings(noted: Noted) -> list[Finding]:
    return [
        *_ending(noted),
        *_attempts(noted),
        *_waits(noted),
        *_markup(noted),
        *(Finding(Level.ODD, _times(oddity(name), times)) for name, times in noted.oddities.items()),
        *(
            Finding(Level.NOTE, _times(f"Not passed on. {loss(name)}", times))
            for name, times in noted.dropped.items()
        ),
    ]


def _ending(noted: Noted) -> list[Finding]:
    facts = noted.facts
    if noted.status == LEFT:
        return [
            Finding(
                Level.BAD,
                "The client left before the answer was complete.",
                "Its own time limit may be shorter than the backend's work, or somebody pressed stop.",
            )
        ]
    if "fault" in facts:
        words = fault_words(facts.get("code"), facts["fault"])
        parameter = f" The field is {facts['param']}." if "param" in facts else ""
        return [Finding(Level.BAD, words.what + parameter, words.advice)]
    if (cut := INCOMPLETE.get(facts.get("ending", ""))) is not None:
        return [Finding(Level.BAD, *cut)]
    return []


def _attempts(noted: Noted) -> list[Finding]:
    if len(noted.attempts) < 2:
        return []
    names = list(dict.fromkeys(waits.backend for waits in noted.attempts))
    whom = f"backends {', then '.join(names)}" if len(names) > 1 else _called(names[0])
    return [
        Finding(
            Level.ODD,
            f"It took {len(noted.attempts)} attempts, at the {whom}.",
            "The time line says how each of them ended.",
        )
    ]


def _waits(noted: Noted) -> list[Finding]:
    if not noted.attempts:
        return []
    waits = noted.attempts[-1]
    found = [
        Finding(Level.SLOW, f"{what.format(backend=_called(waits.backend))} {seconds:.1f} s.", advice)
        for seconds, most, what, advice in (
            (
                waits.queue,
                LONG_QUEUE,
                "The request waited for a place at the {backend}:",
                "All places were taken: see max_concurrent, or the load of the backend.",
            ),
            (
                waits.connect,
                LONG_HEAD,
                "The {backend} took long until it began to answer:",
                "It reads the prompt, loads the model, or has other work; or the network is slow.",
            ),
            (
                waits.first_byte,
                LONG_FIRST_BYTE,
                "The {backend} took long until the first byte of its answer:",
                "It reads the prompt, or has other work: a shorter history or a cache of prompts helps.",
            ),
            (
                waits.first_text,
                LONG_FIRST_TEXT,
                "The {backend} had begun to answer, but the model said nothing for",
                "Most servers begin their answer before the prompt is read.",
            ),
        )
        if seconds is not None and seconds >= most
    ]
    silent = sum(seconds or 0.0 for seconds in (waits.connect, waits.first_byte, waits.first_text))
    if not found and silent >= LONG_FIRST_TEXT and waits.first_text is not None:
        what = f"The {_called(waits.backend)} took long until the model said something: {silent:.1f} s."
        found.append(Finding(Level.SLOW, what, "The time line says what it waited for."))
    tokens = noted.facts.get("output_tokens", 0)
    if waits.rest and tokens >= FEW_TOKENS and tokens / waits.rest < SLOW_TOKENS:
        what = f"The {_called(waits.backend)} is slow: {tokens / waits.rest:.1f} tokens per second."
        found.append(Finding(Level.SLOW, what, "Compare it with the others of this backend."))
    return found


def _called(name: str) -> str:
    """The only backend has no name of its own."""
    return name if name == "backend" else f"backend {name}"


def _markup(noted: Noted) -> list[Finding]:
    found = []
    for name, times in noted.markup.items():
        leaks = name.partition(":")[0] in LEAKS
        advice = (
            "If it should have been a call, the client sees it as text: is the tool declared, and is the notation "
            "among markup_formats of the backend?"
            if leaks
            else ""
        )
        found.append(Finding(Level.BAD if leaks else Level.ODD, _times(markup(name), times), advice))
    return found


def _times(words: str, times: int) -> str:
    return words if times == 1 else f"{words} ({times} times)"
