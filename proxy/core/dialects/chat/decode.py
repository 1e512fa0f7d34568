"""From the Chat dialect to deltas: one chunk of a stream, or a whole body, in every variation that backends send.

Nothing here trusts a shape. What has a meaning is taken, what has none is skipped and counted in the ledger, and what
makes the reply unusable becomes an `ErrorDelta`; no backend can make this raise.
"""

from collections.abc import Callable
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.chat import ending, parts
from proxy.core.dialects.chat.sources import Sources
from proxy.core.dialects.chat.template import TALK, Template
from proxy.core.dialects.reading import error_body, errors
from proxy.core.dialects.reading import logprobs as reading_logprobs
from proxy.core.dialects.reading.decoding import EMPTY_BODY, NOT_JSON, Decoding, run_together, word
from proxy.core.errors import Empty, Fault, Garbled
from proxy.core.events import (
    END,
    CallDelta,
    Delta,
    ErrorDelta,
    FinishDelta,
    More,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.extras import (
    CARRIERS,
    DETAILS,
    CallProof,
    detail_extras,
    field_extras,
    proof_extras,
    readable,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Extras
from proxy.core.profile import BackendProfile
from proxy.core.sse import STREAM_END


class ChatDecoder(Decoding):
    __slots__ = (
        "_calls_in_other_choices",
        "_finished",
        "_in_messages",
        "_keep_details",
        "_keep_field",
        "_keep_proof",
        "_model",
        "_next_index",
        "_sources",
        "_spoken",
        "_template",
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
        """`keep_extras` takes what the backend will want back with its reasoning; None where no client carries it."""
        super().__init__(emit, ledger, more)
        self._template = Template(self._more)
        learns = profile.replay_by_evidence
        self._keep_details = keep_extras if learns or profile.replay == DETAILS else None
        self._keep_field = keep_extras if learns else None
        """Takes the name of the field that has the thoughts, once."""
        self._model = model
        self._keep_proof = keep_extras if profile.signed_calls else None
        self._calls_in_other_choices = profile.calls_in_other_choices
        self._finished: str | None = None
        self._sources = Sources(ledger)
        self._spoken = False
        """Was there any output? That decides what a full context window means."""
        self._in_messages = False
        """Did the reply begin in a message?"""
        self._next_index: int | None = None
        """Counts the calls of a whole body, where every entry of a list is a call of its own."""
        self._untold: list[Any] = []
        """Keeps log probabilities of tokens that made no text yet: the first bytes of a character, say."""

    @staticmethod
    def wants_extras_back(profile: BackendProfile, *, proven: bool = False) -> bool:
        learned = profile.replay_by_evidence and not proven
        return learned or profile.signed_calls or profile.replay == DETAILS

    # ── in ─────────────────────────────────────────────────────────────────────────────────────────────────

    def event(self, data: bytes, event: bytes) -> None:
        """Takes one event of a stream."""
        if self._template.found and not event and self._template.says(data):
            return
        if data == STREAM_END:  # to find that it is no JSON would take ten times as long
            self._end()
            return
        try:
            self._data, self._parsed = data, jsontext.quick(data)
        except ValueError:
            self._unclean(data.strip(), event)
        else:
            self._chunk(self._parsed, event)
            self._data, self._parsed = b"", None  # the pause until the next one may be long

    def body(self, data: bytes) -> None:
        """Takes a whole reply that is not a stream."""
        if not data.strip():
            self._fail(Empty(EMPTY_BODY))
            return
        try:
            reply = jsontext.strict(data)
        except ValueError:
            reply = self._mended(data)
        choices = reply.get("choices") if isinstance(reply, dict) else None
        if error_body.is_one(reply):
            self._fail(errors.in_stream(reply))
        elif isinstance(choices, list) and choices:
            self._next_index = 0
            self._chunk(reply, b"")
            self._end()
        else:
            self._no_reply()

    def _unclean(self, data: bytes, event: bytes) -> None:
        """Takes what the strict parser refuses: the end mark, text that can be mended, several chunks at once."""
        if data.startswith(STREAM_END):
            self._end()
        elif data:
            self._template.end()
            chunk = self._mended(data)
            if chunk is None:
                self._not_json(data, event)
            else:
                self._chunk(chunk, event)

    def _not_json(self, data: bytes, event: bytes) -> None:
        if lines := run_together(data):
            self._odd("events_run_together")
            for line in lines:
                self.event(line, event)
        elif event == b"error":
            self._fail(errors.in_stream(data.decode("utf-8", "replace")))
        elif event == b"ping":
            self._odd("ping_with_words")  # of sse-starlette, in its first years: the time of day
        else:
            # Passing it over would lose text in silence.
            self._fail(Garbled(NOT_JSON))

    # ── one chunk ──────────────────────────────────────────────────────────────────────────────────────────

    def _chunk(self, chunk: Any, event: bytes) -> None:
        if type(chunk) is not dict:
            self._not_a_chunk(chunk, event)
            return
        finish = None
        choices = chunk.get("choices")
        if type(choices) is list:
            for choice in choices:
                if type(choice) is dict:
                    finish = self._choice(choice) or finish
                else:
                    self._odd("choice_not_an_object")
        elif choices is not None:
            self._odd("choices_not_a_list")
        if finish or not choices or "error" in chunk or "x_groq" in chunk or event:
            self._aside(chunk, finish, event)
        elif usage := chunk.get("usage"):
            self._usage(usage)
        elif self._next_index is None:
            self._template.learn(chunk, self._data)

    def _not_a_chunk(self, value: Any, event: bytes) -> None:
        if event == b"error":
            self._fail(errors.in_stream(value))
        else:
            self._odd("chunk_not_an_object")

    def _choice(self, choice: dict[str, Any]) -> Any:
        """Takes what it says; returns its finish reason, which must come after the usage of the same chunk."""
        other = (choice.get("index") or "0") != "0"
        if other and not self._calls_in_other_choices:
            self._odd("other_choice")
            return None
        delta = choice.get("delta") or self._message(choice)
        if type(delta) is dict:
            text, alone = delta.get("content"), len(delta) == 1
            if other:
                self._calls(delta)
            elif type(text) is str and (alone or TALK.issuperset(delta)):  # nearly every delta is text alone,
                self._content(text, choice.get("logprobs"))
            elif alone and "tool_calls" in delta:  # and of the others, nearly every one a piece of a call
                self._calls(delta)
            else:
                self._delta(delta, choice.get("logprobs"))
        elif delta:
            self._odd("delta_not_an_object")
        return choice.get("finish_reason")

    def _message(self, choice: dict[str, Any]) -> Any:
        """Gives that of a whole body, or of a stream that calls its deltas so. Behind deltas it repeats them."""
        message = choice.get("message")
        if message and not self._spoken:
            self._in_messages = type(message) is not dict or parts.says_something(message)
        return message if self._in_messages else None

    def _delta(self, delta: dict[str, Any], logprobs: Any) -> None:
        """Takes a delta in the order in which models say things: they think, speak, then call."""
        thought = delta.get("reasoning_content") or delta.get("reasoning") or delta.get("reasoning_text")
        if not thought and DETAILS in delta:
            thought = readable(delta[DETAILS])
        if thought:
            self._prose(self._more.reasoning, thought)
        details = delta.get(DETAILS) if self._keep_details else None
        if thought and self._keep_field:
            self._name_field(delta)
        if self._keep_details and details and isinstance(details, list) and self._keepable(details):
            self._keep_details(detail_extras(details))
        content = delta.get("content")
        self._content(content, logprobs and reading_logprobs.of_answer(logprobs, thought, content))
        if sources := delta.get("annotations"):
            self._sources.add(sources)
        if refusal := delta.get("refusal"):
            self._prose(lambda words: self._emit(RefusalDelta(words)), refusal)
        if "tool_calls" in delta or "function_call" in delta:
            self._calls(delta)
        if parts.leaves_out(delta):
            self._odd("delta_field_unknown")

    def _name_field(self, delta: dict[str, Any]) -> None:
        field = next((name for name in CARRIERS if delta.get(name)), None)
        if field is not None and self._keep_field is not None:
            self._keep_field(field_extras(self._model, field))
            self._keep_field = None

    def _content(self, content: Any, logprobs: Any) -> None:
        content = content if type(content) is str else self._worded(content)
        if type(content) is str and content:
            self._spoken = True
            if not logprobs:
                self._more.text(content)
            else:
                self._emit(TextDelta(content, self._logprobs(logprobs)))
            return
        if logprobs:
            self._untold = self._logprobs(logprobs)
        if type(content) in (list, dict):
            for delta in parts.read(content, self._ledger):
                self._spoken = True
                self._emit(delta)

    def _prose(self, say: Callable[[str], None], text: Any) -> None:
        text = self._worded(text)
        if type(text) is str:
            self._spoken = True
            say(text)
        else:
            self._odd("text_not_a_string")

    def _logprobs(self, raw: Any) -> list[Any]:
        """Adds the log probabilities of earlier tokens that made no text by themselves."""
        untold, self._untold = self._untold, []
        return untold + reading_logprobs.read(raw)

    # ── calls ──────────────────────────────────────────────────────────────────────────────────────────────

    def _calls(self, delta: dict[str, Any]) -> None:
        self._sources.tell(self._emit)
        calls = delta.get("tool_calls")
        if type(calls) is dict:
            self._odd("calls_not_a_list")
            calls = parts.entries(calls)
        if type(calls) is list:
            for call in calls:
                if type(call) is dict:
                    self._call(call)
                else:
                    self._odd("call_not_an_object")
        elif calls is not None:
            self._odd("calls_not_a_list")
        if not calls and (call := delta.get("function_call")):  # the form before there were tools
            self._calls({"tool_calls": [{"index": 0, "function": call}]})

    def _call(self, call: dict[str, Any]) -> None:
        function = call.get("function")
        if type(function) is not dict:
            self._odd("call_without_function")
            function = call
        index = call.get("index")
        if self._next_index is not None:
            index, self._next_index = self._next_index, self._next_index + 1
        elif type(index) is not int:
            index = None
        arguments = function.get("arguments")
        if type(arguments) is not str:
            arguments = self._as_text(arguments)
        call_id = word(raw) if (raw := call.get("id")) else None
        name = word(raw) if (raw := function.get("name")) else None
        if self._keep_proof and call_id and (proof := call.get("extra_content")) and self._keepable(proof):
            self._keep_proof(proof_extras(CallProof(call_id, proof)))
        if call_id or name:
            self._spoken = True
            self._emit(CallDelta(index, call_id, name, arguments))
        elif arguments:
            self._spoken = True
            self._more.arguments(index, arguments)

    # ── the ending ─────────────────────────────────────────────────────────────────────────────────────────

    def _aside(self, chunk: dict[str, Any], finish: Any, event: bytes) -> None:
        """Takes what only few chunks have: an error, usage in an unusual place, a finish reason."""
        usage = chunk.get("usage") or ending.usage_elsewhere(chunk)
        if usage:
            self._usage(usage)
        if event == b"error" or error_body.is_one(chunk):
            self._fail(errors.in_stream(chunk))
        elif finish:
            self._finish(finish)
        elif not usage and "choices" not in chunk:
            self._odd("chunk_without_choices")

    def _usage(self, raw: Any) -> None:
        usage = ending.usage(raw)
        if usage is None:
            self._odd("usage_without_counts")
        else:
            self._emit(UsageDelta(usage))

    def _end(self) -> None:
        self._sources.tell(self._emit)
        self._emit(END)

    def _finish(self, reason: Any) -> None:
        self._sources.tell(self._emit)
        if reason == self._finished:
            self._odd("finish_repeated")
        elif not isinstance(reason, str) or reason == "null":
            self._odd("finish_not_a_word")
        else:
            self._finished = reason
            meaning = ending.finish(reason, self._ledger, spoken=self._spoken)
            self._emit(ErrorDelta(meaning) if isinstance(meaning, Fault) else FinishDelta(meaning))
