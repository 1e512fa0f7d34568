"""Reads on from a place of which it is in doubt whether it is code, until one thing is settled that the doubt depends
on."""

from proxy.core.markup.code import Closes, CodeTracker, Foreseen


class Lookahead(CodeTracker):
    """Reads on from a place in doubt, and stops as soon as one thing is settled that the doubt depends on."""

    __slots__ = ("_asked", "_asked_info", "found", "last")

    def __init__(self, tracker: CodeTracker) -> None:
        super().__init__()
        for name in CodeTracker.__slots__:
            setattr(self, name, getattr(tracker, name))
        self._open = dict(tracker._open)
        self._known_until = 0
        self._asked_info = tracker._info is not None
        self._asked = frozenset() if self._asked_info else frozenset(tracker._open)
        self.found: Foreseen | Closes | None = None
        self.last: dict[int, int] = {}

    def teach(self, tracker: CodeTracker) -> None:
        """Lets the tracker that it began from know what it has found."""
        assert self.found is not None
        tracker.learn(self.found, self.at, self.last)

    def close(self) -> None:
        """Settles the doubt at the end of the text."""
        self._end_run()
        if self.found is None:
            self.found = Foreseen.FENCE if self._asked_info else Foreseen.END_OF_PARAGRAPH

    def _settled(self) -> bool:
        return self.found is not None

    def _tick(self, closes: int, opens: int, at: int) -> None:
        if closes in self._asked:
            self._find(Closes(closes))
        self.last[closes] = at
        super()._tick(closes, opens, at)

    def _end_info(self) -> None:
        if self._asked_info:
            self._find(Foreseen.NO_FENCE)
        super()._end_info()

    def _open_fence(self, char: str, length: int, indent: int) -> None:
        if self._asked_info:
            self._find(Foreseen.FENCE)
        super()._open_fence(char, length, indent)

    def _end_paragraph(self) -> None:
        self._find(Foreseen.END_OF_PARAGRAPH)
        super()._end_paragraph()

    def _find(self, what: Foreseen | Closes) -> None:
        if self.found is None:
            self.found = what
