"""Finite shapes: headers of calls as a sequence of parts, and the pattern of all that can still become one.

A stream has to be let go at the first character that contradicts the shape, and no later.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ShapePart:
    """A piece of a shape, as two patterns."""

    whole: str
    begun: str
    """Matches every beginning of it, the empty one too."""


def literal(text: str) -> ShapePart:
    begun = ""
    for sign in reversed(text[:-1]):
        begun = f"(?:{re.escape(sign)}{begun})?"
    return ShapePart(re.escape(text), begun)


def signs(these: str, most: int, least: int = 1) -> ShapePart:
    """So many signs of a class."""
    return ShapePart(f"{these}{{{least},{most}}}", f"{these}{{0,{most}}}")


def blanks(most: int = 4) -> ShapePart:
    return signs(r"\s", most, 0)


def named(name: str, part: ShapePart) -> ShapePart:
    return ShapePart(f"(?P<{name}>{part.whole})", part.begun)


def sequence(*parts: ShapePart) -> ShapePart:
    return ShapePart("".join(part.whole for part in parts), _begun(parts))


def maybe(*parts: ShapePart) -> ShapePart:
    return ShapePart(f"(?:{sequence(*parts).whole})?", sequence(*parts).begun)


def either(*parts: ShapePart) -> ShapePart:
    return ShapePart(
        f"(?:{'|'.join(part.whole for part in parts)})", f"(?:{'|'.join(part.begun for part in parts)})"
    )


def _begun(parts: tuple[ShapePart, ...]) -> str:
    before, alternatives = "", []
    for part in parts:
        alternatives.append(before + part.begun)
        before += re.sub(r"\(\?P<\w+>", "(?:", part.whole)
    return f"(?:{'|'.join(alternatives)})"


_NOTHING: Final = ShapePart("", "")
_BLANK: Final = signs(r"[^\S\n]", 8, 0)


def value(tail: ShapePart = _NOTHING) -> ShapePart:
    """What a tag assigns: a word, whose quotation marks may be missing, or several between such marks. `tail` is what
    may follow within them. What is neither is prose about the tag."""
    quoted = (
        sequence(literal(mark), signs(rf"[^{mark}<>\n]", 200, 0), tail, literal(mark)) for mark in "\"'"
    )
    mark = signs("[\"']", 1, 0)
    return either(*quoted, sequence(mark, signs(r"[^\s<>{}\"'`]", 200), tail, mark))


def assigned(what: ShapePart) -> ShapePart:
    return sequence(_BLANK, literal("="), _BLANK, what, _BLANK)


KEY: Final = signs(r"[\w:.-]", 40)
_MORE: Final = 3
"""Attributes that a tag may have besides its first."""


def attributes(first: ShapePart, what: ShapePart) -> ShapePart:
    """` FIRST="..."`, perhaps more of them, and the slash of a tag that is closed in itself."""
    more = (maybe(KEY, assigned(what)) for _ in range(_MORE))
    return sequence(signs(r"\s", 8), first, assigned(what), *more, signs("/", 1, 0), _BLANK)


def plain(tag: str) -> ShapePart:
    """A tag without attributes, which may have blanks before its last sign."""
    return sequence(literal(tag[:-1]), signs(r"\s", 8, 0), literal(tag[-1]))


def begun(*tags: ShapePart) -> re.Pattern[str]:
    """Matches what may still become one of them at the end of a text."""
    return re.compile(rf"(?:{either(*tags).begun})\Z")


def any_tag(what: ShapePart) -> ShapePart:
    about = either(assigned(what), attributes(KEY, what), signs(r"\s", 8, 0))
    return sequence(literal("<"), signs("/", 1, 0), signs(r"[\w:-]", 40), about, literal(">"))


TAG_BEGUN: Final = begun(any_tag(value()))


@dataclass(frozen=True, slots=True)
class Shape:
    whole: re.Pattern[str]
    begun: re.Pattern[str]
    """Matches what may still become the whole when the text goes on."""


def shape(*parts: ShapePart) -> Shape:
    one = sequence(*parts)
    return Shape(re.compile(one.whole), re.compile(rf"(?:{one.begun})\Z"))
