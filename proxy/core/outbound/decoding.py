"""What the decoders of all dialects do alike: they tell what they read, and read what is not quite JSON."""

import re
from collections.abc import Callable
from typing import Any

from proxy.core import jsontext
from proxy.core.capabilities import BackendProfile
from proxy.core.errors import Fault, Garbled, OwnWords
from proxy.core.events import Delta, ErrorDelta
from proxy.core.ledger import Ledger
from proxy.core.outbound.halves import HalfMender

NO_REPLY = OwnWords("The backend's answer is not a reply.")

MAX_KEPT_DEPTH = 100
"""Of what the backend wants back. Honest objects have three levels; more than could be written again, with all that is
put around them on the way, is refused where it comes from."""

_ARGUMENTS, _AS_TEXT = b'"arguments"', b'"arguments":"'
_AS_OBJECT = re.compile(rb'"arguments"\s*+:\s*+[\[{]')


class Decoding:
    __slots__ = ("_emit", "_ledger", "_mending")

    def __init__(self, emit: Callable[[Delta], None], ledger: Ledger) -> None:
        self._emit = emit
        self._ledger = ledger
        self._mending = False

    @staticmethod
    def keeps(profile: BackendProfile) -> bool:
        """May the backend want anything back with its reasoning?"""
        return profile.replay != "none"

    def _mended(self, data: bytes) -> Any:
        """What the strict parser refuses. None if it cannot be read at all. From now on half characters must be
        expected."""
        try:
            value = jsontext.lenient(data)
        except jsontext.BadJson:
            return None
        self._odd("json_mended")
        if not self._mending:
            self._mending = True
            self._emit = HalfMender(self._emit).feed
        return value

    def _keepable(self, value: Any) -> bool:
        """Can it be written again? If not, that ends the reply: without it the next turn would be refused."""
        if jsontext.deeper_than(value, MAX_KEPT_DEPTH):
            self._fail(Garbled("The backend's reasoning is nested too deeply."))
            return False
        return True

    def _fail(self, fault: Fault) -> None:
        self._emit(ErrorDelta(fault))

    def _odd(self, what: str) -> None:
        self._ledger.odd(what)


def with_exact_arguments(chunk: Any, data: bytes) -> Any:
    """Arguments that come as the object they are will be written anew: no digit of theirs may have been rounded. Nearly
    all come as text, which is seen at a glance."""
    if data.count(_ARGUMENTS) == data.count(_AS_TEXT) or not _AS_OBJECT.search(data):
        return chunk
    return jsontext.exactly(chunk, data)
