"""Those who watch, and how each request is handed to them."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from proxy.core.errors import Fault
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quotable, shown
from proxy.shell.ops.logs import Log
from proxy.shell.watching.content import Content, ContentRoom
from proxy.shell.watching.watch import TransportName, Watch

MAX_PATH = 200
"""Characters: anybody may send 8,000, without a key."""


class Watcher(Protocol):
    """One who watches all requests. What it raises is logged, and hurts no request; but while it works, all wait."""

    @property
    def name(self) -> str:
        """A word of our own, for the log and the metrics."""

    @property
    def wants_content(self) -> Callable[[Watch], bool] | None:
        """Is what is said in this request to be kept with it? Asked once, before anything of it is known but who asks,
        where, and when. None: nothing of any request is."""

    def begun(self, watch: Watch, headers: Mapping[str, str]) -> None:
        """A request has begun. Its `watch` may be kept, and read at any time; its client's headers may not."""

    def ended(self, watch: Watch) -> None:
        """Nothing of it changes any more."""


class Watchers:
    def __init__(
        self,
        watchers: Sequence[Watcher],
        *,
        room: ContentRoom,
        clock: Callable[[], float],
        now: Callable[[], float],
        mint: Mint,
        failed: Callable[[str], None],
        log: Log,
    ) -> None:
        """`clock` measures, `now` tells the date. `failed`: counts a failure of the watcher of this name."""
        self._watchers = watchers
        self._wanting = [
            (watcher, wants) for watcher in watchers if (wants := watcher.wants_content) is not None
        ]
        self._room = room
        self._clock = clock
        self._now = now
        self._mint = mint
        self._failed = failed
        self._log = log
        self._told: set[str] = set()

    def __bool__(self) -> bool:
        """Is there anybody who watches?"""
        return bool(self._watchers)

    def begin(
        self,
        *,
        request_id: str,
        surface: str | None,
        transport: TransportName,
        method: str,
        path: str,
        tenant: str | None,
        headers: Mapping[str, str],
        ledger: Ledger,
        hidden: Callable[[Fault], Fault],
    ) -> Watch:
        """`hidden` takes the secrets out of a fault."""
        watch = Watch(
            request_id,
            surface,
            transport,
            *_readable(method, path),
            tenant,
            ledger,
            self._now(),
            self._clock,
            hidden,
        )
        if self._wanting and self._is_wanted(watch):
            watch.content = Content(self._room, headers, watch.seconds, self._mint, self._now)
        for watcher in self._watchers:
            try:
                watcher.begun(watch, headers)
            except Exception as failure:
                self._note(watcher, failure)
        return watch

    def end(self, watch: Watch, status: int, fault: Fault | None) -> None:
        watch.end(status, fault)
        for watcher in self._watchers:
            try:
                watcher.ended(watch)
            except Exception as failure:
                self._note(watcher, failure)

    def _is_wanted(self, watch: Watch) -> bool:
        """All are asked, since each remembers its answer."""
        wanted = False
        for watcher, wants in self._wanting:
            try:
                wanted |= wants(watch)
            except Exception as failure:
                self._note(watcher, failure)
        return wanted

    def _note(self, watcher: Watcher, failure: Exception) -> None:
        self._failed(watcher.name)
        if watcher.name not in self._told:  # it may fail on every request
            self._told.add(watcher.name)
            self._log.error("watcher_failed", watcher=watcher.name, exc_info=failure)


@lru_cache(maxsize=128)
def _readable(method: str, path: str) -> tuple[str, str]:
    """To mask them takes longer than all the rest of a watch, and nearly all requests come by few paths."""
    return shown(method), quotable(path, MAX_PATH)
