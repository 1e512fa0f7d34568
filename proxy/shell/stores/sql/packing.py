"""A response as a row of a table, and back."""

from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

from proxy.core.stored.record import Record, Status
from proxy.shell.stores.protocol import RecordUnreadable

PLAIN: Final = 0
"""The form of a row: JSON as it is. At some 20 kB, packing would take three times as long as all the rest of a save."""


STATUSES: Final = frozenset(map(str, Status))


@dataclass(slots=True, frozen=True)
class Kept:
    """A response, and what the engine knows of it besides."""

    record: Record
    gone: bool
    """Deleted, or never a response; it stays while something needs it."""
    ended: int | None
    seen: int | None
    """The version of its conversation that it began with."""


def checksum(record: Record) -> int:
    """Of all three pieces: cut or changed bytes must not become a shorter history."""
    return crc32(record.output, crc32(record.input, crc32(record.answer)))


def row_of(kept: Kept) -> tuple[Any, ...]:
    record = kept.record
    return (
        record.id, str(record.status), record.created, record.model, record.parent, record.conversation,
        int(record.background), int(record.streamed), int(record.lasting), PLAIN, checksum(record),
        record.answer, record.input, record.output, int(kept.gone), kept.ended, kept.seen,
    )  # fmt: skip


def kept_from(row: tuple[Any, ...]) -> Kept:
    (
        id, status, created, model, parent, conversation, background, streamed, lasting, form, expected,
        answer, input, output, gone, ended, seen,
    ) = row  # fmt: skip
    if form != PLAIN or status not in STATUSES:
        raise RecordUnreadable(f"{id} was written by a later version of the proxy")
    record = Record(
        id, Status(status), created, model, parent, conversation, bool(background), bool(streamed), bool(lasting),
        answer, input, output,
    )  # fmt: skip
    if checksum(record) != expected:
        raise RecordUnreadable(f"{id} is damaged")
    return Kept(record, bool(gone), ended, seen)
