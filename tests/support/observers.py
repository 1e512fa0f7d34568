"""An observer that writes down what it is shown."""

from typing import Any

from proxy.core.events import Delta
from tests.support.assembling import PartDelta, Told


class Seen:
    def __init__(self) -> None:
        self.bytes: list[bytes] = []
        self.deltas: list[Delta] = []
        self.events: list[Told] = []
        self.frames: list[bytes] = []
        self.received = self.bytes.append
        self.decoded = self.deltas.append
        self.ordered = self.events.append
        self.sent = self.frames.append

    def text(self, text: str, logprobs: list[Any] | None) -> None:
        self.events.append(PartDelta(text, logprobs))
