"""Making ids, and what can be read out of them: 48 hexadecimal digits behind the prefixes that clients know.

    msg_ 80000057f3a2c19b 0c4e8a11d95b7e26 9b3f60d2a7c4158e
         the thing itself  its response     its family

An item says of which response it is, so no index is needed to find it by its id. The family is inherited from the
conversation or from the response that is continued, so all of a chain can lie on one shard. An item's own digits begin
with its index: some clients sort the calls of a response by the ids of their items.

The source of randomness is a parameter (the operating system's in production, a counter in tests), so the core stays
deterministic. Clients store these ids and send them back; prefix and form are part of the wire contract. Ids that
nothing is found by, of calls, requests and answers of the Chat API, are 128 random bits.
"""

from collections.abc import Callable
from string import ascii_letters, digits, hexdigits

RANDOM_BYTES = 16

PART_DIGITS = 16
"""Digits of each of the three parts: 64 bits, all of them random but for an item's index."""
INDEX_DIGITS = 6
"""Digits of the index at the beginning of an item's own part: enough for more items than fit into memory, and 40 random
bits are left."""
INDEXED = f"%s_%0{INDEX_DIGITS}x%s%s"
FIRST_OUTPUT = 0x800000
"""The output's indexes begin here, the input's at 0: no item has another's id, and all are in their order."""

MAX_ID = 128
"""Characters of an id that may be one of a response. Ours are shorter."""

UUID_MASK = 0xF << 76 | 0b11 << 62
UUID_4 = 4 << 76 | 0b10 << 62
"""The bits in which a UUID says its version and its variant, and what version 4 says there."""

_HEX = frozenset(hexdigits.lower())
_WORDS = frozenset(f"{ascii_letters}{digits}_-")


class Mint:
    __slots__ = ("_hex",)

    def __init__(self, token_hex: Callable[[int], str]) -> None:
        self._hex = token_hex

    def noting(self, note: Callable[[str], None]) -> "Mint":
        """A mint for one request, which notes the random digits as they are drawn."""

        def drawn(size: int) -> str:
            digits = self._hex(size)
            note(digits)
            return digits

        return Mint(drawn)

    def make(self, prefix: str) -> str:
        return f"{prefix}_{self._hex(RANDOM_BYTES)}"

    def response(self, family: str | None = None) -> str:
        """`family`: of what the response continues, if it continues anything."""
        return f"resp_{self._hex(RANDOM_BYTES)}{family or self._family()}"

    def conversation(self) -> str:
        return f"conv_{self._hex(RANDOM_BYTES)}{self._family()}"

    def items_of(self, response: str) -> "ItemIds":
        return ItemIds(response[-2 * PART_DIGITS :], self._hex)

    def _family(self) -> str:
        return self._hex(RANDOM_BYTES)[-PART_DIGITS:]

    def completion(self) -> str:
        """The id of a completion, with a hyphen, as the Chat API has it."""
        return f"chatcmpl-{self._hex(RANDOM_BYTES)}"

    def call(self) -> str:
        return self.make("call")

    def uuid_call(self) -> str:
        """`call_` and a UUID of version 4, in hex: 6 of the 128 bits say what it is (RFC 4122)."""
        bits = int(self._hex(RANDOM_BYTES), 16)
        return f"call_{bits & ~UUID_MASK | UUID_4:032x}"


class ItemIds:
    """Makes the ids of one response's items."""

    __slots__ = ("_hex", "_tail")

    def __init__(self, tail: str, token_hex: Callable[[int], str]) -> None:
        self._tail = tail
        self._hex = token_hex

    def input(self, prefix: str, index: int) -> str:
        return INDEXED % (prefix, index, self._hex(RANDOM_BYTES)[INDEX_DIGITS - PART_DIGITS :], self._tail)

    def output(self, prefix: str, index: int) -> str:
        return self.input(prefix, FIRST_OUTPUT + index)


# ── reading ──


def tail_of(id: str) -> str | None:
    """The digits that an item shares with its response, and with nothing else. None: the id is not one of ours, but a
    client's own."""
    made = id.rpartition("_")[2]
    return made[PART_DIGITS:] if len(made) == 3 * PART_DIGITS and _HEX.issuperset(made) else None


def family_of(id: str) -> str | None:
    tail = tail_of(id)
    return tail and tail[PART_DIGITS:]


def may_be_response(id: str) -> bool:
    return _may_be("resp_", id)


def may_be_conversation(id: str) -> bool:
    return _may_be("conv_", id)


def _may_be(prefix: str, id: str) -> bool:
    return id.startswith(prefix) and len(id) <= MAX_ID and _WORDS.issuperset(id)
