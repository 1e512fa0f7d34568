"""Making ids: 128 random bits behind the prefixes that clients know.

The source of randomness is a parameter (`secrets.token_hex` in production, a counter in tests), so the core stays
deterministic. Clients store these ids and send them back; prefix and form are part of the wire contract.
"""

from collections.abc import Callable

RANDOM_BYTES = 16


class Mint:
    __slots__ = ("_hex",)

    def __init__(self, token_hex: Callable[[int], str]) -> None:
        self._hex = token_hex

    def make(self, prefix: str) -> str:
        return f"{prefix}_{self._hex(RANDOM_BYTES)}"

    def response(self) -> str:
        return self.make("resp")

    def call(self) -> str:
        return self.make("call")
