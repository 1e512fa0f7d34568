"""The same bytes in other pieces: whatever is made of them must not depend on where a network has cut them."""

from collections.abc import Sequence
from hashlib import shake_256
from itertools import pairwise
from typing import Literal

Cut = Literal["recorded", "bytes", "random", "whole"]

PIECES = 12
"""Random pieces for every thousand bytes."""


def pieces(reads: Sequence[bytes], cut: Cut, seed: int = 0) -> list[bytes]:
    if cut == "recorded":
        return list(reads)
    data = b"".join(reads)
    if cut == "bytes":
        return [data[at : at + 1] for at in range(len(data))]
    return _at_random(data, seed) if cut == "random" else [data] if data else []


def _at_random(data: bytes, seed: int) -> list[bytes]:
    """At the same places for the same seed."""
    places = len(data) * PIECES // 1000 + PIECES
    dice = memoryview(shake_256(b"%d" % seed).digest(4 * places)).cast("I")
    edges = sorted({0, len(data), *(at % (len(data) + 1) for at in dice)})
    return [data[first:second] for first, second in pairwise(edges)]
