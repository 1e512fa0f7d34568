"""One HTTP request to a backend, whichever language it speaks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.target import Target

DIGESTED = 1 << 20
"""Bytes. To digest them takes a millisecond."""


@dataclass(slots=True)
class Post:
    url: str
    headers: Mapping[str, str] = field(repr=False)
    """They hold the key."""
    body: bytes = field(repr=False)

    def digest(self) -> bytes:
        """Identifies the same request without keeping its words. For a very large one, its beginning and its end are
        enough."""
        first, last = self.body[:DIGESTED], self.body[DIGESTED:][-DIGESTED:]
        length = len(self.body).to_bytes(8)
        return blake2b(first + last + length, digest_size=16).digest()


def post(target: Target, url: str, body: dict[str, Any]) -> Post:
    """Makes the headers from our own and the configured ones; it never passes a client's headers on. The body lives as
    long as the reply, which it may be needed for again."""
    return Post(url, target.post_head, jsontext.tight(jsontext.dumps(body)))
