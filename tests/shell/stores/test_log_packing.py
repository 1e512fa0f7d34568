"""Rows of a log: each goes on with those before it, and every few rows anybody can begin to read."""

import tracemalloc

import pytest

from proxy.shell.stores.log_packing import MOST_PACKERS, ROWS_OF_A_STREAM, Packers, Unpacker
from proxy.shell.stores.protocol import RecordUnreadable
from proxy.shell.stores.sealing.seals import MARK, NO_SEALS, Seals
from tests.support.stores import SEALS

LOG = ("t", "r")


def event(number: int) -> bytes:
    return b'{"type":"response.output_text.delta","sequence_number":%d,"delta":"word %d"}' % (
        number,
        number % 7,
    )


@pytest.mark.parametrize(("seals", "smaller"), [(NO_SEALS, 6), (SEALS, 1.9)])
def test_who_begins_at_a_fresh_row_reads_all_that_follows(seals: Seals, smaller: float) -> None:
    """A seal takes 54 bytes of each row, and these are rows of two short events."""
    packers = Packers(seals)
    rows = [packers.pack(LOG, 2 * n, [event(2 * n), event(2 * n + 1)]) for n in range(100)]
    fresh = [n for n, (is_fresh, _) in enumerate(rows) if is_fresh]
    assert fresh == list(range(0, 100, ROWS_OF_A_STREAM))
    for start in fresh:
        unpacker = Unpacker(LOG, seals)
        read = [unpacker.unpack(2 * n, *rows[n]) for n in range(start, 100)]
        found = [each for events in read for each in events]
        assert found == [event(number) for number in range(2 * start, 200)]
    packed = sum(len(data) for _, data in rows)
    assert packed * smaller < sum(len(event(number)) for number in range(200))


def test_where_the_log_is_not_as_it_was_left_it_begins_anew() -> None:
    """A write that was undone, or somebody else's."""
    packers = Packers()
    packers.pack(LOG, 0, [event(0)])
    again = packers.pack(LOG, 0, [event(0)])
    assert again[0]
    assert not packers.pack(LOG, 1, [event(1)])[0]
    after_another = packers.pack(LOG, 5, [event(5)])
    assert after_another[0]
    assert Unpacker(LOG).unpack(5, *after_another) == [event(5)]
    packers.forget(LOG)
    assert packers.pack(LOG, 6, [event(6)])[0]


def test_of_too_many_packers_the_longest_unused_goes() -> None:
    packers = Packers()
    for number in range(MOST_PACKERS):
        packers.pack(("t", str(number)), 0, [b"1"])
    assert not packers.pack(("t", "0"), 1, [b"2"])[0]
    packers.pack(("t", "one more"), 0, [b"1"])
    assert not packers.pack(("t", "0"), 2, [b"3"])[0]
    assert packers.pack(("t", "1"), 1, [b"2"])[0]


def test_a_packer_takes_little_memory() -> None:
    """As many as there may be take 40 MiB."""
    packers = Packers()
    tracemalloc.start()
    try:
        for number in range(100):
            packers.pack(("t", str(number)), 0, [event(number)])
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken < 100 * (40 << 10)


def test_what_is_damaged_is_told() -> None:
    """T88, U61: changed, at another place, or of another log."""
    for seals in (NO_SEALS, SEALS):
        _, data = Packers(seals).pack(LOG, 0, [event(0)])
        with pytest.raises(RecordUnreadable, match="r is damaged"):
            Unpacker(LOG, seals).unpack(0, True, b"\xff" + data)
    for key, first in ((LOG, 1), (("t", "q"), 0), (("u", "r"), 0)):
        with pytest.raises(RecordUnreadable, match="is damaged"):
            Unpacker(key, SEALS).unpack(first, True, data)


def test_no_row_looks_as_if_it_were_sealed() -> None:
    """Whatever the first bytes of the events are, a row of deflate never begins with the mark."""
    packers = Packers()
    firsts = {packers.pack(LOG, n, [bytes([n % 256]) * (n % 50 + 1)])[1][:1] for n in range(4000)}
    firsts |= {Packers().pack(LOG, n, [bytes([n % 256, n // 256])])[1][:1] for n in range(65536)}
    assert MARK[:1] not in firsts
