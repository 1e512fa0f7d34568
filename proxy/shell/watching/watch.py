"""One request as data, from its beginning on: what was asked, of whom, when, and what came of it.

Times are seconds since the request began. Whatever has not happened yet is None. Both classes have slots, since as soon
as thirty requests have begun before the first goes on, Python gives each object without them a dictionary of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from proxy.core.backends.post import Post
from proxy.core.errors import Fault
from proxy.core.events import Ending
from proxy.core.flow.request import Preparation
from proxy.core.ledger import Ledger
from proxy.core.tracing.wishes import Wish, wishes_of
from proxy.shell.watching.content import AttemptContent, Content

FAILED = 400
"""The least status of an answer that is none to what was asked."""

Why = Literal["first", "again", "elsewhere", "lesson"]
"""Why an attempt was made: as the first one; because the same backend may do it now; because another backend may; or
because a refusal taught how to ask."""

TransportName = Literal["http", "websocket"]


@dataclass(slots=True, eq=False)
class Attempt:
    """One POST to a backend."""

    why: Why
    backend: str
    backend_model: str
    """`*` if it is no name."""
    profile: str
    dialect: str
    url: str
    """Without its query, where some backends want their key."""
    began: float
    place: float | None = field(default=None, init=False)
    """A place among the backend's requests was got."""
    head: float | None = field(default=None, init=False)
    """The head of the answer had come: it is connected, and `status` is known."""
    first_byte: float | None = field(default=None, init=False)
    first_text: float | None = field(default=None, init=False)
    """The first that the model said: text, a thought, or a call."""
    ended: float | None = field(default=None, init=False)
    status: int | None = field(default=None, init=False)
    ending: Ending | None = field(default=None, init=False)
    """None if the backend's reply never came to one."""
    fault: Fault | None = field(default=None, init=False)
    """As `SecretMask.to_keep` makes it. Its message may quote content: `facts_of` says what a log may tell of it."""
    content: AttemptContent | None = field(default=None, init=False)
    wishes: Mapping[str, Wish] | None = field(default=None, init=False)
    """What the model was asked for besides the words. None where no trace is made."""


@dataclass(slots=True, eq=False)
class Watch:
    request_id: str
    surface: str | None
    """By the name that metrics have. None for a path of no surface."""
    transport: TransportName
    method: str
    path: str
    """As it was asked for, without its query. What a stranger wrote there is masked and cut."""
    tenant: str | None
    """None for whoever was not let in."""
    ledger: Ledger = field(repr=False)
    """Live: the facts of the log line so far (`facts`), and the counts of what was strange (`oddities`, `dropped`,
    `markup`), and `warnings` for the client."""
    date: float
    """When it began, in seconds since 1970."""
    clock: Callable[[], float] = field(repr=False)
    began: float = field(repr=False)
    """By the clock."""
    content: Content | None = field(default=None, repr=False)
    """Only where a watcher wants it."""
    outgoing: Callable[[Attempt], Mapping[str, str]] | None = field(default=None, repr=False)
    """What the backend of an attempt is told in headers, beside what it is told anyway."""
    attempts: list[Attempt] = field(default_factory=list, init=False)
    background: bool = field(default=False, init=False)
    """Does its work go on while no client waits?"""
    ended: float | None = field(default=None, init=False)
    status: int | None = field(default=None, init=False)
    """Of the answer; 499 if the client has left. None while it is under way."""
    fault: Fault | None = field(default=None, init=False)
    """What the client was told, or would have been. See `Attempt.fault`."""
    number: int | None = field(default=None, init=False)
    """Among those that the inspector has shown."""
    change: int | None = field(default=None, init=False)
    """Among those whose end the inspector has shown."""

    def seconds(self) -> float:
        """For how long it has been under way."""
        return self.clock() - self.began

    @property
    def has_failed(self) -> bool:
        """Also where another attempt has mended it: whoever looks for failures wants to see those, too."""
        return (
            self.fault is not None
            or (self.status or 0) >= FAILED
            or any(attempt.fault is not None for attempt in self.attempts)
        )

    # ── as the engine tells it ──

    def attempt(self, why: Why, backend: str, model: str, preparation: Preparation) -> None:
        """This is asked now, or waits for its place. `model`: see `Attempt.backend_model`."""
        post, profile = preparation.post, preparation.profile
        now = self.clock() - self.began
        attempt = Attempt(why, backend, model, profile.name, profile.dialect, post.url.partition("?")[0], now)
        if why == "lesson":
            before = self.attempts[-1]
            before.ended, attempt.place = now, before.place
        if self.content is not None:
            attempt.content = self.content.attempt(preparation)
        if self.outgoing is not None:
            attempt.wishes = wishes_of(preparation.request)
        self.attempts.append(attempt)

    def post(self, post: Post) -> Post:
        """The request of the attempt that is under way, as it is sent."""
        if self.outgoing is None:
            return post
        return replace(post, headers={**post.headers, **self.outgoing(self.attempts[-1])})

    def placed(self) -> None:
        """The attempt that is under way has its place."""
        self.attempts[-1].place = self.clock() - self.began

    def head_came(self, status: int, headers: Mapping[str, str]) -> None:
        """The backend has sent the head of its answer."""
        attempt = self.attempts[-1]
        attempt.status, attempt.head = status, self.clock() - self.began
        if self.content is not None:
            self.content.answered_with(headers)

    def heard(self, byte: float, text: float | None) -> None:
        """The backend has sent some of its answer, and at `text` the first that the model said."""
        attempt = self.attempts[-1]
        if attempt.first_byte is None:
            attempt.first_byte = byte
        attempt.first_text = text

    def refused(self, words: bytes) -> None:
        """The backend has refused, in these words."""
        self.heard(self.seconds(), None)
        if self.content is not None:
            self.content.received(words)

    def counted(self, answer: bytes) -> None:
        """The backend has told a number of tokens."""
        self.refused(answer)
        self.attempt_ended(None, None)

    def attempt_ended(self, ending: Ending | None, fault: Fault | None) -> None:
        """`fault`: see `Attempt.fault`."""
        attempt = self.attempts[-1]
        attempt.ended, attempt.ending, attempt.fault = self.clock() - self.began, ending, fault

    def end(self, status: int, fault: Fault | None) -> None:
        """`fault`: see `Watch.fault`."""
        self.ended, self.status, self.fault = self.clock() - self.began, status, fault
        if self.attempts and (last := self.attempts[-1]).ended is None:
            last.ended, last.fault = self.ended, fault
