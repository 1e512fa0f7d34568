"""What was said in one request, byte for byte, where a watcher wants it.

The bytes are those that passed: nothing is copied. All that is held at once has a bound for the process, and another
for one request. Beyond it nothing more is kept of that request, which `cut` says.

Keys are in none of the headers. In bodies they may be, because whoever sends one may write it there: a watcher that
shows bytes to somebody, or stores them, masks them first.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from proxy.core.argument_problem import ArgumentProblem
from proxy.core.errors import Fault
from proxy.core.events import Delta, Event
from proxy.core.flow.request import Preparation
from proxy.core.ids import Mint
from proxy.core.masking.headers import keys_in, shown_headers
from proxy.core.policy.awaited_checks import PendingCheck
from proxy.core.stored.named import Known
from proxy.core.surfaces.framing import Framing
from proxy.core.surfaces.surface import Surface
from proxy.core.tenants import Tenant

Read = tuple[float, bytes]
"""Some bytes, and when they passed, in seconds since the request began."""


class CheckVerdict(NamedTuple):
    """What a check of a call's arguments has found."""

    tool: str
    size: int
    """Characters of the arguments."""
    problem: ArgumentProblem | None
    gave_up: bool
    """Was this the last one that anybody waited for?"""


def verdict_on(question: PendingCheck, problem: ArgumentProblem | None, *, gave_up: bool) -> CheckVerdict:
    return CheckVerdict(question.spec.tool.dotted, len(question.arguments), problem, gave_up)


class ContentRoom:
    """The bytes of content that may be held at once: in this process, and of one request."""

    def __init__(self, total: int, most: int) -> None:
        self.most = most
        self._left = total

    def take(self, size: int) -> bool:
        if size > self._left:
            return False
        self._left -= size
        return True

    def give_back(self, size: int) -> None:
        self._left += size


@dataclass(slots=True, eq=False)
class AttemptContent:
    """What one attempt has sent to its backend, and got from it."""

    preparation: Preparation
    """The request in the words of this backend. `preparation.post` holds the key in its headers, and may in its URL."""
    headers: Mapping[str, str]
    """Sent to the backend, as `shown_headers` shows them."""
    body: bytes
    """Sent to the backend."""
    answer_headers: Mapping[str, str] = field(default_factory=dict)
    failure: Fault | None = None
    """What ended it from outside of the reply: a refusal, a broken connection, a limit of time, the client's leaving.
    It may hold secrets: see `Content.hidden`."""
    reads: list[Read] = field(default_factory=list)
    """What came from the backend, read by read."""


class Content:
    """What was said in one request. Its parts grow while the request is under way."""

    def __init__(
        self,
        room: ContentRoom,
        headers: Mapping[str, str],
        seconds: Callable[[], float],
        mint: Mint,
        now: Callable[[], float],
        hidden: Callable[[Fault], Fault],
    ) -> None:
        """`mint`, `now`: whose ids and dates the request is given, and which are noted here. `hidden` takes the secrets
        out of a fault."""
        self.hidden = hidden
        self.headers = shown_headers(headers)
        """The client's."""
        self.keys = keys_in(headers)
        """What of the headers is not shown, to be found where else it stands. Never to be shown itself."""
        self.tenant: Tenant | None = None
        self.surface: Surface | None = None
        self.known: Known | None = None
        """What was found of that which the request names."""
        self.digits: list[str] = []
        """The random digits that ids were made of, in their order."""
        self.dates: list[float] = []
        """The dates that were asked for, in their order."""
        self.signs: list[int] = []
        """Signs of life that were sent in the stream: how many reads had come before each."""
        self.verdicts: list[CheckVerdict] = []
        """What the checks of calls have found that took long, in their order."""
        self.framing: Framing | None = None
        self.not_stored: str | None = None
        """Why the response could not be kept, as its client was told."""
        self.mint = mint.noting(self.digits.append)
        self._now = now
        self.body: bytes | None = None
        """The client's, as it was received; None if none came, or too much."""
        self.frames: list[Read] = []
        """The frames of a stream, as they were made for the client."""
        self.answer: dict[str, Any] | None = None
        """The answer to a client that does not stream."""
        self.cut = False
        """Is something missing, because there was no room for it?"""
        self._room = room
        self._held = 0
        self._reads = 0
        self._seconds = seconds
        self._attempt: AttemptContent | None = None

    def __del__(self) -> None:
        """Whoever holds it, in a ring or a queue, holds its room."""
        self._room.give_back(self._held)

    @property
    def size(self) -> int:
        """The bytes that it holds."""
        return self._held

    # ── as the engine tells it ──

    def asked(self, body: bytes) -> None:
        """This is what the client has sent."""
        if self._holds(len(body)):
            self.body = body

    def attempt(self, preparation: Preparation) -> AttemptContent:
        post = preparation.post
        body = post.body if self._holds(len(post.body)) else b""
        self._attempt = AttemptContent(preparation, shown_headers(post.headers), body)
        return self._attempt

    def answered_with(self, headers: Mapping[str, str]) -> None:
        """These are the headers of the backend's answer."""
        if self._attempt is not None:
            self._attempt.answer_headers = shown_headers(headers)

    def now(self) -> float:
        date = self._now()
        self.dates.append(date)
        return date

    def failed(self, failure: Fault) -> None:
        """This ends the attempt that is under way."""
        if self._attempt is not None:
            self._attempt.failure = failure

    def signing(self, sign: Callable[[], None]) -> Callable[[], None]:
        """Notes when a sign of life is sent."""

        def noted() -> None:
            self.signs.append(self._reads)
            sign()

        return noted

    def sent_whole(self, body: dict[str, Any]) -> None:
        """The client got this, which is no stream."""
        self.answer = body

    def _holds(self, size: int) -> bool:
        if self.cut or self._held + size > self._room.most or not self._room.take(size):
            self.cut = True
            return False
        self._held += size
        return True

    # ── an observer of the reply ──

    def received(self, data: bytes) -> None:
        if self._attempt is not None and self._holds(len(data)):
            self._reads += 1
            self._attempt.reads.append((self._seconds(), data))

    def decoded(self, delta: Delta) -> None:
        """What the bytes mean can be found out again from them."""

    def ordered(self, event: Event) -> None:
        """See `decoded`."""

    def text(self, text: str, logprobs: list[Any] | None) -> None:
        """See `decoded`."""

    def sent(self, frame: bytes) -> None:
        if self._holds(len(frame)):
            self.frames.append((self._seconds(), frame))
