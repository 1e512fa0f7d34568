"""The requests under way and the last ones that have ended, in memory, bounded by their number and their bytes."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Final, NamedTuple

from proxy.core.errors import Fault
from proxy.shell.ops.fault_facts import without_frames
from proxy.shell.watching.content import AttemptContent, Content
from proxy.shell.watching.watch import Watch

REFUSED_PART: Final = 4
"""Whoever was not let in has a quarter as much room, and one apart: a stranger must not drive out all others."""


class RequestContent(NamedTuple):
    """What was said in one request."""

    content: Content
    attempts: Sequence[AttemptContent | None]


def _never(watch: Watch) -> bool:
    """Without a recorder no content is kept."""
    return False


@dataclass(slots=True, eq=False)
class Seen:
    """A request that the ring holds."""

    number: int
    """Among all requests of this process, from 1."""
    watch: Watch
    change: int
    """The number of the change of the ring by which it came, or ended."""
    keeps: Callable[[Watch], bool] = _never
    """May what was said in this request be shown, as far as it has come?"""
    _kept: RequestContent | None = None

    @property
    def said(self) -> RequestContent | None:
        """As far as it is here."""
        if self.watch.ended is not None:
            return self._kept
        return _said(self.watch) if self.keeps(self.watch) else None

    @property
    def size(self) -> int:
        """The bytes of content that it holds, once it has ended."""
        return 0 if self._kept is None else self._kept.content.size

    def settle(self) -> None:
        """The request has ended. The content gets apart from the rest, so that it can be forgotten first."""
        watch = self.watch
        if watch.content is not None and self.keeps(watch):
            self._kept = _said(watch)
        self.watch = _alone(watch)

    def forget(self) -> None:
        self._kept = None


def _said(watch: Watch) -> RequestContent | None:
    if watch.content is None:
        return None
    return RequestContent(watch.content, [attempt.content for attempt in watch.attempts])


def _alone(watch: Watch) -> Watch:
    """A copy without its content, and without what would hold the request itself: the client's headers, with its key,
    by which secrets are hidden, and the frames of its faults."""
    if watch.content is None and not watch.has_faults:
        watch.hidden = _as_it_is  # most requests: a copy would cost more than all else that the ring does
        return watch
    alone = copy(watch)
    alone.hidden = _as_it_is
    alone.content = None
    alone.fault = watch.fault and without_frames(watch.fault)
    alone.attempts = [copy(attempt) for attempt in watch.attempts]
    for attempt in alone.attempts:
        attempt.content = None
        attempt.fault = attempt.fault and without_frames(attempt.fault)
    return alone


def _as_it_is(fault: Fault) -> Fault:
    return fault


class Ring:
    """Keeps what it is handed. It does nothing with it but to forget the oldest."""

    name = "inspector"

    def __init__(
        self,
        most_requests: int,
        most_bytes: int,
        keeps_content: Callable[[Watch], bool] = _never,
    ) -> None:
        """`most_bytes`: of content. `keeps_content`: does the recorder keep that of this request?"""
        self._most_requests = most_requests
        self._most_bytes = most_bytes
        self._keeps_content = keeps_content
        self._under_way: dict[Watch, Seen] = {}
        self._ended: deque[Seen] = deque()
        self._turned_away: deque[Seen] = deque(maxlen=most_requests // REFUSED_PART + 1)
        self._with_content: deque[Seen] = deque()
        self._bytes = 0
        self._requests = 0
        self.changes = 0

    wants_content = None
    """Only the recorder's setting says whether content is kept."""

    def begun(self, watch: Watch, headers: Mapping[str, str]) -> None:
        self._requests += 1
        self.changes += 1
        self._under_way[watch] = Seen(self._requests, watch, self.changes, self._keeps_content)

    def ended(self, watch: Watch) -> None:
        seen = self._under_way.pop(watch)
        self.changes += 1
        seen.change = self.changes
        seen.settle()
        if watch.tenant is None:
            seen.forget()
            self._turned_away.append(seen)
            return
        self._ended.append(seen)
        if len(self._ended) > self._most_requests:
            self._forget_content_until(self._ended.popleft())
        if seen.size:
            self._with_content.append(seen)
            self._bytes += seen.size
        while self._bytes > self._most_bytes:
            self._forget_content_until(self._with_content[0])

    def _forget_content_until(self, last: Seen) -> None:
        while self._with_content and self._with_content[0].change <= last.change:
            seen = self._with_content.popleft()
            self._bytes -= seen.size
            seen.forget()

    # ── reading ──

    def since(self, change: int) -> Iterator[Seen]:
        """What is under way, and what has ended since."""
        for seen in (*self._turned_away, *self._ended):
            if seen.change > change:
                yield seen
        yield from self._under_way.values()

    def find(self, number: int) -> Seen | None:
        return next((seen for seen in self.since(-1) if seen.number == number), None)
