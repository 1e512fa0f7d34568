"""Random bits for ids, taken from the operating system some hundred ids at a time: to ask for each by itself takes
several times as long as all the rest of making it.

Each is given out once, whichever thread asks. A process that is forked would repeat what its parent gives out; ours
never are.
"""

import os

from proxy.core.ids import RANDOM_BYTES

AT_A_TIME = 256


class Entropy:
    __slots__ = ("_ready",)

    def __init__(self) -> None:
        self._ready: list[str] = []
        """Of the size that ids have. Taking from a list is one step, which no other thread can divide."""

    def token_hex(self, size: int) -> str:
        """So many bytes, in hexadecimal digits."""
        if size != RANDOM_BYTES:
            return os.urandom(size).hex()
        try:
            return self._ready.pop()
        except IndexError:
            first, *others = _tokens()
            self._ready += others
            return first


def _tokens() -> list[str]:
    digits = os.urandom(AT_A_TIME * RANDOM_BYTES).hex()
    length = 2 * RANDOM_BYTES
    return [digits[at : at + length] for at in range(0, len(digits), length)]
