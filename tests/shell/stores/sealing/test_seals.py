"""What is sealed opens at its own place, with its own key, and says why if it does not."""

import pytest

from proxy.shell.stores.protocol import RecordUnreadable
from proxy.shell.stores.sealing.aes import AesKey
from proxy.shell.stores.sealing.seals import HEAD_BYTES, MARK, NO_SEALS, Place, Reason, Seals, What

OLD, NEW = AesKey("the key of last year, 1"), AesKey("the key of this year, 2")
PLACE = Place(What.RESPONSE, "ann", "resp_1", "input")
DATA = b'[{"text":"nobody else reads this"}]'


def test_there_and_back() -> None:
    seals = Seals([OLD])
    for data in (DATA, b"", b"\xfe\x01", bytes(range(256)) * 100):
        sealed = seals.sealed(PLACE, data)
        assert sealed.startswith(seals.head)
        assert len(data) < 8 or data not in sealed
        assert seals.opened(PLACE, sealed) == seals.unsealed(PLACE, sealed) == data


def test_two_of_the_same_are_not_alike() -> None:
    first, second = (Seals([OLD]).sealed(PLACE, DATA) for _ in range(2))
    assert first[HEAD_BYTES:] != second[HEAD_BYTES:]


def test_without_a_key_all_is_kept_as_it_is() -> None:
    assert NO_SEALS.sealed(PLACE, DATA) is DATA
    assert NO_SEALS.opened(PLACE, DATA) is DATA
    assert NO_SEALS.ids == []


def test_the_first_key_seals_and_each_opens() -> None:
    """U61: a key is put in front of the others; what the others have sealed can be read."""
    before, rotated = Seals([OLD]), Seals([NEW, OLD])
    old, new = before.sealed(PLACE, DATA), rotated.sealed(PLACE, DATA)
    assert rotated.opened(PLACE, old) == rotated.opened(PLACE, new) == rotated.opened(PLACE, DATA) == DATA
    assert new.startswith(MARK + NEW.id)
    assert rotated.ids == [NEW.id.hex(), OLD.id.hex()]


def test_a_key_that_is_lost_is_named() -> None:
    """U61: by its id, which tells nothing about it."""
    told: list[tuple[str, ...]] = []
    sealed = Seals([OLD]).sealed(PLACE, DATA)
    for seals in (Seals([NEW], lambda *what: told.append(what)), NO_SEALS):
        with pytest.raises(
            RecordUnreadable, match=rf"resp_1 is sealed with .* store.keys \({OLD.id.hex()}\)"
        ):
            seals.opened(PLACE, sealed)
    assert told == [(What.RESPONSE, Reason.NO_KEY, "resp_1", OLD.id.hex())]


@pytest.mark.parametrize(
    "other",
    [
        PLACE._replace(tenant="bob"),
        PLACE._replace(id="resp_2"),
        PLACE._replace(part="output"),
        PLACE._replace(what=What.MEMO),
        Place(What.RESPONSE, "an", "nresp_1", "input"),
        Place(What.RESPONSE, "ann6:resp_1", "", "input"),
    ],
)
def test_moved_to_another_place_it_does_not_open(other: Place) -> None:
    """U61: to another tenant, another response, another part of it."""
    seals = Seals([OLD])
    with pytest.raises(RecordUnreadable, match="is damaged"):
        seals.opened(other, seals.sealed(PLACE, DATA))


def test_no_byte_of_it_may_change() -> None:
    """U61: not one bit, and nothing may be missing or more. A changed id is one of a key that is not there."""
    seals = Seals([OLD])
    sealed = seals.sealed(PLACE, DATA)
    for at in range(len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 0x01
        with pytest.raises(RecordUnreadable):
            seals.unsealed(PLACE, bytes(changed))
        with pytest.raises(RecordUnreadable):
            seals.unsealed(PLACE, sealed[:at])
    with pytest.raises(RecordUnreadable, match="is damaged"):
        seals.unsealed(PLACE, sealed + b"\0")


def test_a_later_form_is_not_guessed() -> None:
    sealed = Seals([OLD]).sealed(PLACE, DATA)
    with pytest.raises(RecordUnreadable, match="was written by a later version"):
        Seals([OLD]).opened(PLACE, b"\xfe\x02" + sealed[2:])


def test_any_name_has_its_place() -> None:
    seals = Seals([OLD])
    place = Place(What.LOG, "tenant \0 \ud800 ü", "id", "1")
    assert seals.opened(place, seals.sealed(place, DATA)) == DATA
