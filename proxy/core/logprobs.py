"""Finds the tokens of a reply that make up its text: backends list those of the thought before it too."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

LAST = 4
"""Tokens that may follow the text without being part of it: the model's marks for the end of its turn."""


def of_text(tokens: Sequence[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Returns the tokens of the text, which is at the end of all. Returns all tokens where the text is not found, so
    that none is lost."""
    pieces = [_bytes(token) for token in tokens]
    ends = list(accumulate(map(len, pieces)))
    joined, wanted = b"".join(pieces), text.encode(errors="replace")
    stop = next((end for end in ends[: -LAST - 1 : -1] if joined.endswith(wanted, 0, end)), None)
    if stop is None:
        return list(tokens)
    start = stop - len(wanted)
    return [
        token for token, end, piece in zip(tokens, ends, pieces, strict=True) if start < end <= stop and piece
    ]


def _bytes(token: dict[str, Any]) -> bytes:
    """Returns the bytes of a token. It may be part of a character, and then its text is a replacement."""
    raw, text = token.get("bytes"), token.get("token")
    if isinstance(raw, list):
        return bytes(byte for byte in raw if isinstance(byte, int) and 0 <= byte < 256)
    return text.encode(errors="replace") if isinstance(text, str) else b""
