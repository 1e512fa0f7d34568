"""Writes the head of an HTTP message. aiohttp's own way costs as much as all the rest of a short answer."""

from collections.abc import Mapping


def head(first_line: str, headers: Mapping[str, str]) -> bytes:
    """Raises ValueError if a line end in a value would begin another header (S12, S13)."""
    if not "".join(headers.values()).isprintable():
        raise ValueError("A header's value holds control characters.")
    lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
    return f"{first_line}\r\n{''.join(lines)}\r\n".encode()
