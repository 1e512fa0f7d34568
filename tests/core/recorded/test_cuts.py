"""The same bytes in other pieces."""

from proxy.core.recorded.cuts import pieces

READS = [b"hello ", b"", b"world" * 50]


def test_they_come_to_the_same() -> None:
    assert pieces(READS, "recorded") == READS
    assert pieces(READS, "whole") == [b"".join(READS)]
    assert pieces([], "whole") == []
    assert set(map(len, pieces(READS, "bytes"))) == {1}
    for cut in ("bytes", "random"):
        assert b"".join(pieces(READS, cut)) == b"".join(READS)
    assert pieces(READS, "random", 1) == pieces(READS, "random", 1) != pieces(READS, "random", 2)
    assert len(pieces(READS, "random")) > 3
