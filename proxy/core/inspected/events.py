"""A stream as it came: its events, each with the time of the read or write that ended it."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from proxy.core.errors import Garbled
from proxy.core.sse import SseParser

MOST_EVENTS: Final = 3_000
MOST_CHARACTERS: Final = 20_000
"""Of one event."""


class TimedEvent(NamedTuple):
    seconds: float
    """Since the request began."""
    name: str
    """"" for an event without a name."""
    data: str


class Events(NamedTuple):
    events: list[TimedEvent]
    left_out: int
    """How many more events there were."""
    rest: str
    """Bytes behind the last event, if the stream broke off inside of one."""


def events(parts: Iterable[tuple[float, bytes]]) -> Events:
    """`parts`: what came or went, with its time. Where it is no event stream each part is an event."""
    found: list[TimedEvent] = []
    left_out = 0
    now = 0.0

    def note(data: bytes, name: bytes) -> None:
        nonlocal left_out
        if len(found) < MOST_EVENTS:
            found.append(TimedEvent(now, _text(name), _text(data)))
        else:
            left_out += 1

    parser = SseParser(note)
    whole: list[bytes] = []
    is_stream: bool | None = None
    for seconds, data in parts:
        now = seconds
        if is_stream is None and (start := data.lstrip()[:1]):
            is_stream = start not in (b"{", b"[", b"<")
        if not is_stream:
            if data.strip():
                note(data, b"")
            continue
        whole.append(data)
        try:
            parser.feed(data)
        except Garbled:
            note(data, b"")
    return Events(found, left_out, _behind(whole) if is_stream else "")


def _behind(parts: list[bytes]) -> str:
    """What stands behind the last blank line."""
    end = b"".join(parts[-64:]).replace(b"\r\n", b"\n").replace(b"\r", b"\n").rpartition(b"\n\n")[2]
    return _text(end.strip())


def _text(data: bytes) -> str:
    text = data[: MOST_CHARACTERS * 4].decode("utf-8", "replace")
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}… and more"
