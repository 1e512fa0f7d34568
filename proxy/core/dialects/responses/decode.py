"""From the Responses API to deltas: one event of a stream, or a whole response.

Nothing here trusts a shape. What has a meaning is taken, what has none is skipped and counted in the ledger, and what
makes the reply unusable becomes an `ErrorDelta`; no backend can make this raise.

The API says everything several times: in pieces, when a part ends, when its item ends, and in the response at the end.
Servers leave out any of them, so each is taken for all that it adds to those before it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.reading import error_body
from proxy.core.dialects.reading.decoding import EMPTY_BODY, MAX_ANNOTATIONS, word
from proxy.core.dialects.responses import ending, entries, errors, left_out
from proxy.core.dialects.responses.entries import (
    CALL,
    CUSTOM,
    MESSAGE,
    REASONING,
    REFUSAL,
    SUMMARY,
    TEXT,
    THOUGHT,
    Json,
    Kind,
    Voice,
)
from proxy.core.dialects.responses.growing import Growing
from proxy.core.dialects.responses.saying import Saying
from proxy.core.errors import Empty
from proxy.core.events import END, Delta, Finish, FinishDelta, More, UsageDelta
from proxy.core.ledger import Ledger
from proxy.core.model import Extras
from proxy.core.profile import BackendProfile
from proxy.core.sse import STREAM_END

IGNORED = frozenset(
    {
        "response.created",
        "response.queued",
        "response.in_progress",
        "response.reasoning_summary_part.added",
        "response.done",
        "keepalive",
        "ping",
    }
)
"""What these events say is said again, or is no part of the reply."""
AS_OBJECTS = ("shell_call_", "local_shell_call", "apply_patch_call_")
PROGRESS = tuple(
    f"response.{tool}" for tool in ("web_", "file_", "code_", "image_", "mcp_", "computer_", *AS_OBJECTS)
)
"""How the events begin that tell how far a hosted tool is, or a call whose arguments are an object: its item says what
came of it."""

KIND_OF: Mapping[Voice, Kind] = {
    TEXT: MESSAGE,
    REFUSAL: MESSAGE,
    SUMMARY: REASONING,
    THOUGHT: REASONING,
}


class ResponsesDecoder(Saying):
    __slots__ = ("_ended",)

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
        super().__init__(emit, ledger, keep_extras, model, more)
        self._ended = False

    @staticmethod
    def wants_extras_back(profile: BackendProfile, *, proven: bool = False) -> bool:
        """Any of them may seal what its model thinks."""
        return True

    # ── in ─────────────────────────────────────────────────────────────────────────────────────────────────

    def event(self, data: bytes, event: bytes) -> None:
        """Takes one event of a stream. Its own `type` says what it is; the name beside it may be missing."""
        if data.strip() == STREAM_END:
            self._end_mark()
            return
        raw = self._parse(data)
        if isinstance(raw, dict):
            kind = word(raw.get("type")) or event.decode("ascii", "replace")
            if taker := TAKERS.get(kind):
                taker(self, raw)
            elif kind not in IGNORED and not kind.startswith(PROGRESS):
                self._unknown(raw)
        elif event == b"error":
            self._fail(errors.in_reply(raw or data.decode("utf-8", "replace")))
        else:
            self._no_object(raw)

    def body(self, data: bytes) -> None:
        """Takes a whole response that is not a stream."""
        if not data.strip():
            self._fail(Empty(EMPTY_BODY))
            return
        raw = self._parse(data)
        if not isinstance(raw, dict):
            self._no_reply()
        elif isinstance(raw.get("output"), list) or raw.get("object") == "response":
            self._over(raw)
        elif error_body.is_one(raw):
            self._fail(errors.in_reply(raw))
        else:
            self._no_reply()

    def _parse(self, data: bytes) -> Any:
        """Like `_read`, but what must be exact is made so where it is found."""
        try:
            raw = jsontext.quick(data)
        except ValueError:
            self._data, self._parsed = b"", None  # what is mended is exact
            return self._mended(data)
        self._data, self._parsed = data, raw
        return raw

    def _unknown(self, raw: Json) -> None:
        if error_body.is_one(raw):
            self._fail(errors.in_reply(raw))
        else:
            self._odd("event_unknown")

    def _error(self, raw: Json) -> None:
        self._fail(errors.in_reply(raw))

    # ── items ──────────────────────────────────────────────────────────────────────────────────────────────

    def _added(self, raw: Json) -> None:
        item = raw.get("item")
        if not isinstance(item, dict):
            self._odd("item_malformed")
        elif self._items.named(item) is not None:
            self._odd("item_repeated")
        else:
            self._begin(item, raw.get("output_index"))

    def _done(self, raw: Json) -> None:
        item = raw.get("item")
        if not isinstance(item, dict):
            self._odd("item_malformed")
            return
        index = raw.get("output_index")
        growing = self._items.of_item(item, entries.kind_of(item), index)
        if growing is None:
            growing = self._begin(item, index)
        elif growing.done:
            self._odd("item_repeated")
            return
        else:
            self._items.know(growing, item, index)
        self._finish(growing, item)

    # ── text ───────────────────────────────────────────────────────────────────────────────────────────────

    def _piece(self, raw: Json, voice: Voice, number: str) -> None:
        """Takes a piece of text."""
        text = raw.get("delta")
        if type(text) is not str and type(text := self._worded(text)) is not str:
            self._odd("text_not_a_string")
        elif text and (growing := self._of_event(raw, KIND_OF[voice])) is not None:
            voice = entries.voice_in(growing.kind or MESSAGE, voice)
            self._speak(growing, voice, raw.get(number), text, raw.get("logprobs"))

    def _whole_text(self, raw: Json, voice: Voice, number: str, text: Any) -> None:
        """Takes the whole text of a part, at its end."""
        if type(text) is not str:
            self._odd("text_not_a_string")
        elif text and (growing := self._of_event(raw, KIND_OF[voice], late=False)) is not None:
            voice = entries.voice_in(growing.kind or MESSAGE, voice)
            rest = growing.whole(voice, raw.get(number), text).rest(text)
            if rest is None:
                self._odd("text_differs")
            elif rest:
                self._speak(growing, voice, raw.get(number), rest)
            growing.end_part()

    def _part_added(self, raw: Json) -> None:
        self._items.announce_part(raw)

    def _part_done(self, raw: Json) -> None:
        for kind in (MESSAGE, REASONING):
            said = entries.part_text(raw.get("part"), kind)
            if said is not None and KIND_OF[said[0]] is kind:
                number = "summary_index" if said[0] is SUMMARY else "content_index"
                self._whole_text(raw, said[0], number, said[1])
                return
        self._odd("content_part_unknown")

    def _annotation(self, raw: Json) -> None:
        growing = self._of_event(raw, MESSAGE, late=False)
        if growing is not None and len(growing.annotations) < MAX_ANNOTATIONS:
            growing.annotations += [one for one in (raw.get("annotation"),) if isinstance(one, dict)]

    def _of_event(self, raw: Json, kind: Kind, *, late: bool = True) -> Growing | None:
        """The item that an event belongs to, a new one if there is none; None if that is over. `late`: would it be odd
        then?"""
        growing = self._items.of_event(raw, kind)
        if growing is None:
            item = {"type": str(kind), "id": raw.get("item_id"), "name": raw.get("name")}
            return self._begin(item, raw.get("output_index"))
        if not growing.done:
            return growing
        if late:
            self._odd("delta_after_item")
        return None

    # ── calls ──────────────────────────────────────────────────────────────────────────────────────────────

    def _call_piece(self, raw: Json, kind: Kind) -> None:
        text = raw.get("delta")
        if type(text) is not str and type(text := self._worded(text)) is not str:
            self._odd("arguments_not_text")
        elif text and (growing := self._of_event(raw, kind)) is not None:
            self._argue(growing, text)

    def _call_whole(self, raw: Json, kind: Kind) -> None:
        """Takes all arguments of a call, at their end, and perhaps its name."""
        growing = self._of_event(raw, kind, late=False)
        if growing is not None:
            self._name(growing, raw)
            self._arguments(growing, raw)

    # ── the ending ─────────────────────────────────────────────────────────────────────────────────────────

    def _over(self, raw: Json) -> None:
        """Takes the end of the response, with all that it says of itself."""
        response = raw.get("response")
        if not isinstance(response, dict):
            response = raw
        if self._ended:
            self._odd("finish_repeated")
            return
        self._ended = True
        if ending.has_failed(response, raw):
            self._count(response.get("usage"))
            self._fail(errors.of_response(response))
            return
        finish = ending.finish(response, str(raw.get("type")), self._ledger)
        output = response.get("output")
        listed = output if isinstance(output, list) else ()
        self._reconcile([item for item in listed if isinstance(item, dict)], cut=finish is not Finish.STOP)
        self._count(response.get("usage"))
        self._emit(FinishDelta(finish))
        self._emit(END)

    def _count(self, raw: Any) -> None:
        if counted := ending.usage(raw):
            self._emit(UsageDelta(counted))
        elif raw is not None:
            self._odd("usage_without_counts")

    def _end_mark(self) -> None:
        """Takes `[DONE]`, which most servers send behind the end, and some in its place."""
        if not self._ended:
            self._ended = True
            self._reconcile([], cut=True)  # nothing proves that what is open is whole
            self._emit(END)

    def _reconcile(self, output: Sequence[Json], *, cut: bool) -> None:
        """Adds what the final response says and the events did not, and ends what is open."""
        streamed = [*self._items.all]
        left: list[Json] = []
        for index, item in enumerate(output):
            growing = self._items.of_item(item, entries.kind_of(item), index)
            if growing is None:
                left.append(item)
            elif not growing.done:
                self._finish(growing, item, cut=cut and item is output[-1])
        for growing in streamed:
            if not growing.done:
                self._finish(growing, growing.item, cut=cut)
        if streamed:
            left = left_out.of(left, output, streamed, self._rest_of, self._ledger)
        for item in left:
            self._finish(self._begin(item, None), item, cut=cut and item is output[-1])

    def _rest_of(self, voice: Voice, text: str) -> str | None:
        return self._told[voice].rest(text)


Taker = Callable[[ResponsesDecoder, Json], None]


def _text(voice: Voice, number: str = "content_index") -> Taker:
    return lambda decoder, raw: decoder._piece(raw, voice, number)


def _whole(voice: Voice, member: str = "text", number: str = "content_index") -> Taker:
    return lambda decoder, raw: decoder._whole_text(raw, voice, number, raw.get(member))


def _call(kind: Kind) -> Taker:
    return lambda decoder, raw: decoder._call_piece(raw, kind)


def _whole_call(kind: Kind) -> Taker:
    return lambda decoder, raw: decoder._call_whole(raw, kind)


TAKERS: Mapping[str, Taker] = {
    "response.output_item.added": ResponsesDecoder._added,
    "response.output_item.done": ResponsesDecoder._done,
    "response.content_part.added": ResponsesDecoder._part_added,
    "response.content_part.done": ResponsesDecoder._part_done,
    "response.reasoning_part.added": ResponsesDecoder._part_added,
    "response.reasoning_part.done": ResponsesDecoder._part_done,
    "response.reasoning_summary_part.done": ResponsesDecoder._part_done,
    "response.output_text.delta": _text(TEXT),
    "response.output_text.done": _whole(TEXT),
    "response.output_text.annotation.added": ResponsesDecoder._annotation,
    "response.refusal.delta": _text(REFUSAL),
    "response.refusal.done": _whole(REFUSAL, "refusal"),
    "response.reasoning_summary_text.delta": _text(SUMMARY, "summary_index"),
    "response.reasoning_summary_text.done": _whole(SUMMARY, number="summary_index"),
    "response.reasoning_text.delta": _text(THOUGHT),
    "response.reasoning_text.done": _whole(THOUGHT),
    "response.reasoning.delta": _text(THOUGHT),  # the specification's name
    "response.reasoning.done": _whole(THOUGHT),
    "response.function_call_arguments.delta": _call(CALL),
    "response.function_call_arguments.done": _whole_call(CALL),
    "response.custom_tool_call_input.delta": _call(CUSTOM),
    "response.custom_tool_call_input.done": _whole_call(CUSTOM),
    "response.completed": ResponsesDecoder._over,
    "response.incomplete": ResponsesDecoder._over,
    "response.failed": ResponsesDecoder._over,
    "response.cancelled": ResponsesDecoder._over,
    "error": ResponsesDecoder._error,
}
"""Maps the event's type to what takes it."""
