"""The stage of a reply's pipeline that takes the tokens of frames out of the text.

Some families put every message into a frame. Where their calls leak, so do the frames. An opener counts only at the
very start, or right behind what was taken out: a thought, a frame, a call. If a blank follows it in its line, it is
prose about the token. A closer counts if its opener was taken out, or beside a call, and only at the end, before
another frame or before a call. Nothing else is touched: a sentence that names these tokens stays as it is. Text in a
frame flows; held back is only what can become a token.
"""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from proxy.core.events import (
    CallDelta,
    CallEndDelta,
    Delta,
    EndDelta,
    FinishDelta,
    ReasoningDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.logprobs import of_text
from proxy.core.markup.frame_tokens import ANY, BEGUN, BEGUN_HEADER, FRAMED_BY, Token, TokenRole, token_of
from proxy.core.markup.shapes import either, literal

ASIDE: Final = frozenset({UsageDelta, CallDelta, CallEndDelta})
"""Deltas that leave the text open: it may still go on."""

MAX_BLANKS: Final = 64
MAX_TOKENS: Final = 128
"""Characters of tokens in a row. No model writes more."""
PIECE: Final = 4096
"""Characters that are read at a time: what stands behind a token is copied."""
MAX_VAIN: Final = 2_000
"""So many tokens of a reply may turn out to be none. Then its text is looked through no further: one of nothing else
may come in one event, and would take the event loop for a minute."""
_TAGS: Final = ("<|", "</mm:think>", "</answer>", "</response>", "</s>")
_REST: Final = either(*(literal(tag[1:]) for tag in _TAGS))
_MAY_BEGIN: Final = re.compile(rf"<(?:{_REST.whole}|(?=[^<]{{0,{max(map(len, _TAGS))}}}\Z){_REST.begun}\Z)")
"""Matches where a token may begin, but for the recipient at the start of a reply. It begins with a literal sign, for
which a text is searched forty times faster, and looks for what can only stand at the end nowhere else."""
_AT_START: Final = ("<", "t")
_UNDECIDED: Final = {"", *_AT_START}


class _Met(NamedTuple):
    """A token in the text."""

    token: Token
    end: int


class FrameStage:
    def __init__(self, emit: Callable[[Delta], None], ledger: Ledger, *, calls: bool) -> None:
        """`calls`: can there be calls that were found in text?"""
        self._emit = emit
        self._ledger = ledger
        self._calls = calls
        self._fresh = True
        """Is nothing visible between here and what was taken out, or the start?"""
        self._beside_call = False
        """Is that a call?"""
        self._open: frozenset[str] | None = None
        """The family whose frame the text stands in."""
        self._thinking: frozenset[str] | None = None
        """The family whose thought has not ended."""
        self._held = ""
        self._vain = 0
        """What looked like tokens and were none."""
        self._logprobs: list[Any] = []

    def frame(self, tag: str) -> None:
        """Notes that this tag has opened a frame around the answer."""
        self._open = frozenset((FRAMED_BY.get(tag, "harmony"),))

    def flows(self, kind: type[Delta]) -> bool:
        """Would more of this kind pass as it is? Of text, what has no `<` in it, where there can be calls."""
        if kind is TextDelta:
            return not (self._fresh or self._held or self._thinking or self._open)
        return kind in ASIDE or not self._held

    def feed(self, delta: Delta) -> None:
        if type(delta) is TextDelta:
            if self._fresh and not (self._held or self._thinking) and _is_prose(delta.text):
                self._fresh = self._beside_call = False
            waits = self._fresh or self._held or self._thinking
            if waits or ("<" in delta.text and (self._calls or self._open)):
                self._on_text(delta)
            else:
                self._emit(delta)
            return
        if type(delta) is CallDelta and delta.name:
            self._settle(before_call=True)
            self._fresh, self._beside_call, self._open = True, True, None
        elif self._held and type(delta) not in ASIDE:
            self._settle(ended=type(delta) in (FinishDelta, EndDelta))
        self._emit(delta)

    def close(self) -> None:
        self._settle(ended=True)

    # ── text ──

    def _on_text(self, delta: TextDelta) -> None:
        text, self._held = self._held + delta.text, ""
        self._logprobs += delta.logprobs or ()
        for at in range(0, len(text), PIECE):
            piece, self._held = self._held + text[at : at + PIECE], ""
            while piece:
                if self._thinking:
                    piece = self._think(piece)
                elif self._fresh:
                    piece = self._begin(piece)
                else:
                    piece = self._go_on(piece)

    def _begin(self, text: str) -> str:
        """Reads what stands right behind what was taken out."""
        visible = text.lstrip()
        if not visible and len(text) <= MAX_BLANKS:
            self._held = text
            return ""
        if visible[:1] in _AT_START and len(text) - len(visible) <= MAX_BLANKS:
            met = self._met(visible, 0)
            if met is None and self._may_grow(visible):
                self._held = text
                return ""
            if met and met.token.role in (TokenRole.TEXT, TokenRole.THOUGHT):
                if met.end == len(visible):
                    self._held = text
                    return ""
                if visible[met.end] not in " \t":
                    return self._enter(met.token, visible[met.end :])
            elif met:
                return self._at_tokens(text, len(text) - len(visible))
        self._fresh = self._beside_call = False
        return text

    def _enter(self, token: Token, rest: str) -> str:
        self._ledger.odd("frame_token")
        self._fresh, self._beside_call = True, False
        if token.role is TokenRole.THOUGHT:
            self._thinking, self._open = token.families, None
        else:
            self._open = token.families
        return rest.lstrip()

    def _go_on(self, text: str) -> str:
        """Passes visible text up to what may be a token."""
        at = 0
        while self._vain < MAX_VAIN and (found := _MAY_BEGIN.search(text, at)):
            at = found.start()
            if self._met(text, at) or self._may_grow(text[at:]):
                self._say(text[:at])
                return self._at_tokens(text[at:], 0)
            at += 1
            self._in_vain()
        self._say(text)
        return ""

    def _at_tokens(self, text: str, start: int) -> str:
        """Reads the tokens that the text begins with. They count only if nothing visible but a frame follows."""
        at, closers = start, False
        while (met := self._met(text, at)) and at <= MAX_TOKENS:
            if met.token.role in (TokenRole.TEXT, TokenRole.THOUGHT):
                if met.end == len(text):
                    break
                if closers and self._counts(text[:at]) and text[met.end] not in " \t":
                    return self._enter(met.token, text[met.end :])
                return self._pass(text)
            closers = closers or met.token.role is TokenRole.CLOSER
            at = met.end
            while at < len(text) and text[at].isspace():
                at += 1
        if at > MAX_TOKENS:
            return self._pass(text, at)
        if met is None and at < len(text) and not self._may_grow(text[at:]):
            return self._pass(text)
        self._held = text
        return ""

    def _pass(self, text: str, size: int = 0) -> str:
        """Passes one sign of what is no token here, or more."""
        self._fresh = self._beside_call = False
        self._in_vain()
        size = size or len(text) - len(text.lstrip()) + 1
        self._say(text[:size])
        return text[size:]

    def _in_vain(self) -> None:
        self._vain += 1
        if self._vain == MAX_VAIN:
            self._ledger.odd("frame_tokens_unread")

    def _think(self, text: str) -> str:
        at = 0
        while found := _MAY_BEGIN.search(text, at):
            at = found.start()
            met = self._met(text, at)
            if met and met.token.role is TokenRole.CLOSER and met.token.families & (self._thinking or set()):
                self._say_thought(text[:at])
                self._thinking, self._fresh = None, True
                return text[met.end :].lstrip()
            if met is None and self._may_grow(text[at:]):
                break
            at += 1
        else:
            at = len(text)
        self._say_thought(text[:at])
        self._held = text[at:]
        return ""

    # ── tokens ──

    def _met(self, text: str, at: int) -> _Met | None:
        """Returns the longest token that stands here."""
        found = ANY.match(text, at)
        return _Met(token_of(found), found.end()) if found else None

    def _may_grow(self, text: str) -> bool:
        return bool(BEGUN.match(text) or (self._calls and BEGUN_HEADER.match(text)))

    def _counts(self, tokens: str) -> bool:
        """Was the frame opened that these tokens close, or do they stand beside a call?"""
        if self._beside_call:
            return True
        met = self._met(tokens, len(tokens) - len(tokens.lstrip()))
        return met is not None and bool(self._open and met.token.families & self._open)

    # ── what is held ──

    def _settle(self, *, before_call: bool = False, ended: bool = False) -> None:
        """Decides about what is held, because no more text follows it."""
        held, self._held = self._held, ""
        if not held.strip():
            if not (self._fresh and self._open):
                self._say(held)
            return
        if self._thinking:
            self._say_thought(held)
        elif not (
            self._is_tokens(held, before_call) and (before_call or (ended and self._counts_at_end(held)))
        ):
            self._say(held)
            self._fresh = self._beside_call = False
        else:
            self._ledger.odd("frame_token")
            self._logprobs.clear()

    def _counts_at_end(self, held: str) -> bool:
        met = self._met(held.lstrip(), 0)
        return self._counts(held) or (self._fresh and met is not None and met.token.role is TokenRole.TEXT)

    def _is_tokens(self, held: str, before_call: bool) -> bool:
        """Is this nothing but whole tokens that may stand here?"""
        at = len(held) - len(held.lstrip())
        while met := self._met(held, at):
            if met.token.role is TokenRole.HEADER and not before_call:
                return False
            at = met.end
            while at < len(held) and held[at].isspace():
                at += 1
        return at == len(held)

    def _say(self, text: str) -> None:
        if text:
            logprobs, self._logprobs = self._logprobs, []
            self._emit(TextDelta(text, (of_text(logprobs, text) if logprobs else None) or None))

    def _say_thought(self, text: str) -> None:
        self._logprobs.clear()
        if text:
            self._emit(ReasoningDelta(text))


def _is_prose(text: str) -> bool:
    """Does it begin with a sign that begins no token, and has none in it? So nearly every text does."""
    return text[:1] not in _UNDECIDED and not text[0].isspace() and "<" not in text
