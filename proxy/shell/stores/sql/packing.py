"""A response as a row of a table, and back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

from proxy.core.stored.record import Record, Status
from proxy.shell.stores.sealing.seals import BoundTo, Reason, Seals, What

PLAIN: Final = 0
"""The form of a row: JSON as it is. At some 20 kB, packing would take three times as long as all the rest of a save."""

SEALED: Final = 2
"""Each piece by itself."""

NO_CHECKSUM: Final = 0
"""Of sealed pieces: a seal breaks at any change, and a sum of what is in it would tell something of that."""

STREAMED: Final[Mapping[bool | None, int]] = {False: 0, True: 1, None: 2}
WAS_STREAMED: Final = {kept: streamed for streamed, kept in STREAMED.items()}

STATUSES: Final = frozenset(map(str, Status))

FORM, CHECKSUM, ANSWER, INPUT, OUTPUT = range(9, 14)
"""Where these stand in a row."""

ID, LASTING, GONE, ENDED = 0, 8, 14, 15

Pieces = tuple[bytes, bytes, bytes]
"""Answer, input, output."""


@dataclass(slots=True, frozen=True)
class Kept:
    """A response, and what the engine knows of it besides."""

    record: Record
    gone: bool
    """Deleted, or never a response; it stays while something needs it."""
    ended: int | None
    seen: int | None
    """The version of its conversation that it began with."""


def checksum(answer: bytes, input: bytes, output: bytes) -> int:
    """The checksum of all three pieces, so that cut or changed bytes never become a shorter history."""
    return crc32(output, crc32(input, crc32(answer)))


def checksum_without_answer(row: tuple[Any, ...]) -> int:
    """For a row whose answer is taken away. What was damaged stays so."""
    pieces: Pieces = row[ANSWER : OUTPUT + 1]
    if row[FORM] != PLAIN or checksum(*pieces) != row[CHECKSUM]:
        return NO_CHECKSUM
    return checksum(b"", *pieces[1:])


def state_of(row: tuple[Any, ...]) -> tuple[str, bool, int | None, bool]:
    """Its id, whether it is gone, when it ended, and whether it lasts: for that it need not be readable."""
    return row[ID], bool(row[GONE]), row[ENDED], bool(row[LASTING])


class Packing:
    def __init__(self, seals: Seals) -> None:
        self._seals = seals

    def row_of(self, tenant: str, kept: Kept) -> tuple[Any, ...]:
        record = kept.record
        return (
            record.id, str(record.status), record.created, record.model, record.parent, record.conversation,
            int(record.background), STREAMED[record.streamed], int(record.lasting), *self.packed(tenant, record),
            int(kept.gone), kept.ended, kept.seen,
        )  # fmt: skip

    def packed(self, tenant: str, record: Record) -> tuple[int, int, bytes, bytes, bytes]:
        """The form, the checksum, and the pieces."""
        pieces = record.answer, record.input, record.output
        if not self._seals.head:
            return PLAIN, checksum(*pieces), *pieces
        parts = _parts(tenant, record.id)
        answer, input, output = (
            self._seals.sealed(part, piece) for part, piece in zip(parts, pieces, strict=True)
        )
        return SEALED, NO_CHECKSUM, answer, input, output

    def kept_from(self, tenant: str, row: tuple[Any, ...]) -> Kept:
        (
            id, status, created, model, parent, conversation, background, streamed, lasting, form, expected,
            answer, input, output, gone, ended, seen,
        ) = row  # fmt: skip
        if form not in (PLAIN, SEALED) or status not in STATUSES:
            raise self._seals.unreadable(BoundTo(What.RESPONSE, tenant, id), Reason.LATER_VERSION)
        pieces = answer, input, output
        if form == SEALED:
            pieces = self._opened(tenant, id, pieces, bool(gone))
        elif checksum(*pieces) != expected:
            raise self._seals.unreadable(BoundTo(What.RESPONSE, tenant, id), Reason.DAMAGED)
        record = Record(
            id, Status(status), created, model, parent, conversation, bool(background), WAS_STREAMED.get(streamed),
            bool(lasting), *pieces,
        )  # fmt: skip
        return Kept(record, bool(gone), ended, seen)

    def _opened(self, tenant: str, id: str, pieces: Pieces, gone: bool) -> Pieces:
        """What is deleted has no answer any more."""
        at_answer, at_input, at_output = _parts(tenant, id)
        answer, input, output = pieces
        return (
            b"" if gone and not answer else self._seals.unsealed(at_answer, answer),
            self._seals.unsealed(at_input, input),
            self._seals.unsealed(at_output, output),
        )


def _parts(tenant: str, id: str) -> list[BoundTo]:
    return [BoundTo(What.RESPONSE, tenant, id, part) for part in ("answer", "input", "output")]
