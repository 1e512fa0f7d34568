"""The words of this room: what a format is, and what reading one can come to.

A format is data plus one pure function. `read` gets all text from the opener on and says what stands there. It never
guesses, never raises, and does not know how the text was cut. For all formats alike, the scanner knows when to ask,
what to hold back, where code samples are, and which names were declared.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final


class Tier(Enum):
    ALWAYS = "on whenever the request declares tools"
    WRAPPED = "on, but only as a whole block with its wrapper"
    OPTIONAL = "off unless the backend's profile names it"


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools that the request declares, under the names that the backend knows: name → parameters schema."""

    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def declared(self, written: str) -> str | None:
        """Returns the declared name that a model means, without the affixes that models add. None if there is none."""
        if written in self.schemas:
            return written
        bare = written.strip().split("<|", 1)[0].strip()
        for name in (
            bare,
            bare.removeprefix("functions."),
            bare.removeprefix("functions.").rpartition(":")[0],
        ):
            if name in self.schemas:
                return name
        return None

    def schema(self, written: str) -> Mapping[str, Any]:
        """Returns the declared parameters of the tool that is meant, or an empty schema."""
        return self.schemas.get(self.declared(written) or "", {})


@dataclass(frozen=True, slots=True)
class Recovered:
    """One call found in text."""

    name: str
    """The name as the model wrote it. The scanner looks it up with `Tools.declared`."""
    arguments: str
    """One valid JSON object."""


@dataclass(frozen=True, slots=True)
class Block:
    """A complete piece of markup, from the opener up to `end`. Without calls it is a dangling tag, which is only
    taken out."""

    end: int
    calls: tuple[Recovered, ...]
    doubtful: bool = False
    """Does a value hold what would have ended it, so that the block may have swallowed what follows it?"""


class Waiting(Enum):
    MORE = "this may become a block, but it has not ended yet"
    FOREIGN = "the same, but it calls no declared tool, so that its text need not wait"


MORE: Final = Waiting.MORE
FOREIGN: Final = Waiting.FOREIGN
LONGEST_FOREIGN: Final = 4096
"""Characters that a section for several calls may hold before its first declared one."""

Verdict = Block | Waiting | None
"""None means that this is no block of the format, whatever may follow."""


def waiting(tools: Tools, names: Iterable[str], held: int, *, alone: bool = True) -> Waiting:
    """Says whether the text has to wait for the rest of a block that names these tools so far, and is `held` characters
    long. `alone` means that no other call can follow in it."""
    names = list(names)
    if not names or any(tools.declared(name) for name in names):
        return MORE
    return FOREIGN if alone or held >= LONGEST_FOREIGN else MORE


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    tier: Tier
    openers: tuple[str, ...]
    """Every literal that a block may begin with."""
    read: Callable[[str, int, bool, Tools], Verdict]
    """(text, position of the opener, has the text ended?, tools) → verdict. Linear in the text after the opener."""
    closers: tuple[str, ...]
    """`read` is worth calling when one of these has come, and when the text has ended."""
    behind: re.Pattern[str] | None = None
    """A pattern that must match right before the opener, where the opener alone says too little."""
    first: tuple[str, ...] = ()
    """More openers, which count at the very start of a reply only: elsewhere they are words."""
    leftovers: tuple[str, ...] = ()
    """What models write once too often right behind a block: its closers, or what closes several blocks."""
    native: bool = False
    """Is it made of special tokens, which no model uses to rehearse or to quote? Then a call in reasoning is a call
    at once."""
