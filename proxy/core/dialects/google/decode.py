"""From Gemini's stream to deltas: chunks of parts, each read by the fields that it has.

Nothing here trusts a shape. What has a meaning is taken, what has none is skipped and counted in the ledger, and what
makes the reply unusable becomes an `ErrorDelta`; no backend can make this raise. The stream has no end mark: it is
whole when a finish reason was said, which the assembler knows.
"""

from collections.abc import Callable
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.listing import bare
from proxy.core.dialects.google import ending, errors
from proxy.core.dialects.google import logprobs as google_logprobs
from proxy.core.dialects.google.signatures import Carrier, as_extras
from proxy.core.dialects.reading import error_body
from proxy.core.dialects.reading.decoding import EMPTY_BODY, NO_REPLY, NOT_JSON, UNWRITABLE, Decoding
from proxy.core.errors import Empty, Fault, Garbled, OwnWords
from proxy.core.events import (
    END,
    CallDelta,
    Delta,
    Finish,
    FinishDelta,
    More,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Extras
from proxy.core.profile import BackendProfile
from proxy.core.sse import STREAM_END

Chunk = dict[str, Any]

OWN_FIELDS = frozenset({"candidates", "promptFeedback", "usageMetadata"})
"""Every chunk has one of these fields."""


BESIDE_WORDS = {
    "inlineData": "an image or another file",
    "fileData": "a link to a file",
    "executableCode": "code that was run at the backend",
    "codeExecutionResult": "the result of code that was run at the backend",
}
"""These parts of an answer are no text, and no surface has a field for them."""


class GoogleDecoder(Decoding):
    __slots__ = (
        "_calls_by_id",
        "_counts",
        "_finished",
        "_keep_extras",
        "_model",
        "_numbers",
        "_spoken",
        "_stamp",
        "_untold",
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
        self._keep_extras = keep_extras
        self._model = bare(model)
        self._stamp = stamp
        self._calls_by_id: dict[str, tuple[str, str]] = {}
        """Holds name and arguments of the calls by their ids."""
        self._numbers: dict[str, int] = {}
        """Holds, for each id, the last number that told two calls apart."""
        self._counts: Chunk = {}
        """Holds what was said of usage up to now: chunks repeat it, and each may know more."""
        self._untold: list[Any] = []
        """Keeps log probabilities of this chunk that no text has taken along yet."""
        self._spoken = False
        self._finished = False

    # ── in ─────────────────────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def wants_extras_back(profile: BackendProfile, *, proven: bool = False) -> bool:
        """Any part of any reply may be signed."""
        return True

    def event(self, data: bytes, event: bytes) -> None:
        """Takes one event of a stream."""
        data = data.strip()
        if not data.startswith(STREAM_END):
            self._take(data, NOT_JSON)
        elif self._finished:  # Google says no end, but gateways may
            self._emit(END)

    def body(self, data: bytes) -> None:
        """Takes a whole reply that is no stream: one chunk, or the list of all."""
        if not data.strip():
            self._fail(Empty(EMPTY_BODY))
            return
        self._take(data, NO_REPLY)
        if self._finished:
            self._emit(END)

    def _take(self, data: bytes, otherwise: str) -> None:
        raw = self._read(data, b'"args"')
        for chunk in raw if isinstance(raw, list) else [raw]:
            if isinstance(chunk, dict):
                self._chunk(chunk)
            else:
                self._fail(Garbled(otherwise))

    # ── one chunk ──────────────────────────────────────────────────────────────────────────────────────────

    def _chunk(self, chunk: Chunk) -> None:
        foreign = not chunk.keys() & OWN_FIELDS
        if chunk.get("error") or (foreign and error_body.is_one(chunk)):
            self._fail(errors.in_stream(chunk))
            return
        if foreign:
            self._odd("chunk_unknown")
        candidate = _first(chunk.get("candidates"))
        if candidate:
            self._untold = google_logprobs.read(candidate.get("logprobsResult"))
            self._content(candidate.get("content"))
        if isinstance(counts := chunk.get("usageMetadata"), dict):
            self._usage(counts)
        if candidate and (reason := candidate.get("finishReason")):
            self._finish(reason, candidate.get("finishMessage"))
        feedback = chunk.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            self._end(Finish.FILTER, feedback.get("blockReasonMessage"))

    def _content(self, content: Any) -> None:
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                self._part(part)
            else:
                self._odd("part_not_an_object")

    def _part(self, part: Chunk) -> None:
        signature = part.get("thoughtSignature")
        call, text = part.get("functionCall"), part.get("text")
        if isinstance(call, dict):
            self._call(call, signature)
        elif not isinstance(text, str):
            # Even a signature by itself: sent back, it would be a part without data, which is refused.
            self._odd("part_unknown")
            if beside := next((what for field, what in BESIDE_WORDS.items() if field in part), None):
                self._ledger.warn(
                    f"The model's answer held {beside}, which cannot be passed on and is left out."
                )
        elif part.get("thought"):
            self._sign(signature, "thought")
            if text:
                self._more.reasoning(text)
        else:
            self._text(text, signature)

    def _text(self, text: str, signature: Any) -> None:
        self._sign(signature, "text" if text else "end")
        if text:
            self._spoken = True
            logprobs, self._untold = self._untold, []
            if logprobs:
                self._emit(TextDelta(text, logprobs))
            else:
                self._more.text(text)

    def _sign(self, signature: Any, carrier: Carrier) -> None:
        """Keeps a signature before the delta that it belongs to, because it must stand there when it comes back."""
        if self._keep_extras and isinstance(signature, str) and signature:
            self._keep_extras(as_extras(signature, carrier, self._model))

    # ── calls ──────────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, call: Chunk, signature: Any) -> None:
        name = call.get("name")
        if call.get("partialArgs") or call.get("willContinue"):
            self._fail(
                Garbled(OwnWords("The backend sends arguments in pieces, which it was not asked for."))
            )
        elif not isinstance(name, str) or not name:
            self._odd("call_without_name")
        elif (arguments := self._arguments(call.get("args"))) is not None:
            self._whole_call(call.get("id"), name, arguments, signature)

    def _whole_call(self, raw_id: Any, name: str, arguments: str, signature: Any) -> None:
        if isinstance(raw_id, str) and self._calls_by_id.get(raw_id) == (name, arguments):
            self._odd("call_repeated")
            return
        call_id = self._own_id(raw_id if isinstance(raw_id, str) else "", name)
        index = len(self._calls_by_id)
        self._calls_by_id[call_id] = (name, arguments)
        self._spoken = True
        self._sign(signature, "call")
        self._emit(CallDelta(index, call_id, name, arguments))

    def _own_id(self, raw_id: str, name: str) -> str:
        """Makes an id where there is none, as in generations before the third; whatever the id, no two calls share
        it."""
        stem = call_id = raw_id or f"call_{self._stamp}_{name}"
        number = self._numbers.get(stem, 1)
        while call_id in self._calls_by_id:
            number += 1
            call_id = f"{stem}_{number}"
        self._numbers[stem] = number
        return call_id

    def _arguments(self, raw: Any) -> str | None:
        """Writes the arguments; None if they cannot be written, which ends the reply."""
        if raw is None:
            return "{}"
        if isinstance(raw, str):
            return raw
        try:
            return jsontext.compact(raw)
        except jsontext.BadJson:
            self._fail(Garbled(UNWRITABLE))
            return None

    # ── the ending ─────────────────────────────────────────────────────────────────────────────────────────

    def _usage(self, counts: Chunk) -> None:
        self._counts |= counts
        if counted := ending.usage(self._counts):
            self._emit(UsageDelta(counted))
        else:
            self._odd("usage_without_counts")

    def _finish(self, reason: Any, message: Any) -> None:
        if not isinstance(reason, str):
            self._odd("finish_not_a_word")
            return
        meaning = ending.finish(reason, message, self._ledger, spoken=self._spoken)
        if isinstance(meaning, Fault):
            self._fail(meaning)
        else:
            self._end(meaning, message)

    def _end(self, finish: Finish, message: Any) -> None:
        """Takes the end, which the oldest models say in every chunk."""
        if self._finished:
            self._odd("finish_repeated")
            return
        self._finished = True
        if finish is Finish.FILTER and isinstance(message, str) and message:
            self._emit(RefusalDelta(message))
        self._emit(FinishDelta(finish))


def _first(candidates: Any) -> Chunk | None:
    """Takes the first candidate; the proxy never asks for more."""
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    return first if isinstance(first, dict) else None
