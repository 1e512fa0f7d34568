"""A response as a row: it comes back as it was, or not at all."""

import pytest

from proxy.core.stored.record import Status
from proxy.shell.stores.protocol import RecordUnreadable
from proxy.shell.stores.sql.packing import Kept, kept_from, row_of
from tests.support.stores import record

KEPT = Kept(
    record(Status.FAILED, parent=record(), streamed=True, lasting=False, text="\x00 ü"),
    gone=True,
    ended=7,
    seen=3,
)


def test_there_and_back() -> None:
    assert kept_from(row_of(KEPT)) == KEPT


@pytest.mark.parametrize(("place", "value"), [(9, 1), (1, "waiting")])
def test_what_a_later_version_wrote_is_not_guessed(place: int, value: object) -> None:
    row = list(row_of(KEPT))
    row[place] = value
    with pytest.raises(RecordUnreadable, match=f"{KEPT.record.id} was written by a later version"):
        kept_from(tuple(row))


@pytest.mark.parametrize("place", [11, 12, 13])
def test_no_byte_of_it_may_change(place: int) -> None:
    """T88: cut, or only moved from one piece to the next."""
    row = list(row_of(KEPT))
    row[place] = row[place][:-1]
    with pytest.raises(RecordUnreadable, match=f"{KEPT.record.id} is damaged"):
        kept_from(tuple(row))
