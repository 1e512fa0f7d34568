"""What the backend says under load: the name of a model is the script, so that both ends know every character.

    load-200-5-1-text-well      200 pieces, 5 ms apart, one in each write, as text, ended well
    load-40-0-20-tool-cut       40 fragments of a call's arguments, 20 in each write, cut in the middle

A piece tells its number and when it was sent. So a receiver can check the whole text, however it was merged or split on
the way, and how long each piece took: both ends read the same clock.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

PIECE = re.compile(r"(\d{6})([0-9a-f]{16})")
STAMP_LENGTH = 16
NO_STAMP = "0" * STAMP_LENGTH
PIECE_LENGTH = 28
ARGUMENTS_OPEN, ARGUMENTS_CLOSE = '{"s":"', '"}'

Kind = Literal["text", "tool"]
Ending = Literal["well", "cut", "reset", "error", "refused"]
"""Cut: a clean end of the connection, too early. Reset: as from a crash. Error: told in the stream. Refused: a 503."""


@dataclass(frozen=True)
class Script:
    pieces: int
    gap_ms: int = 0
    burst: int = 1
    """Pieces in one write."""
    kind: Kind = "text"
    ending: Ending = "well"

    @property
    def model(self) -> str:
        return f"load-{self.pieces}-{self.gap_ms}-{self.burst}-{self.kind}-{self.ending}"

    @property
    def said(self) -> int:
        """The pieces that are said before the ending."""
        return self.pieces if self.ending == "well" else self.pieces // 2

    def whole(self) -> str:
        """All of the text, or of the arguments, without times."""
        return self.framed("".join(NO_STAMP.join(around(number, self.kind)) for number in range(self.pieces)))

    def framed(self, text: str) -> str:
        return f"{ARGUMENTS_OPEN}{text}{ARGUMENTS_CLOSE}" if self.kind == "tool" else text

    def complaint(self, text: str, *, whole: bool) -> str | None:
        """What is wrong with what a client was told; None when it is all of the text, or a beginning of it."""
        right, told = self.whole(), PIECE.sub(rf"\g<1>{NO_STAMP}", text)
        if told == right:
            return None
        if not whole and right.startswith(told[: -PIECE_LENGTH or None]):
            return None  # the last piece may be cut within its time
        wrong = next((at for at, (a, b) in enumerate(zip(told, right, strict=False)) if a != b), len(right))
        return f"{len(told)} of {len(right)} characters, wrong from {wrong}: {told[wrong:][:60]!r}"


def parse(model: str) -> Script:
    _, pieces, gap_ms, burst, kind, ending = model.rpartition("/")[2].split("-")
    assert kind in get_args(Kind)
    assert ending in get_args(Ending)
    return Script(int(pieces), int(gap_ms), int(burst), kind, ending)  # type: ignore[arg-type]


def around(number: int, kind: Kind) -> tuple[str, str]:
    """A piece, but for its time. Every sixteenth has what must be escaped, and more than one byte to a character."""
    if number % 16:
        return f"{number:06d}", " token"
    return f"{number:06d}", ' é"\n😀.' if kind == "text" else " é\\n😀."
