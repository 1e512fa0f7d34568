"""One request as data, from its beginning on: what was asked, of whom, when, and what came of it.

Times are seconds since the request began. Whatever has not happened yet is None. `Notes` are what is left of a request
at which nobody has looked, a `Watch` what somebody sees who does. Both classes have slots, since as soon as thirty
requests have begun before the first goes on, Python gives each object without them a dictionary of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from proxy.core.backends.post import Post
from proxy.core.errors import Fault
from proxy.core.events import Ending
from proxy.core.facts import RequestFacts
from proxy.core.ledger import Counts
from proxy.core.tracing.wishes import Wish
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
    """As `SecretMask.to_keep` makes it. Its message may quote content: `facts_of` says what a log may tell of it."""
    wishes: Mapping[str, Wish] | None = None
    """What the model was asked for besides the words. None where no trace is made."""
    content: AttemptContent | None = None


Notes = tuple[
    str,
    str | None,
    TransportName,
    str,
    str,
    RequestFacts,
    dict[str, Counts],
    list[str],
    float,
    Callable[[], float],
    float,
    list[Attempt],
    float | None,
    Fault | None,
]
"""What a `Watch` is made of, in the order of its fields."""


@dataclass(slots=True, eq=False)
class Watch:
    request_id: str
    surface: str | None
    """The surface by its name in metrics. None for a path of no surface."""
    transport: TransportName
    method: str
    path: str
    """As it was asked for, without its query. What a stranger wrote there is masked and cut."""
    facts: RequestFacts = field(repr=False)
    """The facts of the log line, live. So are the two below."""
    remarks: dict[str, Counts] = field(repr=False)
    """What was strange, by its kind (`oddities`, `markup`, `dropped`), if anything was."""
    warnings: list[str] = field(repr=False)
    """For the client."""
    date: float
    """When it began, in seconds since 1970."""
    clock: Callable[[], float] = field(repr=False)
    began: float = field(repr=False)
    """By the clock."""
    attempts: list[Attempt]
    """Live."""
    ended: float | None = None
    fault: Fault | None = None
    """What the client was told, or would have been. See `Attempt.fault`."""
    content: Content | None = field(default=None, init=False, repr=False)
    """Only where a watcher wants it."""
    outgoing: Callable[[int], Mapping[str, str]] | None = field(default=None, init=False, repr=False)
    """What the backend of the attempt of this number is told in headers, beside what it is told anyway."""
    number: int | None = field(default=None, init=False)
    """Among those that the inspector has shown."""
    change: int | None = field(default=None, init=False)
    """Among those whose end the inspector has shown."""

    def __post_init__(self) -> None:
        if self.ended is not None:
            self.end(self.ended, self.fault)

    def seconds(self) -> float:
        """For how long it has been under way."""
        return self.clock() - self.began

    @property
    def tenant(self) -> str | None:
        """None for whoever was not let in."""
        return self.facts.get("tenant")

    @property
    def background(self) -> bool:
        """Is its work to go on while no client waits?"""
        return self.facts.get("background", False)

    @property
    def status(self) -> int | None:
        """The status of the answer; 499 if the client has left. None while it is under way."""
        return None if self.ended is None else self.facts["status"]

    @property
    def has_failed(self) -> bool:
        """Also where another attempt has mended it: whoever looks for failures wants to see those, too."""
        return (
            self.fault is not None
            or (self.status or 0) >= FAILED
            or any(attempt.fault is not None for attempt in self.attempts)
        )

    # ── as the engine tells it ──

    def post(self, post: Post) -> Post:
        """The request of the attempt that is under way, as it is sent."""
        if self.outgoing is None:
            return post
        return replace(post, headers={**post.headers, **self.outgoing(len(self.attempts) - 1)})

    def end(self, seconds: float, fault: Fault | None) -> None:
        """`fault`: see `Watch.fault`."""
        self.ended, self.fault = seconds, fault
        if self.attempts and (last := self.attempts[-1]).ended is None:
            last.ended, last.fault = seconds, fault
