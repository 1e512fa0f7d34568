"""Events → the Chat stream.

A delta is the hot path: its chunk is a byte prefix made once per part, with only the delta's own JSON spliced in. Every
other chunk is one dict literal through orjson.

A reply that fails ends with an `error`, and without finish reason and `[DONE]`: SDKs raise on the first, and clients
that look for the others find that the end is missing (E3). Some clients look for neither, and make calls of all that
they have received when the body ends. If that includes half a call, they get an error, and the connection breaks.
"""

from collections.abc import Callable
from typing import Any

from proxy.core import sse
from proxy.core.errors import Fault, Unfit
from proxy.core.events import (
    Event,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.jsontext import dumps, string
from proxy.core.model import Call, Text
from proxy.core.surfaces import clients
from proxy.core.surfaces.chat.completion import PARAMS, Chunk, Completion, annotations_member
from proxy.core.surfaces.chat.proofs import Proofs
from proxy.core.surfaces.clients import ClientProfile
from proxy.core.surfaces.errors import error_member

HALF_A_CALL = (
    "The answer reached its limit within a tool call, half of which must not be run. Raise max_completion_tokens, or "
    "ask for less."
)
"""For clients that run calls whatever the finish reason is."""

PROSE = {PartKind.TEXT: "content", PartKind.REASONING: "reasoning_content", PartKind.REFUSAL: "refusal"}

Around = tuple[bytes, bytes]
"""What stands before and after the text in the chunk of one delta."""


class ChatEncoder:
    def __init__(
        self, completion: Completion, emit: Callable[[bytes], None], client: ClientProfile = clients.DEFAULT
    ) -> None:
        self._completion = completion
        self._client = client
        self._emit = emit
        self._calls: list[PartEnded] = []
        self._proofs = Proofs()
        self._open: Around | None = None
        """The frame of the open part's deltas; None if they are not sent."""
        self._said = 0
        """Characters of all texts before."""
        self._over = False
        """Is the stream over, whatever events may follow?"""
        self.broken = False

    def feed(self, event: Event) -> None:
        if self._over:
            return
        match event:
            case ReplyStarted():
                self._on_started(event)
            case PartStarted():
                self._on_part_started(event)
            case PartEnded():
                self._on_part_ended(event)
            case _:
                self._on_ended(event)

    def still_working(self) -> None:
        """Sends nothing: all clients of this API understand the transport's comments."""

    def _on_started(self, _: ReplyStarted) -> None:
        self._send(self._completion.chunk({"role": "assistant", "content": None}))

    def _on_part_started(self, started: PartStarted) -> None:
        head = started.call
        if head is None:
            member = PROSE.get(started.kind)  # there is none for what hosted tools do
            self._open = self._around({member: ""}) if member else None
            return
        form, index = self._completion.calls, len(self._calls)
        self._tell(form.opened(index, head, self._proofs.of(head)))
        fragment = form.fragment(index, head)
        self._open = self._around(fragment) if fragment else None

    def delta(self, text: str, logprobs: list[Any] | None) -> None:
        if self._open is None:
            return
        if logprobs and self._completion.shows_logprobs:
            self._send(self._completion.chunk({"content": text}, logprobs))
            return
        before, after = self._open
        self._emit(before + string(text) + after)

    def _on_part_ended(self, ended: PartEnded) -> None:
        if isinstance(ended.part, Call):
            self._end_call(ended.part, ended)
        elif isinstance(ended.part, Text):
            self._end_text(ended.part)
        self._proofs.learn(ended.part)

    def _end_text(self, text: Text) -> None:
        self._tell(annotations_member(text.annotations, self._said))
        self._said += len(text.text)

    def _end_call(self, call: Call, ended: PartEnded) -> None:
        form, index = self._completion.calls, len(self._calls)
        cut = not ended.complete and self._open is not None  # and the client has seen what there is of it
        self.broken = cut and self._client.end_closes_calls
        try:
            self._tell(form.closed(index, call, ended.complete, self._proofs.of(call)))
        except Fault as fault:  # this surface has no form for it
            self._fail(fault)
        self._calls.append(ended)

    def _on_ended(self, ended: ReplyEnded) -> None:
        fault = ended.fault
        if fault is None and self.broken:
            fault = Unfit(HALF_A_CALL, code="tool_call_incomplete")
        if fault is not None:
            self._fail(fault)
            return
        for chunk in self._completion.last_chunks(ended, self._calls):
            self._send(chunk)
        self._emit(sse.DONE)

    def _fail(self, fault: Fault) -> None:
        self._send({"error": _error(fault)})
        self._open = None
        self._over = True

    # ── chunks ──

    def _tell(self, delta: dict[str, Any] | None) -> None:
        if delta:
            self._send(self._completion.chunk(delta))

    def _send(self, chunk: Chunk) -> None:
        self._emit(b"data: " + dumps(chunk) + b"\n\n")

    def _around(self, delta: dict[str, Any]) -> Around:
        """The chunk before and after the text, which replaces the empty string in `delta`, the last in the chunk."""
        before, _, after = dumps(self._completion.chunk(delta)).rpartition(b'""')
        return b"data: " + before, after + b"\n\n"


def _error(fault: Fault) -> dict[str, Any]:
    param = PARAMS.get(fault.param or "", fault.param)
    return error_member(fault) | {"type": fault.type, "param": param} | dict(fault.details)
