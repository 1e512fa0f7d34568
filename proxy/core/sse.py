"""Server-sent events: a parser for bytes that are cut anywhere, and what all our streams have in common.

The parser works on bytes and looks for blank lines only, so a character split over two reads cannot matter,
and a megabyte in one line costs one scan. Everything the standard lets a server write is read: LF, CR and
CRLF in any mix, one space or none after the colon, data in several lines, comments, fields unknown here.
"""

from collections.abc import Callable

from proxy.core import jsontext
from proxy.core.errors import Garbled, OwnWords
from proxy.core.jsontext import MAX_VALUES
from proxy.core.unquoted import has_more_values

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""Bytes of one event that has not ended yet. Backends send whole files as arguments in one chunk, but never this
much."""

MAX_LINES = 100_000
"""Lines of one event: each is read by itself."""

BOM = b"\xef\xbb\xbf"
BLANK = b"\n\n"
FIELD = b"data: "
"""Nearly every event is one line that begins so."""
NEXT = BLANK + FIELD
INSIDE = slice(len(FIELD), -len(BLANK))
STREAM_END = b"[DONE]"
"""The mark at the end of a stream of Chat. Servers of other dialects often add it too."""
DONE = FIELD + STREAM_END + BLANK
ERROR = b"error"
"""The name of an event whose data may be plain words. Until late in 2025, llama.cpp wrote it as a field of its own, and
then its end mark, as after a success."""

Emit = Callable[[bytes, bytes], None]


class SseParser:
    """Takes bytes cut anywhere, and calls `emit(data, event name)` once per event that has data. Without a name it is
    b""."""

    __slots__ = ("_after_cr", "_at_start", "_emit", "_limit", "_rest")

    def __init__(self, emit: Emit, limit: int = MAX_EVENT_BYTES) -> None:
        self._emit = emit
        self._limit = limit
        self._rest = bytearray()
        """The bytes since the last blank line."""
        self._after_cr = False
        """Was the last byte a CR, which ended a line? Then a LF that follows belongs to it."""
        self._at_start = True

    def feed(self, data: bytes) -> None:
        """Raises Garbled when an event grows beyond the limit."""
        if data.find(b"\r") >= 0 or (self._after_cr and data):
            data = self._with_lf_only(data)
        rest = self._rest
        if not rest and data.startswith(FIELD) and data.endswith(BLANK):
            self._at_start = False
            self._lines(data[INSIDE])
            return
        if rest.endswith(b"\n"):  # may be the first half of a blank line: look at it again
            rest.pop()
            data = b"\n" + data
        end = data.rfind(BLANK)
        if end >= 0:
            whole = data[:end]
            if rest:
                whole = bytes(rest) + whole
                _check(whole)
                rest.clear()
            data = data[end + len(BLANK) :]
            if self._at_start:
                self._at_start = False
                whole = whole.removeprefix(BOM)
            if whole.startswith(FIELD):
                self._lines(whole[len(FIELD) :])
            else:
                _read_all(whole, self._emit)
        rest.extend(data)
        if len(rest) > self._limit:
            raise Garbled(f"The backend sent an event of more than {self._limit} bytes.")

    def close(self, emit: Emit | None = None) -> None:
        """Ends the stream. A last event without its blank line counts too. `emit` may be another function for it, which
        checks whether it is whole."""
        block = bytes(self._rest)
        _check(block)
        self._rest.clear()
        _read(block.removeprefix(BOM) if self._at_start else block, emit or self._emit)

    def _lines(self, text: bytes) -> None:
        """Whole events that begin with `FIELD`, as nearly all do, without the first one's, and the last one's end."""
        emit = self._emit
        if text and text.find(b"\n") < 0:  # it takes a fifth of the time of `in`
            emit(text, b"")  # one event by itself: what a model that speaks sends
            return
        for line in text.split(NEXT):
            if line and line.find(b"\n") < 0:
                emit(line, b"")
            else:
                _read_all(FIELD + line, emit)

    def _with_lf_only(self, data: bytes) -> bytes:
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _check(blocks: bytes) -> None:
    """Checks what came in several reads: is the first event larger than can be read at once?"""
    if len(blocks) <= MAX_LINES:
        return
    first = blocks[: blocks.find(BLANK)] if BLANK in blocks else blocks
    if first.count(b"\n") > MAX_LINES:
        raise Garbled(OwnWords(f"The backend sent an event of more than {MAX_LINES} lines."))
    if has_more_values(first, MAX_VALUES):
        raise Garbled(OwnWords(f"The backend sent an event of more than {MAX_VALUES} values."))


def _read_all(blocks: bytes, emit: Emit) -> None:
    for block in blocks.split(BLANK):
        _read(block, emit)


def _read(block: bytes, emit: Emit) -> None:
    name = b""
    data: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
        elif field == ERROR:
            name = ERROR
            data.append(value.removeprefix(b" "))
    payload = b"\n".join(data)
    if payload:
        emit(payload, name)
    elif (bare := block.strip()).startswith((b"{", b"[")):
        emit(bare, name)  # Gemini breaks off a stream with its error as plain JSON, in no field at all


def is_whole(line: bytes) -> bool:
    """Is this the end mark, whatever follows it, or a JSON value by itself? White space is neither: what was to come
    has not begun."""
    line = line.strip()
    if line.startswith(STREAM_END):
        return True
    try:
        jsontext.loads(line)
    except jsontext.BadJson:
        return False
    return True


def comment(text: str) -> bytes:
    """Returns a line that clients ignore and that keeps a connection alive."""
    return b": %b\n\n" % text.encode()
