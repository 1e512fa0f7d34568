"""Rows of a log: each goes on with those before it, and every few rows anybody can begin to read."""

import zlib

import pytest

from proxy.shell.stores.log_packing import MOST_PACKERS, ROWS_OF_A_STREAM, Packers, Unpacker

LOG = ("t", "r")


def event(number: int) -> bytes:
    return b'{"type":"response.output_text.delta","sequence_number":%d,"delta":"word %d"}' % (
        number,
        number % 7,
    )


def test_who_begins_at_a_fresh_row_reads_all_that_follows() -> None:
    packers = Packers()
    rows = [packers.pack(LOG, 2 * n, [event(2 * n), event(2 * n + 1)]) for n in range(100)]
    fresh = [n for n, (is_fresh, _) in enumerate(rows) if is_fresh]
    assert fresh == list(range(0, 100, ROWS_OF_A_STREAM))
    for start in fresh:
        unpacker = Unpacker()
        found = [each for row in rows[start:] for each in unpacker.unpack(*row)]
        assert found == [event(number) for number in range(2 * start, 200)]
    packed = sum(len(data) for _, data in rows)
    assert packed * 6 < sum(len(event(number)) for number in range(200))


def test_where_the_log_is_not_as_it_was_left_it_begins_anew() -> None:
    """A write that was undone, or somebody else's."""
    packers = Packers()
    packers.pack(LOG, 0, [event(0)])
    again = packers.pack(LOG, 0, [event(0)])
    assert again[0]
    assert not packers.pack(LOG, 1, [event(1)])[0]
    after_another = packers.pack(LOG, 5, [event(5)])
    assert after_another[0]
    assert Unpacker().unpack(*after_another) == [event(5)]
    packers.forget(LOG)
    assert packers.pack(LOG, 6, [event(6)])[0]


def test_the_number_of_packers_is_bounded() -> None:
    packers = Packers()
    for number in range(MOST_PACKERS + 1):
        packers.pack(("t", str(number)), 0, [b"1"])
    assert packers.pack(("t", "0"), 1, [b"2"])[0]


def test_what_is_damaged_is_told() -> None:
    _, data = Packers().pack(LOG, 0, [event(0)])
    with pytest.raises(zlib.error):
        Unpacker().unpack(True, b"\xff" + data)
