"""How an event's JSON is put on a transport: a frame of an event stream, or a message of a WebSocket.

A transport chooses its framing and gives it to the encoder, so that a frame is made in one piece.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from proxy.core import sse


@dataclass(frozen=True, slots=True)
class Framing:
    before: Callable[[str], bytes]
    """What stands before the JSON of an event of this type."""
    after: bytes
    end: bytes | None
    """What follows the last event, if anything."""
    extras: bool = True
    """May other events stand around the standard ones, such as `error` before `response.failed`?"""


@lru_cache(maxsize=64)
def _line_before(event: str) -> bytes:
    return f"event: {event}\ndata: ".encode()


SSE = Framing(before=_line_before, after=b"\n\n", end=sse.DONE)
LOG = Framing(before=lambda event: b"", after=b"", end=None)
"""The JSON alone: events that are kept until somebody reads them as a stream."""
SOCKET = Framing(before=lambda event: b"", after=b"", end=None, extras=False)
"""One message for each event. The one that ends a reply is the last: the next would count as the next reply's."""


TYPE = b'{"type":"'
"""Every event of ours begins so."""


def replayed(event: bytes) -> bytes:
    """An event of a log as it stands in an event stream."""
    name = event[len(TYPE) : event.index(b'"', len(TYPE))].decode()
    return SSE.before(name) + event + SSE.after
