"""Making ids: 128 random bits behind the prefixes that clients know.

The source of randomness is a parameter (the operating system's in production, a counter in tests), so the core stays
deterministic. Clients store these ids and send them back; prefix and form are part of the wire contract.
"""

from collections.abc import Callable

RANDOM_BYTES = 16

INDEX_BYTES = 3
"""Of the same 16, at the beginning of an item's id: more items than fit into memory, and 104 random bits are left."""
OTHER_DIGITS = 2 * (RANDOM_BYTES - INDEX_BYTES)

UUID_MASK = 0xF << 76 | 0b11 << 62
UUID_4 = 4 << 76 | 0b10 << 62
"""Where a UUID says its version and its variant, and what it says there."""


class Mint:
    __slots__ = ("_hex",)

    def __init__(self, token_hex: Callable[[int], str]) -> None:
        self._hex = token_hex

    def make(self, prefix: str) -> str:
        return f"{prefix}_{self._hex(RANDOM_BYTES)}"

    def item(self, prefix: str, index: int) -> str:
        """Makes the id of the item at this index: some clients sort the calls of a response by their items' ids."""
        return f"{prefix}_{index:0{2 * INDEX_BYTES}x}{self._hex(RANDOM_BYTES)[-OTHER_DIGITS:]}"

    def response(self) -> str:
        return self.make("resp")

    def completion(self) -> str:
        """With a hyphen, as the Chat API has it."""
        return f"chatcmpl-{self._hex(RANDOM_BYTES)}"

    def call(self) -> str:
        return self.make("call")

    def uuid_call(self) -> str:
        """`call_` and a UUID of version 4, in hex: 6 of the 128 bits say what it is (RFC 4122)."""
        bits = int(self._hex(RANDOM_BYTES), 16)
        return f"call_{bits & ~UUID_MASK | UUID_4:032x}"
