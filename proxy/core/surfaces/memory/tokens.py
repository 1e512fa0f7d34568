"""Signed tokens that clients keep for the proxy, which believes them only if they come back unchanged.

A backend wants back what the Responses API has no field for: the exact reasoning, with a vendor's own objects. Codex
drops members that it does not know, but it keeps `encrypted_content`, so the token stands there. It is compressed, and
not encrypted, because the client sees the reasoning anyway. It must be authentic: a forged token could put words into a
model's mouth, or unpack to gigabytes. Each token is one tenant's own and for one purpose, and the tokens of a request
share one budget.
"""

import hmac
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any

from proxy.core import jsontext
from proxy.core.extras import are_extras
from proxy.core.model import Reasoning

PREFIX = "rp1."
"""Marks the proxy's own tokens, and this version of their form."""

MAX_HELD = 16 << 20
"""Bytes that the tokens of one request hold when unpacked. A token counts as often as it occurs, because it is sent to
the backend as often. A body of 64 MiB full of real thoughts stays below the limit."""

MAX_IDS = 1 << 20
"""Bytes of an unpacked map of call ids. A request has two at most, and the longest is shorter."""

MAX_DEPTH = 128
"""Levels of nesting. What a backend wants back may have 100 of them, and some stand around it."""

PROOF_BYTES = 16
"""128 bits are beyond guessing, and keep the token short."""

REASONING, SUMMARY, CALL_IDS = "reasoning", "summary", "call_ids"

Held = dict[str, Any]


class TokenSigner:
    __slots__ = ("_key", "_tenants")

    def __init__(self, secret: str) -> None:
        """`secret` must survive restarts; otherwise earlier conversations lose their reasoning."""
        self._key = _derived(b"responses-proxy", secret)
        self._tenants: dict[str, TokenSigner] = {}

    def of(self, tenant: str) -> "TokenSigner":
        """The tenant's own signer, which accepts no other tenant's tokens. There are as many as tenants."""
        its = self._tenants.get(tenant)
        if its is None:
            its = self._tenants[tenant] = object.__new__(TokenSigner)
            its._key, its._tenants = _derived(self._key, tenant), {}
        return its

    def reasoning(self, thought: Reasoning) -> str:
        return self._token(REASONING, {"text": thought.text, "extras": thought.extras})

    def summary(self, text: str) -> str:
        return self._token(SUMMARY, {"text": text})

    def call_ids(self, held: Held) -> str:
        return self._token(CALL_IDS, held)

    def read_call_ids(self, token: str) -> Held | None:
        """None for a token that the proxy did not make, or that was changed."""
        text = _unpacked(self.proven(CALL_IDS, token), MAX_IDS)
        return _shaped(CALL_IDS, text)

    def reader(self) -> "TokenReader":
        """A reader for the tokens of one request."""
        return TokenReader(self)

    def _token(self, kind: str, held: Held) -> str:
        packed = zlib.compress(jsontext.dumps(held))
        return PREFIX + urlsafe_b64encode(self._proof(kind, packed) + packed).decode().rstrip("=")

    def proven(self, kind: str, token: str) -> bytes | None:
        """The packed content of an authentic token."""
        if not token.startswith(PREFIX):
            return None
        coded = token.removeprefix(PREFIX)
        try:
            whole = urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
        except ValueError:
            return None
        proof, packed = whole[:PROOF_BYTES], whole[PROOF_BYTES:]
        return packed if hmac.compare_digest(proof, self._proof(kind, packed)) else None

    def _proof(self, kind: str, packed: bytes) -> bytes:
        """Signs the kind too: a summary cannot come back as reasoning."""
        return hmac.digest(self._key, kind.encode() + b"\0" + packed, "sha256")[:PROOF_BYTES]


class TokenReader:
    __slots__ = ("_left", "_read", "_signer")

    def __init__(self, signer: TokenSigner) -> None:
        self._signer = signer
        self._left = MAX_HELD
        self._read: dict[tuple[str, bytes], tuple[int, Held | None]] = {}

    def reasoning(self, token: str) -> Reasoning | None:
        """None for a token that the proxy did not make, that was changed, or that exceeds the budget."""
        held = self._open(REASONING, token)
        return None if held is None else Reasoning(held["text"], held["extras"])

    def summary(self, token: str) -> str | None:
        held = self._open(SUMMARY, token)
        return None if held is None else held["text"]

    def _open(self, kind: str, token: str) -> Held | None:
        packed = self._signer.proven(kind, token)
        if packed is None:
            return None
        known = self._read.get((kind, packed))
        if known is None:
            text = _unpacked(packed, self._left)
            known = self._read[kind, packed] = (len(text or b""), _shaped(kind, text))
        size, held = known
        if held is None or size > self._left:
            return None
        self._left -= size
        return held


def _derived(key: bytes, label: str) -> bytes:
    return hmac.digest(key, label.encode("utf-8", "surrogatepass"), "sha256")


def _unpacked(packed: bytes | None, limit: int) -> bytes | None:
    if packed is None:
        return None
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, limit + 1)
    except zlib.error:
        return None
    return text if unpacking.eof and len(text) <= limit else None


# ── shapes: what was held is as its readers expect it, whichever version of the proxy has signed it ──


def _shaped(kind: str, text: bytes | None) -> Held | None:
    if text is None:
        return None
    try:
        held = jsontext.strict(text)
    except ValueError:
        return None
    if not isinstance(held, dict) or jsontext.deeper_than(held, MAX_DEPTH):
        return None
    return held if all(fits(held.get(name)) for name, fits in SHAPES[kind].items()) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_ids(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


SHAPES: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    REASONING: {"text": _is_text, "extras": are_extras},
    SUMMARY: {"text": _is_text},
    CALL_IDS: {"ids": _are_ids, "forgetful": _is_switch},
}
