"""Finite shapes: headers of calls as a sequence of parts, and the pattern of all that can still become one.

A stream has to be let go at the first character that contradicts the shape, and no later.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a shape, as two patterns."""

    whole: str
    begun: str
    """Matches every beginning of it, the empty one too."""


def literal(text: str) -> Part:
    begun = ""
    for sign in reversed(text[:-1]):
        begun = f"(?:{re.escape(sign)}{begun})?"
    return Part(re.escape(text), begun)


def signs(these: str, most: int, least: int = 1) -> Part:
    """So many signs of a class."""
    return Part(f"{these}{{{least},{most}}}", f"{these}{{0,{most}}}")


def blanks(most: int = 4) -> Part:
    return signs(r"\s", most, 0)


def named(name: str, part: Part) -> Part:
    return Part(f"(?P<{name}>{part.whole})", part.begun)


def sequence(*parts: Part) -> Part:
    return Part("".join(part.whole for part in parts), _begun(parts))


def maybe(*parts: Part) -> Part:
    return Part(f"(?:{sequence(*parts).whole})?", sequence(*parts).begun)


def either(*parts: Part) -> Part:
    return Part(
        f"(?:{'|'.join(part.whole for part in parts)})", f"(?:{'|'.join(part.begun for part in parts)})"
    )


def _begun(parts: tuple[Part, ...]) -> str:
    before, alternatives = "", []
    for part in parts:
        alternatives.append(before + part.begun)
        before += re.sub(r"\(\?P<\w+>", "(?:", part.whole)
    return f"(?:{'|'.join(alternatives)})"


@dataclass(frozen=True, slots=True)
class Shape:
    whole: re.Pattern[str]
    begun: re.Pattern[str]
    """Matches what may still become the whole when the text goes on."""


def shape(*parts: Part) -> Shape:
    one = sequence(*parts)
    return Shape(re.compile(one.whole), re.compile(rf"(?:{one.begun})\Z"))
