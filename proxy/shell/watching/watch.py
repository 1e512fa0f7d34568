"""One request as data, from its beginning on: what was asked, of whom, when, and what came of it.

Times are seconds since the request began. Whatever has not happened yet is None.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from proxy.core.backends.post import Post
from proxy.core.errors import Fault
from proxy.core.events import Ending, ReplyEnded
from proxy.core.flow.request import Preparation
from proxy.core.ledger import Ledger
from proxy.core.masking.headers import shown_headers
from proxy.core.masking.redact import as_name
from proxy.core.tracing.wishes import Wish, wishes_of
from proxy.shell.watching.content import AttemptContent, Content

FAILED = 400
"""The least status of an answer that is none to what was asked."""

Why = Literal["first", "again", "elsewhere", "lesson"]
"""Why an attempt was made: as the first one; because the same backend may do it now; because another backend may; or
because a refusal taught how to ask."""

Moment = Literal["place", "head", "first_byte", "first_text"]
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
    place: float | None = None
    """A place among the backend's requests was got."""
    head: float | None = None
    """The head of the answer had come: it is connected, and `status` is known."""
    first_byte: float | None = None
    first_text: float | None = None
    """The first that the model said: text, a thought, or a call."""
    ended: float | None = None
    status: int | None = None
    ending: Ending | None = None
    """None if the backend's reply never came to one."""
    fault: Fault | None = None
    """Without secrets. Its message may quote content: `facts_of` says what a log may tell of it."""
    content: AttemptContent | None = None
    wishes: Mapping[str, Wish] | None = None
    """What the model was asked for besides the words. None where no trace is made."""


@dataclass(slots=True, eq=False)
class Watch:
    request_id: str
    surface: str | None
    """By the name that metrics have. None for a path of no surface."""
    transport: TransportName
    method: str
    path: str
    """As it was asked for, masked and cut, without its query."""
    tenant: str | None
    """None for whoever was not let in."""
    ledger: Ledger = field(repr=False)
    """Live: the facts of the log line so far (`facts`), and the counts of what was strange (`oddities`, `dropped`,
    `markup`), and `warnings` for the client."""
    date: float
    """When it began, in seconds since 1970."""
    clock: Callable[[], float] = field(repr=False)
    hidden: Callable[[Fault], Fault] = field(repr=False)
    """Takes secrets out of a fault."""
    attempts: list[Attempt] = field(default_factory=list)
    background: bool = False
    """Does its work go on while no client waits?"""
    ended: float | None = None
    status: int | None = None
    """Of the answer; 499 if the client has left. None while it is under way."""
    fault: Fault | None = None
    """What the client was told, or would have been, without secrets. See `Attempt.fault`."""
    content: Content | None = None
    """Only where a watcher wants it."""
    outgoing: Callable[[Attempt], Mapping[str, str]] | None = None
    """What the backend of an attempt is told in headers, beside what it is told anyway."""
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def seconds(self) -> float:
        """For how long it has been under way."""
        return self.clock() - self._began

    @property
    def has_failed(self) -> bool:
        """Also where another attempt has mended it: whoever looks for failures wants to see those, too."""
        return self.has_faults or (self.status or 0) >= FAILED

    @property
    def has_faults(self) -> bool:
        if self.fault is not None:
            return True
        for attempt in self.attempts:  # noqa: SIM110 - a generator would cost more than the rest
            if attempt.fault is not None:
                return True
        return False

    # ── as the engine tells it ──

    def attempt(self, why: Why, backend: str, preparation: Preparation) -> None:
        """This is asked now, or waits for its place."""
        post, profile, now = preparation.post, preparation.profile, self.seconds()
        before = self.attempts[-1] if self.attempts else None
        if before is not None and before.ended is None:
            before.ended = now
        attempt = Attempt(
            why,
            backend,
            as_name(preparation.model),
            profile.name,
            profile.dialect,
            post.url.partition("?")[0],
            now,
            content=self.content.attempt(preparation) if self.content is not None else None,
        )
        if why == "lesson" and before is not None:
            attempt.place = before.place
        if self.outgoing is not None:
            attempt.wishes = wishes_of(preparation.request)
        self.attempts.append(attempt)

    def post(self, post: Post) -> Post:
        """The request of the attempt that is under way, as it is sent."""
        if self.outgoing is None:
            return post
        return replace(post, headers={**post.headers, **self.outgoing(self.attempts[-1])})

    def mark(self, moment: Moment) -> None:
        """Notes when something happened first in the attempt that is under way."""
        attempt = self.attempts[-1]
        if getattr(attempt, moment) is None:
            setattr(attempt, moment, self.clock() - self._began)

    def head_came(self, status: int, headers: Mapping[str, str]) -> None:
        """The backend has sent the head of its answer."""
        self.mark("head")
        attempt = self.attempts[-1]
        attempt.status = status
        if attempt.content is not None:
            attempt.content.answer_headers = shown_headers(headers)

    def refused(self, words: bytes) -> None:
        """The backend has refused, in these words."""
        self.mark("first_byte")
        if self.content is not None:
            self.content.received(words)

    def counted(self, answer: bytes) -> None:
        """The backend has told a number of tokens."""
        self.refused(answer)
        self.attempt_ended(None)

    def attempt_ended(self, ended: ReplyEnded | None) -> None:
        attempt = self.attempts[-1]
        attempt.ended = self.seconds()
        if ended is not None:
            attempt.ending = ended.ending
            attempt.fault = None if ended.fault is None else self.hidden(ended.fault)

    def end(self, status: int, fault: Fault | None) -> None:
        self.ended, self.status = self.seconds(), status
        self.fault = None if fault is None else self.hidden(fault)
        if self.attempts and self.attempts[-1].ended is None:
            self.attempts[-1].ended = self.ended
            self.attempts[-1].fault = self.fault
