"""What we give clients to keep for us: opaque tokens that come back unchanged, or are not believed.

Some of what a backend says has no place in the Responses API and is wanted back by the backend: the exact reasoning,
with the objects that a vendor insists on. Codex drops members that it does not know, but it keeps `encrypted_content`.
So it travels there, authenticated but not secret: a client sees the reasoning anyway.
"""

import hmac
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Any

from proxy.core import jsontext
from proxy.core.model import Reasoning

PREFIX = "rp1."
"""Tells our tokens from others', and this form from later ones."""

MAX_HELD = 16 << 20
"""Bytes in one token, unpacked. Far beyond any model's thoughts; whoever knows the secret cannot fill the memory."""

PROOF_BYTES = 16
"""128 bits: nobody guesses them, and a token is short."""

REASONING, SUMMARY, CALL_IDS = "reasoning", "summary", "call_ids"


class Seal:
    def __init__(self, secret: str) -> None:
        """`secret` must outlive restarts, or the conversations of before lose their reasoning."""
        self._key = sha256(secret.encode("utf-8", "surrogatepass")).digest()

    def reasoning(self, thought: Reasoning) -> str:
        return self._closed(REASONING, {"text": thought.text, "extras": thought.extras})

    def summary(self, text: str) -> str:
        return self._closed(SUMMARY, {"text": text})

    def call_ids(self, held: dict[str, Any]) -> str:
        return self._closed(CALL_IDS, held)

    def open_reasoning(self, token: str) -> Reasoning | None:
        """None for whatever is not ours, or no longer what it was."""
        held = self._opened(REASONING, token)
        return None if held is None else Reasoning(held["text"], held["extras"])

    def open_summary(self, token: str) -> str | None:
        held = self._opened(SUMMARY, token)
        return None if held is None else held["text"]

    def open_call_ids(self, token: str) -> dict[str, Any] | None:
        return self._opened(CALL_IDS, token)

    def _closed(self, kind: str, held: dict[str, Any]) -> str:
        packed = zlib.compress(jsontext.dumps(held))
        return PREFIX + urlsafe_b64encode(self._proof(kind, packed) + packed).decode().rstrip("=")

    def _opened(self, kind: str, token: str) -> dict[str, Any] | None:
        if not token.startswith(PREFIX):
            return None
        coded = token.removeprefix(PREFIX)
        try:
            whole = urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
        except ValueError:
            return None
        proof, packed = whole[:PROOF_BYTES], whole[PROOF_BYTES:]
        if not hmac.compare_digest(proof, self._proof(kind, packed)):
            return None
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(packed, MAX_HELD)
        if not unpacking.eof:
            return None
        held: dict[str, Any] = jsontext.loads(text)
        return held

    def _proof(self, kind: str, packed: bytes) -> bytes:
        """The kind is proved too: a summary cannot come back as reasoning."""
        return hmac.digest(self._key, kind.encode() + b"\0" + packed, "sha256")[:PROOF_BYTES]
