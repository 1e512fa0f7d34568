"""One HTTP request to a backend, whichever language it speaks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.target import Target

LONG = 1 << 13
"""Bytes. Of a longer request not each of them is looked at to know it again: a stream that begins should not wait."""
ENDS, SAMPLED = 1 << 10, 61
"""The bytes at its beginning and at its end that are, and of how many others one is."""


@dataclass(slots=True)
class Post:
    url: str
    headers: Mapping[str, str] = field(repr=False)
    """They hold the key."""
    body: bytes = field(repr=False)
    _digest: bytes = field(default=b"", repr=False)

    def let_go(self) -> None:
        """Its reply has begun, and it is not sent again: there stays what identifies it."""
        self._digest, self.body = self.digest(), b""

    def digest(self) -> bytes:
        """Identifies the same request without keeping its words."""
        return self._digest or blake2b(self._sampled(), digest_size=16).digest()

    def _sampled(self) -> bytes:
        body = self.body
        if len(body) <= LONG:
            return body
        return b"".join((len(body).to_bytes(8), body[:ENDS], body[::SAMPLED], body[-ENDS:]))


def post(target: Target, url: str, body: dict[str, Any]) -> Post:
    """Makes the headers from our own and the configured ones; it never passes a client's headers on. The body lives
    until the reply begins, and may be needed again."""
    return Post(url, target.post_head, jsontext.tight(jsontext.dumps(body)))
