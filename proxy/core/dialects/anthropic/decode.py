"""From the Messages API to deltas: one event of a stream, or a whole message.

Nothing here trusts a shape. What has a meaning is taken, what has none is skipped and counted in the ledger, and what
makes the reply unusable becomes an `ErrorDelta`; no backend can make this raise. Only `message_stop` proves that a
reply is whole, but a reply whose reason and blocks all came to their end is one without it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.anthropic import ending, errors
from proxy.core.dialects.anthropic.messages import DIALECT
from proxy.core.dialects.reading.decoding import UNWRITABLE, Decoding, word
from proxy.core.errors import Garbled
from proxy.core.events import (
    END,
    CallDelta,
    Delta,
    Finish,
    FinishDelta,
    More,
    RefusalDelta,
    UsageDelta,
)
from proxy.core.extras import BLOCKS
from proxy.core.ledger import Ledger
from proxy.core.model import Extras
from proxy.core.profile import BackendProfile
from proxy.core.sse import STREAM_END

BLOCK_KINDS = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
"""All other kinds belong to tools that run at the backend, which the proxy never asks for."""

PING = "ping"

EMPTY = (b"", STREAM_END)
"""Servers that also speak another dialect add these."""


@dataclass(slots=True)
class _Open:
    """Holds a content block that has not ended."""

    kind: str
    start: dict[str, Any]
    """The block as it began: what it has besides its text comes back to the backend with it."""
    words: list[str] = field(default_factory=list)
    """Holds a thought's text, or signs that there were arguments of a call."""
    signature: list[str] = field(default_factory=list)


class AnthropicDecoder(Decoding):
    __slots__ = (
        "_bare",
        "_counts",
        "_finished",
        "_keep_extras",
        "_model",
        "_open",
        "_reason",
    )

    def __init__(
        self,
        emit: Callable[[Delta], None],
        profile: BackendProfile,
        ledger: Ledger,
        keep_extras: Callable[[Extras], None] | None = None,
        *,
        model: str = "",
        stamp: str = "",
        more: More | None = None,
    ) -> None:
        super().__init__(emit, ledger, more)
        self._keep_extras = keep_extras if profile.replay != "none" else None
        self._model = model
        self._open: dict[int, _Open] = {}
        self._bare: int | None = None
        """Points at the call that ended without a sign of its arguments: it has none, unless the reply was cut
        there."""
        self._counts: dict[str, Any] = {}
        self._reason: dict[str, Any] | None = None
        """Holds what was said of the ending, as long as blocks are open."""
        self._finished = False

    # ── in ─────────────────────────────────────────────────────────────────────────────────────────────────

    def event(self, data: bytes, event: bytes) -> None:
        """Takes one event of a stream. Its own `type` says what it is; the name beside it may be missing."""
        if data.strip() in EMPTY:
            self._odd("event_empty")
            return
        raw = self._read(data, b'"input"')
        if isinstance(raw, dict):
            kind = word(raw.get("type")) or event.decode("ascii", "replace")
            if taker := TAKERS.get(kind):
                taker(self, raw)
            elif raw.get("error"):
                self._error(raw)
            elif kind != PING:
                self._odd("event_unknown")
        elif event == b"error":
            self._fail(errors.in_stream(raw or data.decode("utf-8", "replace")))
        else:
            self._no_object(raw)

    def body(self, data: bytes) -> None:
        """Takes a whole reply that is not a stream."""
        raw = self._read(data, b'"input"')
        if not isinstance(raw, dict):
            self._no_reply()
        elif raw.get("type") == "error" or raw.get("error"):
            self._error(raw)
        elif not isinstance(raw.get("content"), list):
            self._no_reply()
        else:
            for index, block in enumerate(raw["content"]):
                self._block_start({"index": index, "content_block": block})
                self._block_stop({"index": index})
            self._message_delta({"delta": raw, "usage": raw.get("usage")})
            self._message_stop(raw)

    # ── blocks ─────────────────────────────────────────────────────────────────────────────────────────────

    def _block_start(self, raw: dict[str, Any]) -> None:
        block, index = raw.get("content_block"), raw.get("index")
        if not isinstance(block, dict) or type(index) is not int:
            self._odd("block_malformed")
            return
        kind = word(block.get("type")) or ""
        if kind not in BLOCK_KINDS:
            self._odd("block_unknown")
            kind = ""
        self._settle_bare()
        opened = self._open[index] = _Open(kind, block)
        if kind == "text":
            self._text(block.get("text"))
        elif kind == "thinking":
            self._thought(opened, block.get("thinking"))
        elif kind == "redacted_thinking":
            self._keep_block(block)
        elif kind == "tool_use":
            self._emit(CallDelta(index, word(block.get("id")), word(block.get("name"))))

    def _block_delta(self, raw: dict[str, Any]) -> None:
        delta, index = raw.get("delta"), raw.get("index")
        if type(delta) is not dict:
            self._odd("delta_malformed")
            return
        opened = self._open.get(index) if type(index) is int else None
        kind = word(delta.get("type"))
        if opened is None or (opened.kind, kind) not in _FITTING:
            if opened is None or opened.kind:
                self._odd("delta_misplaced" if kind in _DELTAS else "delta_unknown")
        elif kind == "text_delta":
            self._text(delta.get("text"))
        elif kind == "thinking_delta":
            self._thought(opened, delta.get("thinking"))
        elif kind == "signature_delta":
            opened.signature.append(word(delta.get("signature")) or "")
        else:
            self._arguments(opened, index, delta.get("partial_json"))

    def _text(self, text: Any) -> None:
        if type(text) is not str and type(text := self._worded(text)) is not str:
            self._odd("text_not_a_string")
        elif text:
            self._more.text(text)

    def _thought(self, opened: _Open, text: Any) -> None:
        if type(text) is not str and type(text := self._worded(text)) is not str:
            self._odd("text_not_a_string")
        elif text:
            opened.words.append(text)
            self._more.reasoning(text)

    def _arguments(self, opened: _Open, index: Any, text: Any) -> None:
        if type(text) is not str:
            self._odd("arguments_not_text")
            text = self._as_text(text) if text not in NOTHING else ""
        if text:
            if not opened.words:
                opened.words.append(text)
            self._more.arguments(index, text)

    def _block_stop(self, raw: dict[str, Any]) -> None:
        index = raw.get("index")
        opened = self._open.pop(index, None) if type(index) is int else None
        if opened is None:
            self._odd("block_stop_misplaced")
        elif opened.kind == "thinking":
            self._keep_thought(opened)
        elif opened.kind == "tool_use" and not opened.words:
            self._whole_input(index, opened.start.get("input"))

    def _whole_input(self, index: Any, given: Any) -> None:
        """Takes the arguments of a call that did not come in pieces. Compatible servers send them whole, some as text,
        some not at all."""
        if not given:
            self._bare = index
            return
        try:
            self._emit(
                CallDelta(index, arguments=given if isinstance(given, str) else jsontext.compact(given))
            )
        except jsontext.BadJson:
            self._fail(Garbled(UNWRITABLE))

    def _settle_bare(self) -> None:
        if self._bare is not None:
            index, self._bare = self._bare, None
            self._emit(CallDelta(index, arguments="{}"))

    def _keep_thought(self, opened: _Open) -> None:
        signature = "".join(opened.signature) or word(opened.start.get("signature"))
        if signature:  # without one it would be refused
            self._keep_block(opened.start | {"thinking": "".join(opened.words), "signature": signature})

    def _keep_block(self, block: dict[str, Any]) -> None:
        if self._keep_extras and self._keepable(block):
            self._keep_extras({DIALECT: {BLOCKS: [{"model": self._model, "block": block}]}})

    # ── the message ────────────────────────────────────────────────────────────────────────────────────────

    def _message_start(self, raw: dict[str, Any]) -> None:
        message = raw.get("message")
        if isinstance(message, dict):
            self._count(message.get("usage"))
        else:
            self._odd("message_malformed")

    def _message_delta(self, raw: dict[str, Any]) -> None:
        """Takes the end of the message, which may come twice, the first time without a reason."""
        self._count(raw.get("usage"))
        delta = raw.get("delta")
        if isinstance(delta, dict) and delta.get("stop_reason"):
            self._reason = delta
        if self._reason and not self._open:
            self._finish(self._reason)

    def _message_stop(self, _: dict[str, Any]) -> None:
        """Without a reason before it, it proves no more than that the server has ended: a call that is not whole stays
        so."""
        cut = bool(self._open)
        for index in list(self._open):
            self._odd("block_never_stopped")
            self._block_stop({"index": index})
        if self._reason and not self._finished:
            self._finish(self._reason)
        elif not (cut or self._finished):
            self._settle_bare()
        self._emit(END)

    def _count(self, raw: Any) -> None:
        """Later counts replace earlier ones, unless they are null."""
        if isinstance(raw, dict):
            self._counts |= {name: value for name, value in raw.items() if value is not None}
            if counted := ending.usage(self._counts):
                self._emit(UsageDelta(counted))
        elif raw is not None:
            self._odd("usage_malformed")

    def _finish(self, delta: dict[str, Any]) -> None:
        if self._finished:
            self._odd("finish_repeated")
            return
        self._finished = True
        reason = delta.get("stop_reason")
        finish = ending.finish(str(reason), self._ledger)
        if finish is not Finish.LENGTH:
            self._settle_bare()
        if finish is Finish.FILTER and (words := ending.explanation(delta.get("stop_details"))):
            self._emit(RefusalDelta(words))
        self._emit(FinishDelta(finish))

    def _error(self, raw: dict[str, Any]) -> None:
        self._fail(errors.in_stream(raw))


_FITTING = frozenset(
    {
        ("text", "text_delta"),
        ("thinking", "thinking_delta"),
        ("thinking", "signature_delta"),
        ("tool_use", "input_json_delta"),
    }
)
NOTHING: tuple[Any, ...] = (None, {}, [])
_DELTAS = frozenset(delta for _, delta in _FITTING)


TAKERS: dict[str, Callable[[AnthropicDecoder, dict[str, Any]], None]] = {
    "message_start": AnthropicDecoder._message_start,
    "content_block_start": AnthropicDecoder._block_start,
    "content_block_delta": AnthropicDecoder._block_delta,
    "content_block_stop": AnthropicDecoder._block_stop,
    "message_delta": AnthropicDecoder._message_delta,
    "message_stop": AnthropicDecoder._message_stop,
    "error": AnthropicDecoder._error,
}
"""Maps the event's type to the method that takes it."""
