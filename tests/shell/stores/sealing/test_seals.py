"""What is sealed opens at its own place, with its own key, and says why if it does not."""

import pytest

from proxy.shell.stores.protocol import RecordUnreadable
from proxy.shell.stores.sealing.aes import AesKey
from proxy.shell.stores.sealing.seals import HEAD_BYTES, MARK, NO_SEALS, BoundTo, Reason, Seals, What

OLD, NEW = AesKey("the key of last year, 1"), AesKey("the key of this year, 2")
BOUND_TO = BoundTo(What.RESPONSE, "ann", "resp_1", "input")
DATA = b'[{"text":"nobody else reads this"}]'


def test_there_and_back() -> None:
    seals = Seals([OLD])
    for data in (DATA, b"", b"\xfe\x01", bytes(range(256)) * 100):
        sealed = seals.sealed(BOUND_TO, data)
        assert sealed.startswith(seals.head)
        assert len(data) < 8 or data not in sealed
        assert seals.opened(BOUND_TO, sealed) == seals.unsealed(BOUND_TO, sealed) == data


def test_two_of_the_same_are_not_alike() -> None:
    first, second = (Seals([OLD]).sealed(BOUND_TO, DATA) for _ in range(2))
    assert first[HEAD_BYTES:] != second[HEAD_BYTES:]


def test_without_a_key_all_is_kept_as_it_is() -> None:
    assert NO_SEALS.sealed(BOUND_TO, DATA) is DATA
    assert NO_SEALS.opened(BOUND_TO, DATA) is DATA
    assert NO_SEALS.ids == []


def test_the_first_key_seals_and_each_opens() -> None:
    """U61: a key is put in front of the others; what the others have sealed can be read."""
    before, rotated = Seals([OLD]), Seals([NEW, OLD])
    old, new = before.sealed(BOUND_TO, DATA), rotated.sealed(BOUND_TO, DATA)
    assert (
        rotated.opened(BOUND_TO, old)
        == rotated.opened(BOUND_TO, new)
        == rotated.opened(BOUND_TO, DATA)
        == DATA
    )
    assert new.startswith(MARK + NEW.id)
    assert rotated.ids == [NEW.id.hex(), OLD.id.hex()]


def test_a_key_that_is_lost_is_named() -> None:
    """U61: by its id, which tells nothing about it."""
    told: list[tuple[str, ...]] = []
    sealed = Seals([OLD]).sealed(BOUND_TO, DATA)
    for seals in (Seals([NEW], lambda *what: told.append(what)), NO_SEALS):
        with pytest.raises(
            RecordUnreadable, match=rf"resp_1 is sealed with .* store.keys \({OLD.id.hex()}\)"
        ):
            seals.opened(BOUND_TO, sealed)
    assert told == [(What.RESPONSE, Reason.NO_KEY, "resp_1", OLD.id.hex())]


@pytest.mark.parametrize(
    "other",
    [
        BOUND_TO._replace(tenant="bob"),
        BOUND_TO._replace(id="resp_2"),
        BOUND_TO._replace(part="output"),
        BOUND_TO._replace(what=What.MEMO),
        BoundTo(What.RESPONSE, "an", "nresp_1", "input"),
        BoundTo(What.RESPONSE, "ann6:resp_1", "", "input"),
    ],
)
def test_moved_to_another_place_it_does_not_open(other: BoundTo) -> None:
    """U61: to another tenant, another response, another part of it."""
    seals = Seals([OLD])
    with pytest.raises(RecordUnreadable, match="is damaged"):
        seals.opened(other, seals.sealed(BOUND_TO, DATA))


def test_no_byte_of_it_may_change() -> None:
    """U61: not one bit, and nothing may be missing or more. A changed id is one of a key that is not there."""
    seals = Seals([OLD])
    sealed = seals.sealed(BOUND_TO, DATA)
    for at in range(len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 0x01
        with pytest.raises(RecordUnreadable):
            seals.unsealed(BOUND_TO, bytes(changed))
        with pytest.raises(RecordUnreadable):
            seals.unsealed(BOUND_TO, sealed[:at])
    with pytest.raises(RecordUnreadable, match="is damaged"):
        seals.unsealed(BOUND_TO, sealed + b"\0")


def test_a_later_form_is_not_guessed() -> None:
    sealed = Seals([OLD]).sealed(BOUND_TO, DATA)
    with pytest.raises(RecordUnreadable, match="was written by a later version"):
        Seals([OLD]).opened(BOUND_TO, b"\xfe\x02" + sealed[2:])


def test_any_name_has_its_place() -> None:
    seals = Seals([OLD])
    bound_to = BoundTo(What.LOG, "tenant \0 \ud800 ü", "id", "1")
    assert seals.opened(bound_to, seals.sealed(bound_to, DATA)) == DATA
