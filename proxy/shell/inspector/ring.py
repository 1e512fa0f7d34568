"""The requests under way and the last ones that have ended, in memory, bounded by their number and their bytes.

What is noted of a request that ends is put into a queue, and nothing else: what is only needed to show it is made when
somebody looks.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from proxy.shell.watching.content import AttemptContent, Content
from proxy.shell.watching.watch import Notes, Watch

REFUSED_PART: Final = 4
"""Whoever was not let in has a quarter as much room, and one apart: a stranger must not drive out all others."""


class RequestContent(NamedTuple):
    """What was said in one request."""

    content: Content
    attempts: Sequence[AttemptContent | None]


@dataclass(slots=True, eq=False)
class Seen:
    """A request that somebody looks at."""

    number: int
    """Counts the requests of this process that somebody has looked at, from 1."""
    watch: Watch
    said: RequestContent | None = None
    """What was said, as far as it is here and may be shown."""


class Ring:
    """Keeps what it is handed, and does nothing else with it than to forget the oldest."""

    name = "inspector"

    def __init__(
        self,
        most_requests: int,
        most_bytes: int,
        live: Callable[[], Iterable[Watch]],
        keeps_content: Callable[[Watch], bool] | None = None,
    ) -> None:
        """`most_bytes`: of content. `live`: what is under way. `keeps_content`: may what was said in this request be
        shown, as far as it has come? None: nothing is kept of any request."""
        self._most_bytes = most_bytes
        self._live = live
        self._keeps_content = keeps_content
        self._ended: deque[Watch | Notes] = deque(maxlen=most_requests)
        self._turned_away: deque[Watch] = deque(maxlen=most_requests // REFUSED_PART + 1)
        self._said: dict[Watch, RequestContent] = {}
        """Of those that have ended, the oldest first."""
        self._bytes = 0
        self._shown = 0
        self.changes = 0
        """The ends of requests that somebody has seen."""
        self.ended = self._ended.append if keeps_content is None else self._keep
        self.keep = self._ended.append if keeps_content is None else None

    wants_content = None
    """Only the recorder's setting says whether content is kept."""

    begun = None

    def refused(self, watch: Watch, headers: Mapping[str, str]) -> None:
        self._turned_away.append(watch)

    def _keep(self, watch: Watch) -> None:
        """Keeps the content apart from the rest, so that it can be forgotten first."""
        if len(self._ended) == self._ended.maxlen:
            self._forget(self._ended[0])
        alone = _without_content(watch)
        self._ended.append(alone)
        if (said := self._said_in(watch)) is None:
            return
        self._said[alone] = said
        self._bytes += said.content.size
        while self._bytes > self._most_bytes:
            self._forget(next(iter(self._said)))

    def _forget(self, watch: Watch | Notes) -> None:
        if isinstance(watch, Watch) and (said := self._said.pop(watch, None)) is not None:
            self._bytes -= said.content.size

    def _said_in(self, watch: Watch) -> RequestContent | None:
        if watch.content is None or self._keeps_content is None or not self._keeps_content(watch):
            return None
        return RequestContent(watch.content, [attempt.content for attempt in watch.attempts])

    # ── reading ──

    def since(self, change: int) -> list[Seen]:
        """What is under way, and what has ended since."""
        ended = (*self._turned_away, *self._watches())
        for watch in ended:
            if watch.change is None:
                self.changes += 1
                watch.change = self.changes
        news = [self._seen(watch, self._said.get(watch)) for watch in ended if (watch.change or 0) > change]
        return news + [self._seen(watch, self._said_in(watch)) for watch in self._live()]

    def _watches(self) -> list[Watch]:
        """Of those that have ended."""
        watches = [each if isinstance(each, Watch) else Watch(*each) for each in self._ended]
        self._ended.clear()
        self._ended.extend(watches)
        return watches

    def find(self, number: int) -> Seen | None:
        return next((seen for seen in self.since(-1) if seen.number == number), None)

    def _seen(self, watch: Watch, said: RequestContent | None) -> Seen:
        if watch.number is None:
            self._shown += 1
            watch.number = self._shown
        return Seen(watch.number, watch, said)


def _without_content(watch: Watch) -> Watch:
    """A copy, since the recorder wants it with its content."""
    if watch.content is None:
        return watch
    alone = copy(watch)
    alone.content = None
    alone.attempts = [replace(attempt, content=None) for attempt in watch.attempts]
    return alone
