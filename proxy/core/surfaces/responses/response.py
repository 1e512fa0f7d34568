"""The `response` object and its items.

Every lifecycle event carries the whole object, and so does an answer that is not streamed. Clients check which members
are null, which are absent and which must have a value; only this module decides it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from proxy.core.events import COMPLETED, Ending, PartEnded, PartKind, Reply, ReplyEnded
from proxy.core.ids import Mint
from proxy.core.model import (
    FUNCTION,
    Call,
    HostedItem,
    Reasoning,
    ReplyPart,
    Summary,
    Text,
    ToolKind,
    ToolSpec,
    Usage,
)
from proxy.core.stored.named import NOTHING_NAMED, Named
from proxy.core.surfaces.errors import error_member
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses import hosted
from proxy.core.surfaces.responses.calls import FORMS, call_item
from proxy.core.surfaces.responses.echo import ECHO_DEFAULTS, echoed

STATUS = {
    Ending.COMPLETED: "completed",
    Ending.MAX_TOKENS: "incomplete",
    Ending.FILTERED: "incomplete",
    Ending.FAILED: "failed",
}
INCOMPLETE_DETAILS = {
    Ending.MAX_TOKENS: {"reason": "max_output_tokens"},
    Ending.FILTERED: {"reason": "content_filter"},
}

CALL, TEXT = PartKind.CALL, PartKind.TEXT
"""Needed with every reply: Python 3.11 is slow to find a member in its enumeration."""

KINDS: dict[type[ReplyPart], PartKind] = {
    HostedItem: PartKind.HOSTED,
    Reasoning: PartKind.REASONING,
    Summary: PartKind.SUMMARY,
}
PREFIXES = {PartKind.REASONING: "rs", PartKind.SUMMARY: "cmp"}
"""Prefixes of the ids of items. Other parts are messages, or calls, which have a prefix for each kind."""


class ResponseObject:
    """One response: its id, what it echoes of the request, and its output items as they become final."""

    def __init__(
        self,
        body: Mapping[str, Any],
        mint: Mint,
        now: Callable[[], float],
        signer: TokenSigner | None = None,
        warnings: Sequence[str] = (),
        *,
        named: Named = NOTHING_NAMED,
        stores: bool = False,
        background: bool = False,
        run: Callable[[], Collection[str]] = tuple,
        tools: Sequence[ToolSpec] = (),
    ) -> None:
        """`signer` makes the tokens that the client keeps; None if it wants none. `warnings` are read when the response
        is finished, so that later ones are included. `stores`: is it to be kept? `background`: does its work go on
        without the client? `run`: returns the types of tools that the backend runs. `tools`: as they were read."""
        self.id = named.response or mint.response()
        self.named = named
        self.created = int(now())
        self.output: list[dict[str, Any]] = []
        """The items in their order, when the response is finished."""
        self.stores = stores
        self.background = background
        self.carries = stores or signer is not None
        """Does anybody keep what the backend will want back, the store or the client?"""
        self._signer = signer
        self._warnings = warnings
        self._items: dict[int, dict[str, Any]] = {}
        self.thoughts: dict[str, Reasoning] = {}
        """What the backend will want back of the items with these ids."""
        self.item_ids = mint.items_of(self.id)
        self._now = now
        self._finished: dict[str, Any] = {}
        self._ended: ReplyEnded | None = None
        """How it is finished there."""
        self._own = {"id": self.id, "created_at": self.created, "model": body.get("model"), "store": stores}
        if named.conversation is not None:
            self._own["conversation"] = {"id": named.conversation}
        self._own.update(echoed(body, run, tools))

    def started(self) -> dict[str, Any]:
        return FRAME | self._own

    def queued(self) -> dict[str, Any]:
        """Before any backend is asked."""
        return self.started() | {"status": "queued"}

    def new_id(self, index: int, kind: PartKind, tool_kind: ToolKind = FUNCTION) -> str:
        prefix = FORMS[tool_kind].prefix if kind is CALL else PREFIXES.get(kind, "msg")
        return self.item_ids.output(prefix, index)

    def hosted_id(self, index: int, part: HostedItem) -> str:
        return self.item_ids.output(hosted.prefix_of(part), index)

    def add(self, index: int, item_id: str, ended: PartEnded) -> dict[str, Any]:
        """Makes the final form of an item, which is the same in its `output_item.done` and in the terminal object."""
        item = self._items[index] = final_item(item_id, ended)
        if ended.complete and isinstance(ended.part, Reasoning):
            self.thoughts[item_id] = ended.part
            if self._signer:
                item["encrypted_content"] = self._signer.reasoning(ended.part)
        elif self._signer and isinstance(ended.part, Summary):
            item["encrypted_content"] = self._signer.summary(ended.part.text)
        return item

    def finished(self, ended: ReplyEnded) -> dict[str, Any]:
        """What is kept and then told is the same object, which is made once."""
        if self._ended is not ended:
            self._finished, self._ended = self._made(ended), ended
        return self._finished

    def not_stored(self) -> None:
        """It was to be, and what was made says so."""
        self.stores, self._ended = False, None

    def _made(self, ended: ReplyEnded) -> dict[str, Any]:
        self.output = [self._items[index] for index in sorted(self._items)]
        response = self.started() | {
            "status": STATUS[ended.ending],
            "store": self.stores,
            "completed_at": int(self._now()) if ended.ending is COMPLETED else None,
            "error": error_member(ended.fault) if ended.fault else None,
            "incomplete_details": INCOMPLETE_DETAILS.get(ended.ending),
            "output": self.output,
            "usage": usage_member(ended.usage) if ended.usage else None,
        }
        if self._warnings:  # an extension, and only there when there is something to say
            response["_proxy"] = {"warnings": list(self._warnings)}
        return response

    def fill(self, parts: Sequence[PartEnded]) -> None:
        """Takes the items of a reply that was not streamed, once."""
        if self._items:
            return
        for ended in parts:
            part = ended.part
            wordless = isinstance(part, Reasoning) and not part.text
            if self.carries or not wordless:
                index = len(self._items)
                if isinstance(part, HostedItem):
                    item_id = self.hosted_id(index, part)
                else:
                    item_id = self.new_id(index, *_kind_of(part))
                self.add(index, item_id, ended)

    def whole(self, reply: Reply) -> dict[str, Any]:
        """The answer to a client that does not ask for a stream, with the items and the ending of the stream."""
        assert reply.ended is not None
        self.fill(reply.parts)
        return self.finished(reply.ended)


# ── items ──


def final_item(item_id: str, ended: PartEnded) -> dict[str, Any]:
    part = ended.part
    status = "completed" if ended.complete else "incomplete"
    if isinstance(part, Text):  # as nearly all are
        content = text_part(part.text, part.logprobs, part.annotations)
        return message_item(item_id, status, [content], part.phase)
    if isinstance(part, Call):
        return call_item(item_id, part, status, part.arguments)
    if isinstance(part, Reasoning):
        summary = [{"type": "summary_text", "text": part.text}] if part.text else []
        item = reasoning_item(item_id, summary)
        return item if ended.complete else item | {"status": status}
    if isinstance(part, Summary):
        return compaction_item(item_id)
    if isinstance(part, HostedItem):
        return part.item | {"id": item_id}
    return message_item(item_id, status, [refusal_part(part.text)])


def message_item(
    item_id: str, status: str, content: list[dict[str, Any]], phase: str | None = None
) -> dict[str, Any]:
    item = {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": content}
    return item | {"phase": phase} if phase else item


def reasoning_item(item_id: str, summary: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": item_id, "type": "reasoning", "summary": summary}


def compaction_item(item_id: str) -> dict[str, Any]:
    return {"id": item_id, "type": "compaction", "encrypted_content": ""}


def text_part(text: str, logprobs: list[Any] | None, annotations: list[Any] | None = None) -> dict[str, Any]:
    return {
        "type": "output_text",
        "text": text,
        "annotations": annotations or [],
        "logprobs": logprobs or [],
    }


def refusal_part(text: str) -> dict[str, Any]:
    return {"type": "refusal", "refusal": text}


def _kind_of(part: ReplyPart) -> tuple[PartKind, ToolKind]:
    if isinstance(part, Call):
        return CALL, part.kind
    return KINDS.get(type(part), TEXT), FUNCTION


# ── members ──


def usage_member(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens,
    }


FRAME: dict[str, Any] = {
    "id": "",
    "object": "response",
    "created_at": 0,
    "status": "in_progress",
    "completed_at": None,
    "error": None,
    "incomplete_details": None,
    "model": None,
    "output": [],
    "usage": None,
    "reasoning": None,
    "service_tier": "default",
    "store": False,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    **ECHO_DEFAULTS,
}
"""A response as it begins, to a request that sets no options."""
