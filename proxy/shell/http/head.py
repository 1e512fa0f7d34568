"""Writes the head of an HTTP message. aiohttp's own way costs as much as all the rest of a short answer."""

from collections.abc import Mapping

END = b"\r\n"
"""The empty line behind a head."""


def fields(headers: Mapping[str, str]) -> bytes:
    """Raises ValueError if a line end in a value would begin another header (S12, S13)."""
    if not "".join(headers.values()).isprintable():
        raise ValueError("A header's value holds control characters.")
    return "".join([f"{name}: {value}\r\n" for name, value in headers.items()]).encode()


def opening(first_line: str, headers: Mapping[str, str]) -> bytes:
    """The beginning of a head, to which other fields may be added, and an end."""
    return f"{first_line}\r\n".encode() + fields(headers)


def whole(opening: bytes, first: str, others: Mapping[str, str], last: str) -> bytes:
    """A head to its end. `first` and `last` are lines of our own, which need no check."""
    checked = fields(others) if others else b""
    return b"%b%b%b%b%b" % (opening, first.encode(), checked, last.encode(), END)
