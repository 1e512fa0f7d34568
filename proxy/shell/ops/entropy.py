"""Random bits for ids. The operating system gives those for some hundred ids at a time: to ask for each id takes
several times as long as all the rest of making it.

Each value is given out once, whichever thread asks. A forked process would repeat those of its parent; ours are never
forked.
"""

import os

from proxy.core.ids import RANDOM_BYTES

AT_A_TIME = 256


class Entropy:
    __slots__ = ("_ready",)

    def __init__(self) -> None:
        self._ready: list[str] = []
        """Values of the size that ids have. To take one from a list is one step, which no other thread can
        interrupt."""

    def token_hex(self, size: int) -> str:
        """Returns so many random bytes, in hexadecimal digits."""
        if size != RANDOM_BYTES:
            return os.urandom(size).hex()
        try:
            return self._ready.pop()
        except IndexError:
            first, *others = _tokens()
            self._ready += others
            return first


def _tokens() -> list[str]:
    return os.urandom(AT_A_TIME * RANDOM_BYTES).hex(" ", RANDOM_BYTES).split()
