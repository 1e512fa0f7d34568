"""A response as a row: it comes back as it was, or not at all."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.core.stored.record import Status
from proxy.shell.stores.protocol import RecordUnreadable
from proxy.shell.stores.sealing.aes import AesKey
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.sql.packing import (
    ANSWER,
    CHECKSUM,
    FORM,
    INPUT,
    OUTPUT,
    PLAIN,
    SEALED,
    Kept,
    Packing,
    checksum_without_answer,
)
from tests.support.stores import SEALS, record

KEPT = Kept(
    record(Status.FAILED, parent=record(), streamed=True, lasting=False, text="\x00 ü"),
    gone=True,
    ended=7,
    seen=3,
)
PACKINGS = {PLAIN: Packing(NO_SEALS), SEALED: Packing(SEALS)}
ALL = pytest.mark.parametrize("form", PACKINGS)


def row_of(form: int, **changed: Any) -> list[Any]:
    return list(PACKINGS[form].row_of("ann", replace(KEPT, **changed)))


def read(form: int, row: list[Any], tenant: str = "ann") -> Kept:
    return PACKINGS[form].kept_from(tenant, tuple(row))


@ALL
def test_there_and_back(form: int) -> None:
    assert row_of(form)[FORM] == form
    assert read(form, row_of(form)) == KEPT


def test_u24_whether_there_are_events_is_kept() -> None:
    for streamed in (False, True, None):
        kept = replace(KEPT, record=replace(KEPT.record, streamed=streamed))
        assert read(PLAIN, list(PACKINGS[PLAIN].row_of("ann", kept))) == kept


def test_what_was_kept_before_there_was_a_key_stays_readable() -> None:
    """U61"""
    assert read(SEALED, row_of(PLAIN)) == KEPT


def test_a_sealed_row_tells_nothing_of_what_is_in_it() -> None:
    """Not by a checksum either: it would tell when two are the same, and let one guess at short ones."""
    row = row_of(SEALED)
    assert row[CHECKSUM] == 0
    assert not any(b"text" in piece for piece in row[ANSWER : OUTPUT + 1])


@ALL
@pytest.mark.parametrize(("place", "value"), [(FORM, 1), (FORM, 3), (1, "waiting")])
def test_what_a_later_version_wrote_is_not_guessed(form: int, place: int, value: object) -> None:
    row = row_of(form)
    row[place] = value
    with pytest.raises(RecordUnreadable, match=f"{KEPT.record.id} was written by a later version"):
        read(form, row)


@ALL
@pytest.mark.parametrize("place", [ANSWER, INPUT, OUTPUT])
def test_no_byte_of_it_may_change(form: int, place: int) -> None:
    """T88, U61: cut, or only moved from one piece to the next."""
    row = row_of(form)
    row[place] = row[place][:-1]
    with pytest.raises(RecordUnreadable, match=f"{KEPT.record.id} is damaged"):
        read(form, row)


def test_no_sealed_piece_may_be_another_one_or_a_plain_one() -> None:
    """U61: who can write there and has no key cannot make a history of his own."""
    for changed in (
        {INPUT: row_of(SEALED)[OUTPUT]},
        {INPUT: b"[]"},
        {INPUT: b""},
        {FORM: PLAIN},
        {0: record().id},
    ):
        row = row_of(SEALED)
        for place, value in changed.items():
            row[place] = value
        with pytest.raises(RecordUnreadable, match="is damaged"):
            read(SEALED, row)
    with pytest.raises(RecordUnreadable, match="is damaged"):
        read(SEALED, row_of(SEALED), tenant="bob")


def test_a_key_that_is_lost_is_told() -> None:
    """U61"""
    for seals in (NO_SEALS, Seals([AesKey("another key of the tests")])):
        with pytest.raises(RecordUnreadable, match="is sealed with a key that is not in"):
            Packing(seals).kept_from("ann", tuple(row_of(SEALED)))


@ALL
def test_the_answer_of_what_is_deleted_is_taken_away(form: int) -> None:
    """By who has no key, too. What was damaged stays so."""
    row = row_of(form)
    row[CHECKSUM], row[ANSWER] = checksum_without_answer(tuple(row)), b""
    assert read(form, row) == replace(KEPT, record=replace(KEPT.record, answer=b""))
    row = row_of(form)
    row[OUTPUT] = row[OUTPUT][:-1]
    row[CHECKSUM], row[ANSWER] = checksum_without_answer(tuple(row)), b""
    with pytest.raises(RecordUnreadable, match="is damaged"):
        read(form, row)


def test_only_what_is_deleted_may_have_no_answer() -> None:
    row = row_of(SEALED, gone=False)
    row[ANSWER] = b""
    with pytest.raises(RecordUnreadable, match="is damaged"):
        read(SEALED, row)
