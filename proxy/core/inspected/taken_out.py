"""What a text has that a shorter one lacks, which was made from it by leaving pieces out."""

from typing import Final, NamedTuple

SEARCHED: Final = (24, 8, 4)
"""Characters of the shorter text that are looked for behind a piece which it lacks: fewer, where there are no more."""
MOST_PIECES: Final = 500


class Piece(NamedTuple):
    text: str
    kept: bool
    """Is it in the shorter text, too?"""


def pieces(source: str, kept: str) -> list[Piece]:
    """The source in pieces. Blanks at the edge of what was left out may count on either side."""
    found: list[Piece] = []
    at = seen = 0
    while at < len(source) and len(found) < MOST_PIECES:
        length = _common(source, at, kept, seen)
        if length:
            found.append(Piece(source[at : at + length], kept=True))
            at, seen = at + length, seen + length
            continue
        end = _goes_on(source, at, kept, seen)
        found.append(Piece(source[at:end], kept=False))
        at = end
    if at < len(source):
        found.append(Piece(source[at:], kept=False))
    return found


def _goes_on(source: str, at: int, kept: str, seen: int) -> int:
    """Where the shorter text goes on in the longer one."""
    for length in SEARCHED if seen < len(kept) else ():
        if (found := source.find(kept[seen : seen + length], at)) >= 0:
            return found
    return len(source)


def _common(source: str, at: int, kept: str, seen: int) -> int:
    """The length of what both have from there on. It is found by steps that double and then halve, because texts are
    compared faster than characters, and no more of them than is the same."""
    low, step, most = 0, 64, min(len(source) - at, len(kept) - seen)
    while step:
        high = min(low + step, most)
        if high > low and source[at + low : at + high] == kept[seen + low : seen + high]:
            low, step = high, step * 2
        else:
            most, step = max(low, high - 1), step // 2 if high > low else 0
    return low
