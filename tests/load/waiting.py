"""How long clients waited, and whether that was longer than they had to."""

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.load.calls import ANSWERED, ASKED, BEGUN, FOLLOWED, STATELESS

LIMITED = "limited"
SLACK_SECONDS = 2.0
"""For a machine that has other work: it is the same for all."""
STORE_WAITS = {STATELESS: 0, LIMITED: 1, ANSWERED: 3, BEGUN: 3, ASKED: 4, FOLLOWED: 0}
"""How often a request of each kind may wait for a store that is away, each time for `store.wait_seconds` at most: to
take from a limit, to read and lock before the model is asked, to write afterwards. A cancel shuts a log, reads, writes,
and closes the log. What is not kept asks no store at all."""
HEARTBEAT_SECONDS = 15.0
"""The longest silence of a stream that nobody has anything to say in."""


@dataclass
class Waiting:
    """`away`: did the store not answer at some time between the two?"""

    model_seconds: float
    store_seconds: float
    away: Callable[[float, float], bool]
    calm: dict[str, list[float]] = field(default_factory=dict)
    troubled: dict[str, list[float]] = field(default_factory=dict)
    """Seconds, sorted: while all was there, and while the store was away."""
    too_long: list[str] = field(default_factory=list)

    def note(self, kind: str, began: float, seconds: float) -> None:
        away = self.away(began, began + seconds)
        insort((self.troubled if away else self.calm).setdefault(kind, []), seconds)
        if seconds > (most := self.most(kind, away=away)):
            when = "while the store was away" if away else "though the store was there"
            self.too_long.append(f"{kind}: waited longer than {most:g} s {when}")

    def most(self, kind: str, *, away: bool) -> float:
        own = HEARTBEAT_SECONDS if kind == FOLLOWED else self.model_seconds
        return own + SLACK_SECONDS + (STORE_WAITS[kind] * self.store_seconds if away else 0.0)

    def lines(self) -> list[str]:
        return [self._line(kind) for kind in STORE_WAITS if kind in self.calm or kind in self.troubled]

    def _line(self, kind: str) -> str:
        found = ((self.calm, "", False), (self.troubled, "store away: ", True))
        parts = [
            f"{when}{_described(seconds[kind])} (at most {self.most(kind, away=away):g})"
            for seconds, when, away in found
            if kind in seconds
        ]
        return f"{kind:<13}{'; '.join(parts)}"


def _described(seconds: list[float]) -> str:
    late = seconds[min(len(seconds) - 1, int(len(seconds) * 0.99))]
    return f"{len(seconds)} × p50 {seconds[len(seconds) // 2]:.2f}, p99 {late:.2f}, max {seconds[-1]:.2f} s"
