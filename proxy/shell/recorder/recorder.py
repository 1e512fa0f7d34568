"""Watches requests, and has those written that are to be kept."""

from collections.abc import Callable
from typing import Literal

from proxy.shell.recorder.writer import Writer
from proxy.shell.watching.watch import Watch

Keep = Literal["faults", "sampled", "all"]


class Recorder:
    name = "recorder"

    def __init__(self, keep: Keep, share: float, chance: Callable[[], float], writer: Writer) -> None:
        """`chance`: from 0 to 1."""
        self._keep = keep
        self._share = share
        self._chance = chance
        self._writer = writer
        self._chosen: set[Watch] = set()
        """Requests under way that are to be kept, unless they end well and only failures are."""

    def wants_content(self, watch: Watch) -> bool:
        if self._keep == "sampled" and self._chance() >= self._share:
            return False
        self._chosen.add(watch)
        return True

    begun = None
    """Nothing is written before the end."""

    keep = None

    refused = None
    """What was refused at the door is told whole by its line in the log."""

    def ended(self, watch: Watch) -> None:
        if watch not in self._chosen:
            return
        self._chosen.discard(watch)
        if self._keep != "faults" or watch.has_failed:
            self._writer.put(watch)
