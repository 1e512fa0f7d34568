"""The watchers, and how each request is handed to them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from proxy.core.errors import Fault
from proxy.core.ids import Mint
from proxy.shell.ops.logs import Log
from proxy.shell.watching.content import Content, ContentRoom
from proxy.shell.watching.watch import Notes, Watch


class Watcher(Protocol):
    """One who watches all requests. What it raises is logged, and hurts no request; but while it works, all wait."""

    @property
    def name(self) -> str:
        """A word of our own, for the log and the metrics."""

    @property
    def wants_content(self) -> Callable[[Watch], bool] | None:
        """Is what is said in this request to be kept with it? Asked once, before anything of it is known but who asks,
        where, and when. None: nothing of any request is."""

    @property
    def begun(self) -> Callable[[Watch, Mapping[str, str]], None] | None:
        """Tells of a request that has begun, and of its client's headers. The watch may be kept, and read at any time;
        the headers may not. None: it is enough to be told of its end."""

    @property
    def ended(self) -> Callable[[Watch], None]:
        """Tells of a request of which nothing changes any more."""

    @property
    def keep(self) -> Callable[[Notes], None] | None:
        """Takes what the `Watch` of a request that has ended is made of, where nobody else watches and nobody has
        looked. None: it wants the `Watch`."""

    @property
    def refused(self) -> Callable[[Watch, Mapping[str, str]], None] | None:
        """Tells of a request that was refused at the door, and of its headers. None: it need not be told."""


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
        self._beginning = [(watcher, begun) for watcher in watchers if (begun := watcher.begun) is not None]
        self._ending = [(watcher, watcher.ended) for watcher in watchers]
        keeping = [watcher.keep for watcher in watchers]
        self.keep = keeping[0] if len(keeping) == 1 and keeping[0] is not None else self._hand_over
        """Takes what is known of a request that has ended, where no watcher was told of its beginning."""
        self.are_told_of_begins = bool(self._wanting or self._beginning)
        """Is there more to do than to have a watch, when a request begins?"""
        self._room = room
        self._clock = clock
        self.now = now
        self._mint = mint
        self._failed = failed
        self._log = log
        self._told: set[str] = set()

    def __bool__(self) -> bool:
        """Is there anybody who watches?"""
        return bool(self._watchers)

    def begin(self, watch: Watch, headers: Mapping[str, str], hidden: Callable[[Fault], Fault]) -> None:
        """`hidden` takes the secrets out of a fault."""
        if self._wanting and self._is_wanted(watch):
            watch.content = Content(self._room, headers, watch.seconds, self._mint, self.now, hidden)
        for watcher, begun in self._beginning:
            try:
                begun(watch, headers)
            except Exception as failure:
                self._note(watcher, failure)

    def _hand_over(self, notes: Notes) -> None:
        self.end(Watch(*notes))

    def end(self, watch: Watch) -> None:
        """The request has ended."""
        for watcher, ended in self._ending:
            try:
                ended(watch)
            except Exception as failure:
                self._note(watcher, failure)

    def refuse(
        self,
        request_id: str,
        surface: str | None,
        method: str,
        path: str,
        headers: Mapping[str, str],
        fault: Fault,
    ) -> None:
        """Somebody was refused at the door. `method`, `path`: fit to be shown. `fault`: see `Watch.fault`."""
        watch = Watch(
            request_id,
            surface,
            "http",
            method,
            path,
            {"status": fault.status},
            {},
            [],
            self.now(),
            self._clock,
            self._clock(),
            [],
            0.0,
            fault,
        )
        for watcher in self._watchers:
            try:
                if watcher.refused is not None:
                    watcher.refused(watch, headers)
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
