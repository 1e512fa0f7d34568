"""Decompresses answers that a backend compresses although the proxy did not ask for it: one layer, in pieces, by zlib.

aiohttp would do it too, but it refuses the whole answer if it cannot, together with the status, which says more than
the words of a refusal (F21).
"""

import zlib
from collections.abc import Iterator, Mapping

from proxy.core.errors import Garbled

WINDOW_BITS = {
    "gzip": 16 + zlib.MAX_WBITS,
    "x-gzip": 16 + zlib.MAX_WBITS,
    "deflate": zlib.MAX_WBITS,
}
"""The parameter of zlib for each coding. `body` uses it too, for fewer codings."""
RAW_DEFLATE = -zlib.MAX_WBITS
"""Deflate without its frame. Many servers send that as `deflate`."""

DEFLATED = 8
"""The method in the lower four bits of the first byte of that frame."""

KNOWN_CODINGS = WINDOW_BITS.keys() | {"br", "zstd", "compress", "x-compress"}
"""Other words are ignored, such as the `utf-8` of a server that means its charset."""

PIECE_BYTES = 64 * 1024
"""A small body may grow to a thousand times its size, and its reader may stop after any piece (S28)."""


def decompressor(headers: Mapping[str, str]) -> "Decompressor | None":
    """Returns None for a body that is not compressed. Raises Garbled for a coding that zlib does not know."""
    if "Content-Encoding" not in headers:
        return None
    words = [word.strip() for word in headers["Content-Encoding"].lower().split(",")]
    coding = ", ".join(word for word in words if word in KNOWN_CODINGS)
    if coding and coding not in WINDOW_BITS:
        raise Garbled(f"The backend's answer is packed in a way that was not asked for ({coding}).")
    return Decompressor(coding) if coding else None


class Decompressor:
    def __init__(self, coding: str) -> None:
        """`coding`: one of those that have `WINDOW_BITS`."""
        self._coding = coding
        self._bits = WINDOW_BITS[coding]
        self._inflate = zlib.decompressobj(self._bits)
        self._begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yields what the data decompresses to. Raises Garbled for data of another coding."""
        if not self._begun:
            self._begun = True
            if self._coding == "deflate" and data[0] & 0x0F != DEFLATED:
                self._inflate = zlib.decompressobj(RAW_DEFLATE)
        piece = b""
        while data or len(piece) == PIECE_BYTES:
            if self._inflate.eof:  # several of them, one after another
                self._inflate = zlib.decompressobj(self._bits)
            try:
                piece = self._inflate.decompress(data, PIECE_BYTES)
            except zlib.error:
                raise Garbled(f"The backend's answer is not packed as it says ({self._coding}).") from None
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
            if piece:
                yield piece
