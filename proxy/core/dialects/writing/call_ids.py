"""Call ids in the form that a backend accepts.

Clients keep whatever id a call once came with, from whichever backend that was, and some backends take only ids of
their own form. An id that fits stays; another gets a substitute made from nothing but itself, so that it is the same
in every request of a conversation, before prompt caches too.
"""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from string import ascii_letters, digits
from typing import NamedTuple

from proxy.core.profile import CallIdForm

_ALPHABET = digits + ascii_letters


class _Form(NamedTuple):
    fits: Callable[[str], object]
    substitute: Callable[[bytes], str]
    """Makes an id from 32 bytes of hash."""


def _alnum9(digest: bytes) -> str:
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:9])


def _prefixed(digest: bytes) -> str:
    return f"call_{digest[:16].hex()}"


_FORMS: Mapping[CallIdForm, _Form] = {
    "any": _Form(bool, _prefixed),
    "len40": _Form(re.compile(r"[A-Za-z0-9_.:-]{1,40}").fullmatch, _prefixed),
    "alnum9": _Form(re.compile(r"[A-Za-z0-9]{9}").fullmatch, _alnum9),
    "word": _Form(re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch, _prefixed),
}


class CallIds:
    """Holds the ids of one request: no two of the client's become the same one."""

    __slots__ = ("_form", "_taken", "_upstream")

    def __init__(self, form: CallIdForm) -> None:
        self._form = _FORMS[form]
        self._upstream: dict[str, str] = {}
        self._taken: set[str] = set()

    def upstream(self, call_id: str) -> str:
        known = self._upstream.get(call_id)
        if known is None:
            fits = self._form.fits(call_id) and call_id not in self._taken
            known = self._upstream[call_id] = call_id if fits else self._substitute(call_id)
            self._taken.add(known)
        return known

    def _substitute(self, call_id: str) -> str:
        attempt = 0
        while True:
            text = f"{attempt}{call_id}"
            substitute = self._form.substitute(sha256(text.encode("utf-8", "surrogatepass")).digest())
            if substitute not in self._taken:
                return substitute
            attempt += 1
