"""The way to backends, as those who ask them see it.

`upstream` is the one over the network. Nothing here knows of sockets, so recorded or invented answers can take its
place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from proxy.core.backends.post import Post

Take = Callable[[bytes], bool]
"""Is given what came, and says whether it wants more."""


@dataclass(slots=True, frozen=True)
class Timeouts:
    """In seconds."""

    connect: float
    first_byte: float
    idle: float
    total: float


@dataclass(slots=True, frozen=True)
class Page:
    """The answer to a small question, read whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Exchange(Protocol):
    """One request under way: the head of its answer, and the bytes of its body as they come."""

    status: int
    headers: Mapping[str, str]

    async def read(self) -> bytes:
        """What has come since the last read; b"" at the end. A failure is raised, as a fault, after the last bytes."""

    async def read_at_most(self, limit: int) -> bytes:
        """The beginning of the body. What is beyond the limit, broken or late is done without."""

    async def push_to(self, take: Take) -> None:
        """Hands over what comes, as soon as it comes, as long as `take` wants more and all goes well. It may return at
        any time: an end or a failure is left to `read`."""

    def begun(self) -> None:
        """The reply shows something meaningful: the limit on the wait for it is met."""

    def finishing(self, so_it_seems: bool) -> None:
        """Only usage may follow: `read` ends by itself soon, unless more comes than that."""

    def release(self) -> None:
        """All was read that is needed."""

    def close(self) -> None:
        """Stop here, unless released before."""


class Transport(Protocol):
    async def send(self, post: Post, timeouts: Timeouts) -> Exchange:
        """POST, and wait for the head of the answer, whatever its status. The caller closes the exchange."""

    async def fetch(self, url: str, headers: Mapping[str, str], seconds: float) -> Page:
        """GET something small, in one piece. Raises faults."""
