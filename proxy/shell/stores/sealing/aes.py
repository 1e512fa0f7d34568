"""One key of the settings, and what is sealed with it: AES-256 in Galois/Counter mode.

A key would be used up by some 2^32 values with nonces by chance: two of them might be the same. So none is used by
itself. Each process derives one of its own, by a salt that stands in all that it seals, and takes a new one long before
that: however much is sealed, no key of the settings is used up.
"""

import secrets
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from proxy.shell.stores.sealing.seals import ID_BYTES, SealBroken

KEY_BYTES: Final = 32
SALT_BYTES: Final = 16
NONCE_BYTES: Final = 12
BODY_AT: Final = SALT_BYTES + NONCE_BYTES

MOST_VALUES: Final = 1 << 28
"""Values sealed with one derived key: two of them share a nonce with a chance of 2^-41."""

MOST_DERIVED: Final = 1024
"""Derived keys that are kept to open with; each is of one start of a process."""


class _Derived(NamedTuple):
    salt: bytes
    cipher: AESGCM
    uses: Iterator[int]
    """Counts them, from any thread."""


class AesKey:
    def __init__(self, secret: str) -> None:
        given = secret.encode("utf-8", "surrogatepass")
        self.id = _derived(given, b"", b"responses-proxy store key id", ID_BYTES)
        self._root = _derived(given, b"", b"responses-proxy store key", KEY_BYTES)
        self._cipher_of = lru_cache(MOST_DERIVED)(self._make_cipher)
        self._own = self._fresh()

    def sealed(self, data: bytes, bound: bytes) -> bytes:
        own = self._own
        if next(own.uses) >= MOST_VALUES:
            own = self._own = self._fresh()
        nonce = secrets.token_bytes(NONCE_BYTES)
        return own.salt + nonce + own.cipher.encrypt(nonce, data, bound)

    def opened(self, sealed: bytes, bound: bytes) -> bytes:
        salt, nonce, body = sealed[:SALT_BYTES], sealed[SALT_BYTES:BODY_AT], sealed[BODY_AT:]
        if len(nonce) < NONCE_BYTES:
            raise SealBroken
        try:
            return self._cipher_of(salt).decrypt(nonce, body, bound)
        except InvalidTag:
            raise SealBroken from None

    def _fresh(self) -> _Derived:
        salt = secrets.token_bytes(SALT_BYTES)
        return _Derived(salt, self._cipher_of(salt), count())

    def _make_cipher(self, salt: bytes) -> AESGCM:
        return AESGCM(_derived(self._root, salt, b"responses-proxy store values", KEY_BYTES))


def _derived(secret: bytes, salt: bytes, purpose: bytes, size: int) -> bytes:
    return HKDF(SHA256(), size, salt, purpose).derive(secret)
