"""The first stage: what kind of body is this really?

A backend that was asked for a stream may answer one JSON object, and one that was asked for JSON may stream; content
types are wrong in both directions. The first visible byte is reliable: `{` opens a JSON body, `<` a web page, anything
else is an event stream.
"""

from proxy.core.errors import Garbled, OwnWords
from proxy.core.events import Decoder
from proxy.core.jsontext import MAX_VALUES
from proxy.core.sse import BOM, ERROR, SseParser, is_whole
from proxy.core.unquoted import has_more_values

INVISIBLE = b" \t\r\n" + BOM
"""White space, and the byte order mark: a reply begins behind them."""
JSON_OPENERS = (b"{", b"[")

MAX_BODY_BYTES = 32 << 20
"""Bytes of a reply that is not a stream and is read whole. The proxy asks for streams; the largest such reply known
holds some pictures."""


class Intake:
    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._sse: SseParser | None = None
        self._json: list[bytes] | None = None
        self._room = MAX_BODY_BYTES

    @property
    def silent(self) -> bool:
        """Has nothing but white space come?"""
        return self._sse is None and self._json is None

    def feed(self, data: bytes) -> None:
        """Raises Garbled for bytes that are no reply."""
        if self._sse is not None:
            self._sse.feed(data)
        elif self._json is not None:
            self._json.append(data)
            self._room -= len(data)
            if self._room < 0:
                message = OwnWords(
                    f"The backend's reply is no stream, and larger than {MAX_BODY_BYTES} bytes."
                )
                raise Garbled(message, code="upstream_reply_too_large")
        else:
            self._decide(data)

    def close(self) -> None:
        """Raises Garbled as `feed` does."""
        if self._sse is not None:
            self._sse.close(self._unended)
        elif self._json is not None:
            body = b"".join(self._json)
            if has_more_values(body, MAX_VALUES):
                raise Garbled(OwnWords(f"The backend's reply holds more than {MAX_VALUES} values."))
            self._decoder.body(body)

    def _decide(self, data: bytes) -> None:
        visible = data.lstrip(INVISIBLE)
        first = visible[:1]
        if not first:
            pass  # a backend may send blank lines for minutes to keep the connection alive: none need be kept
        elif first in JSON_OPENERS:
            self._json = [visible]
        elif first == b"<":
            message = OwnWords(
                "The backend answered with a web page instead of a reply. Is the backend's URL right?"
            )
            raise Garbled(message, code="upstream_invalid_response")
        else:
            self._sse = SseParser(self._decoder.event)
            self._sse.feed(visible)

    def _unended(self, data: bytes, event: bytes) -> None:
        """Takes a last event without its end mark (F33). If the event is cut, so was the stream; after the model's
        finish that loses nothing (F42)."""
        if event == ERROR or b"\n" in data or is_whole(data):
            self._decoder.event(data, event)
