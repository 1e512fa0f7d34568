"""The `chat.completion` object and the members that the chunks of a stream share with it.

Whole or streamed, an answer holds the same. Text before and after calls is joined. A call that the limit of tokens cut
short is sent as far as it came, as OpenAI does it: clients must look at the reason `length`. The reason is `tool_calls`
if there are calls and all of them are whole.
"""

from collections.abc import Callable, Sequence
from typing import Any

from proxy.core.annotations import all_annotations, moved
from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Reasoning, Refusal, Request, Text, Usage
from proxy.core.surfaces.chat.calls import CallForm
from proxy.core.surfaces.chat.proofs import Proofs

REASONS = {Ending.COMPLETED: "stop", Ending.MAX_TOKENS: "length", Ending.FILTERED: "content_filter"}

LINK = "url_citation"

Chunk = dict[str, Any]


PARAMS = {
    "input": "messages",
    "max_output_tokens": "max_completion_tokens",
    "text.format": "response_format",
    "text.verbosity": "verbosity",
    "reasoning.effort": "reasoning_effort",
}
"""Faults name fields as the Responses API does. These have other names here."""


class Completion:
    """One answer: its id, the form of its calls, and what its client wants to see besides."""

    def __init__(
        self,
        request: Request,
        mint: Mint,
        now: Callable[[], float],
        calls: CallForm,
        ledger: Ledger,
        *,
        include_usage: bool,
    ) -> None:
        self.id = mint.completion()
        self.calls = calls
        self.shows_logprobs = request.sampling.logprobs
        self._ledger = ledger
        self._include_usage = include_usage
        self._frame = {"id": self.id, "object": "", "created": int(now()), "model": request.model}

    # ── a stream ──

    def chunk(
        self, delta: dict[str, Any], logprobs: Sequence[Any] | None = None, finish: str | None = None
    ) -> Chunk:
        choice = {
            "index": 0,
            "delta": delta,
            "logprobs": logprobs_member(logprobs),
            "finish_reason": finish,
        }
        return self._chunk([choice])

    def last_chunks(self, ended: ReplyEnded, calls: Sequence[PartEnded]) -> list[Chunk]:
        """The chunk with the finish reason, and the one with the usage if the client wants it and it is known (C06)."""
        last = [self.chunk({}, finish=self._reason(ended, calls)) | self._beside(calls, [])]
        if self._include_usage and ended.usage:
            last.append(self._chunk([]) | {"usage": usage_member(ended.usage)})
        return last

    def _chunk(self, choices: list[Any]) -> Chunk:
        usage = {"usage": None} if self._include_usage else {}
        return self._frame | {"object": "chat.completion.chunk", "choices": choices} | usage

    # ── the whole ──

    def whole(self, reply: Reply) -> dict[str, Any]:
        assert reply.ended is not None
        parts = [ended.part for ended in reply.parts]
        texts = [part for part in parts if isinstance(part, Text)]
        thoughts = "".join(part.text for part in parts if isinstance(part, Reasoning))
        calls = [ended for ended in reply.parts if isinstance(ended.part, Call)]
        message = {
            "role": "assistant",
            "content": "".join(text.text for text in texts) or None,
            "refusal": "".join(part.text for part in parts if isinstance(part, Refusal)) or None,
            **({"reasoning_content": thoughts} if thoughts else {}),
            **annotations_member(all_annotations(texts)),
            **self._calls_member(reply.parts),
        }
        logprobs = [entry for text in texts for entry in text.logprobs or ()] if self.shows_logprobs else None
        choice = {
            "index": 0,
            "message": message,
            "logprobs": logprobs_member(logprobs),
            "finish_reason": self._reason(reply.ended, calls),
        }
        return {
            **self._frame,
            "object": "chat.completion",
            "choices": [choice],
            "usage": usage_member(reply.ended.usage) if reply.ended.usage else None,
            **self._beside(calls, [self.calls.advice] if calls else []),
        }

    def _calls_member(self, parts: Sequence[PartEnded]) -> dict[str, Any]:
        proofs = Proofs()
        entries: list[dict[str, Any]] = []
        for ended in parts:
            if isinstance(ended.part, Call):
                entry = self.calls.entry(ended.part, ended.complete, proofs.of(ended.part))
                entries += [entry] if entry else []
            proofs.learn(ended.part)
        return self.calls.message(entries) if entries else {}

    # ── both ──

    def _reason(self, ended: ReplyEnded, calls: Sequence[PartEnded]) -> str:
        whole = calls and all(call.complete for call in calls)
        return self.calls.reason if whole else REASONS[ended.ending]

    def _beside(self, calls: Sequence[PartEnded], advice: list[str]) -> dict[str, Any]:
        """The proxy's additions to the Chat API, all in one member."""
        warnings = [*advice, *self._ledger.warnings]
        extension = self.calls.remarks(calls) | ({"warnings": warnings} if warnings else {})
        return {"_proxy": extension} if extension else {}


def usage_member(usage: Usage) -> dict[str, Any]:
    """The total is always the sum, even if a backend counts more into it (C06)."""
    written = {"cache_write_tokens": usage.cache_write_tokens} if usage.cache_write_tokens else {}
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens} | written,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def annotations_member(annotations: Sequence[Any] | None, before: int = 0) -> dict[str, Any]:
    """Links to sources, the only kind that the Chat API has. `before`: characters of the message before their text."""
    links = [moved(one, before) for one in annotations or () if one.get("type") == LINK]
    told = [{"type": LINK, LINK: {name: one[name] for name in one if name != "type"}} for one in links]
    return {"annotations": told} if told else {}


def logprobs_member(entries: Sequence[Any] | None) -> dict[str, Any] | None:
    return {"content": list(entries), "refusal": None} if entries else None
