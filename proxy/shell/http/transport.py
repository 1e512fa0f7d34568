"""What the rest of the shell needs of a connection to backends, as protocols.

`upstream` is the one over the network. Nothing here knows of sockets, so recorded or invented answers can take its
place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from proxy.core.backends.post import Post

Take = Callable[[bytes], bool]
"""Gets what came, and returns whether it wants more."""


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
        """Returns what has come since the last read, b"" at the end. A failure is raised, as a fault, after the last
        bytes."""

    async def read_at_most(self, limit: int) -> bytes:
        """Returns the beginning of the body, without what is beyond the limit, broken or late."""

    async def push_to(self, take: Take) -> None:
        """Hands over what comes, as soon as it comes, as long as `take` wants more and all goes well. It may return at
        any time: an end or a failure is left to `read`."""

    def begun(self) -> None:
        """Ends the wait for the first byte: the reply shows something meaningful."""

    def finishing(self, so_it_seems: bool) -> None:
        """Tells whether only usage may follow. Then `read` ends by itself soon, unless something else comes."""

    def release(self) -> None:
        """Ends the exchange after a complete reply."""

    def close(self) -> None:
        """Ends the exchange, unless it was released."""


class Transport(Protocol):
    async def send(self, post: Post, timeouts: Timeouts) -> Exchange:
        """Sends a POST, and waits for the head of the answer, whatever its status. The caller closes the exchange."""

    async def fetch(self, url: str, headers: Mapping[str, str], seconds: float) -> Page:
        """Gets something small, in one piece. Raises faults."""
