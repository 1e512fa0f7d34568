"""An Answer on the wire: as a stream of chunks, or as one completion, in OpenAI's shapes.

Both are made from the same pieces. A piece stands for a token: limits cut between pieces, usage counts them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from proxy.demo.script import Answer
from proxy.demo.wire import ChatRequest

TOKEN = re.compile(r"\s*\w{1,8}|\s*[^\w\s]+|\s+")
CREATED = 1_735_689_600
"""Every completion's birthday: answers are the same every time."""
REASONING = "reasoning_content"


@dataclass(frozen=True, slots=True)
class Piece:
    """What one chunk adds: text in a field of the message, or to the arguments of the call at an index."""

    field: str
    text: str
    call: int = 0


def pieces(answer: Answer) -> Iterator[Piece]:
    for field, text in ((REASONING, answer.reasoning), ("content", answer.text), ("refusal", answer.refusal)):
        yield from (Piece(field, token) for token in TOKEN.findall(text))
    for index, call in enumerate(answer.calls):
        yield from (Piece("arguments", token, index) for token in TOKEN.findall(call.arguments))


class Completion:
    """One answer to one request, cut where the request says."""

    def __init__(self, request: ChatRequest, answer: Answer, ident: str, prompt_tokens: int) -> None:
        self.request = request
        self.answer = answer
        whole = list(pieces(answer))
        self.pieces = whole[: request.limit]
        self.finish = "length" if len(self.pieces) < len(whole) else "tool_calls" if answer.calls else "stop"
        self.prompt_tokens = prompt_tokens
        self.head = {"id": ident, "created": CREATED, "model": request.model, "system_fingerprint": "fp_demo"}

    # ── streamed ───────────────────────────────────────────────────────────────────────────────────────────────

    def chunks(self) -> Iterator[dict[str, Any]]:
        yield self.chunk({"role": "assistant", "content": None if self.answer.calls else "", "refusal": None})
        opened = -1
        for piece in self.pieces:
            if piece.field != "arguments":
                yield self.chunk({piece.field: piece.text}, logprobs=self.logprobs([piece]))
                continue
            if piece.call > opened:
                opened = piece.call
                yield self.chunk({"tool_calls": [{"index": opened} | self.call(opened, "")]})
            yield self.chunk({"tool_calls": [{"index": piece.call, "function": {"arguments": piece.text}}]})
        yield self.chunk({}, finish=self.finish)
        if self.wants_usage:
            yield self.head | {"object": "chat.completion.chunk", "choices": [], "usage": self.usage()}

    def chunk(
        self, delta: dict[str, Any], *, logprobs: Any = None, finish: str | None = None
    ) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
        usage = {"usage": None} if self.wants_usage else {}
        return self.head | {"object": "chat.completion.chunk", "choices": [choice]} | usage

    @property
    def wants_usage(self) -> bool:
        return self.request.stream_options is not None and self.request.stream_options.include_usage

    # ── whole ──────────────────────────────────────────────────────────────────────────────────────────────────

    def body(self) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": self.joined("content") or None,
            "refusal": self.joined("refusal") or None,
        }
        if reasoning := self.joined(REASONING):
            message[REASONING] = reasoning
        if begun := sorted({piece.call for piece in self.pieces if piece.field == "arguments"}):
            message["tool_calls"] = [self.call(index, self.joined("arguments", index)) for index in begun]
        logprobs = self.logprobs([piece for piece in self.pieces if piece.field == "content"])
        choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": self.finish}
        return self.head | {"object": "chat.completion", "choices": [choice], "usage": self.usage()}

    def joined(self, field: str, call: int = 0) -> str:
        return "".join(piece.text for piece in self.pieces if piece.field == field and piece.call == call)

    # ── both ───────────────────────────────────────────────────────────────────────────────────────────────────

    def call(self, index: int, arguments: str) -> dict[str, Any]:
        call = self.answer.calls[index]
        return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}

    def logprobs(self, pieces: list[Piece]) -> dict[str, Any] | None:
        if not self.request.logprobs or not pieces:
            return None
        return {
            "content": [self.logprob(piece.text) for piece in pieces if piece.field == "content"],
            "refusal": None,
        }

    def logprob(self, token: str) -> dict[str, Any]:
        sure = {"token": token, "logprob": 0.0, "bytes": list(token.encode())}
        return sure | {"top_logprobs": [sure] if self.request.top_logprobs else []}

    def usage(self) -> dict[str, Any]:
        thought = sum(piece.field == REASONING for piece in self.pieces)
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": len(self.pieces),
            "total_tokens": self.prompt_tokens + len(self.pieces),
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": thought},
        }
