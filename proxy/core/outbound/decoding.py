"""What the decoders of all dialects do alike: they tell what they read, and read what is not quite JSON."""

from collections.abc import Callable
from typing import Any

from proxy.core import jsontext
from proxy.core.capabilities import BackendProfile
from proxy.core.errors import Fault
from proxy.core.events import Delta, ErrorDelta
from proxy.core.ledger import Ledger
from proxy.core.outbound.halves import HalfMender


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

    def _fail(self, fault: Fault) -> None:
        self._emit(ErrorDelta(fault))

    def _odd(self, what: str) -> None:
        self._ledger.odd(what)
