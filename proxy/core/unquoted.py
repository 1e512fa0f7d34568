"""What stands outside of the strings of a JSON text, where its values, names and numbers can be counted.

A long text is read in pieces, so that others run in between, and no copy of it is held.
"""

from collections.abc import Iterator

PIECE_BYTES = 1 << 16
QUOTE, BACKSLASH = b'"', b"\\"

OPENERS = (b",", b"[", b"{", QUOTE)
"""Each value but the first of its list or object has a comma before it, each list and object begins with a bracket, and
each name, or value that is a text, has quotation marks. To count them costs next to nothing."""


def unquoted(text: bytes) -> Iterator[bytes]:
    """Yields it in pieces. In place of each string stands a quotation mark."""
    at, inside = 0, 0
    while at < len(text):
        piece = text[at : at + PIECE_BYTES]
        if (len(piece) - len(piece.rstrip(BACKSLASH))) % 2:  # what it escapes belongs to it
            piece = text[at : at + PIECE_BYTES + 1]
        at += len(piece)
        parts = piece.replace(BACKSLASH * 2, b"").replace(BACKSLASH + QUOTE, b"").split(QUOTE)
        ends_one = inside and len(parts) > 1
        yield (QUOTE if ends_one else b"") + QUOTE.join(parts[inside::2])
        inside = (inside + len(parts) - 1) % 2


def has_more_values(text: bytes, limit: int) -> bool:
    """Has the text more than so many values, lists, objects and names? Strings do not count. But if there are few
    enough inside and outside of strings together, they need not be separated."""
    if len(text) <= limit or _count(text) <= limit:
        return False
    count = 0
    for piece in unquoted(text):
        count += _count(piece)
        if count > limit:
            return True
    return False


def _count(text: bytes) -> int:
    return sum(text.count(opener) for opener in OPENERS)
