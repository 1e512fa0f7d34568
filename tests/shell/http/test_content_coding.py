"""What a backend packs unasked comes out in pieces of a bounded size, however it was packed and cut (F21, S28)."""

import gzip
import zlib
from collections.abc import Callable

import pytest

from proxy.core.errors import Garbled
from proxy.shell.http.content_coding import PIECE_BYTES, Decompressor, decompressor
from tests.support.replies import bytewise

TEXT = b"data: {}\n\n" * 20_000

WAYS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "in capitals": ("GZIP", gzip.compress),
    "by its old name": ("x-gzip", gzip.compress),
    "among words that change nothing": ("identity, gzip", gzip.compress),
    "in two members": ("gzip", lambda text: gzip.compress(text[:99]) + gzip.compress(text[99:])),
    "deflate": ("deflate", zlib.compress),
    "deflate without its frame": ("deflate", lambda text: zlib.compress(text)[2:-4]),
}


def of(coding: str) -> Decompressor:
    found = decompressor({"Content-Encoding": coding})
    assert found is not None
    return found


@pytest.mark.parametrize(("coding", "pack"), WAYS.values(), ids=WAYS.keys())
def test_whole_and_byte_by_byte(coding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(TEXT)
    for cuts in ([packed], bytewise(packed)):
        unpacking = of(coding)
        pieces = [piece for data in cuts for piece in unpacking.pieces(data)]
        assert b"".join(pieces) == TEXT
        assert max(map(len, pieces)) <= PIECE_BYTES


def test_a_bomb_need_not_be_unpacked_to_its_end() -> None:
    pieces = of("gzip").pieces(gzip.compress(bytes(64 << 20)))
    assert len(next(pieces)) == PIECE_BYTES


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "identity"}, {"Content-Encoding": "utf-8"}])
def test_nothing_to_be_undone(headers: dict[str, str]) -> None:
    assert decompressor(headers) is None


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "deflate, br"])
def test_what_nobody_can_undo_is_named(coding: str) -> None:
    with pytest.raises(Garbled, match=coding):
        decompressor({"Content-Encoding": coding})


def test_what_is_not_packed_as_it_says() -> None:
    with pytest.raises(Garbled, match="gzip"):
        list(of("gzip").pieces(b"data: {}"))
