"""Events → the Responses stream.

A delta is the hot path: its frame is a byte prefix made once per part, with only the number and the delta's own JSON
spliced in. Every other event is one dict literal through orjson.

*Extended* streams carry `response.output_tool_call.begin/delta/end` around each call and end with `response.done`. The
client's profile decides who gets them (see `clients`).

Half a call is never closed: many clients run each done item whatever its status is, and some repair its arguments
first. OpenAI's own streams do not close what a failure cut either. It stands in the terminal object, as incomplete.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from proxy.core.errors import Fault
from proxy.core.events import (
    CallHead,
    Event,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.jsontext import dumps, quick_string, string
from proxy.core.model import FUNCTION, Call, HostedItem, Reasoning, Refusal, Text
from proxy.core.surfaces import clients
from proxy.core.surfaces.clients import ClientProfile, Extended
from proxy.core.surfaces.errors import error_member
from proxy.core.surfaces.framing import SSE, Framing
from proxy.core.surfaces.responses import hosted
from proxy.core.surfaces.responses.calls import FORMS, call_item
from proxy.core.surfaces.responses.response import (
    STATUS,
    ResponseObject,
    compaction_item,
    message_item,
    reasoning_item,
    refusal_part,
    text_part,
)

HOSTED = PartKind.HOSTED
REASONING, REFUSAL, SUMMARY = PartKind.REASONING, PartKind.REFUSAL, PartKind.SUMMARY


@dataclass(slots=True)
class OpenItem:
    """The one item that is under construction."""

    id: str
    index: int
    head: CallHead | None
    frames: list[tuple[bytes, bytes]]
    """The bytes before the number and after the text, for each frame that a delta becomes."""


class ResponsesEncoder:
    broken = False

    def __init__(
        self,
        response: ResponseObject,
        emit: Callable[[bytes], None],
        *,
        framing: Framing = SSE,
        extended: Extended = clients.NOTHING_MORE,
        client: ClientProfile = clients.DEFAULT,
    ) -> None:
        self._response = response
        self._emit = emit
        self._framing = framing
        self._extended = extended.calls and framing.extras
        self._says_done = extended.done and framing.extras
        self._client = client
        self._under_way = False
        self._hidden = False
        """Is the open part without words? Then only a client that keeps tokens sees it."""
        self._number = 0
        self._index = 0
        self._item: OpenItem
        self._cut: list[tuple[OpenItem, PartEnded]] = []
        """Parts that the end of the reply has cut. The kind of the ending decides how they are sent."""

    def feed(self, event: Event) -> None:
        match event:
            case ReplyStarted():
                self._on_started(event)
            case PartStarted():
                self._on_part_started(event)
            case PartEnded():
                self._on_part_ended(event)
            case _:
                self._on_ended(event)

    # ── the reply ──

    def _on_started(self, _: ReplyStarted) -> None:
        response = dumps(self._response.started())
        if self._response.background:
            queued = dumps(self._response.queued())
            self._send_response("response.created", queued)
            self._send_response("response.queued", queued)
        else:
            self._send_response("response.created", response)
        self._send_response("response.in_progress", response)
        self._under_way = True

    def still_working(self) -> None:
        """Sends an event without news, for clients that give up after some time without events."""
        if self._under_way:
            self._send_response("response.in_progress", dumps(self._response.started()))

    def conclude(self, ended: ReplyEnded) -> ReplyEnded:
        """Ends what the end of the reply has cut. Returns the ending as this client is told of it."""
        ended = clients.ending_for(self._client, ended)
        for item, cut in self._cut:
            self._end_cut(item, cut, ended)
        self._cut.clear()
        return ended

    def _on_ended(self, ended: ReplyEnded) -> None:
        self._under_way = False
        ended = self.conclude(ended)
        if ended.fault is not None and self._framing.extras:
            self._send_error(ended.fault)
        response = dumps(self._response.finished(ended))
        self._send_response(f"response.{STATUS[ended.ending]}", response)
        if self._says_done:
            self._send_response("response.done", response)
        if self._framing.end is not None:
            self._emit(self._framing.end)

    def _send_error(self, fault: Fault) -> None:
        """Sends the error flat, for clients that read it so, and nested, because OpenAI's SDKs raise only then."""
        fields = error_member(fault) | {"param": fault.param}
        self._send("error", **fields, error={"type": fault.type, **fields})

    # ── parts ──

    def _on_part_started(self, started: PartStarted) -> None:
        self._hidden = started.kind is REASONING and started.wordless and not self._response.carries
        if self._hidden or started.kind is HOSTED:  # the item is not known before it ends
            return
        head = started.call
        tool_kind = head.kind if head else FUNCTION
        item = self._item = OpenItem(
            self._response.new_id(self._index, started.kind, tool_kind), self._index, head, frames=[]
        )
        self._index += 1
        if head is not None:
            self._start_call(item, head)
        elif started.kind is REASONING:
            self._start_reasoning(item, started.wordless)
        elif started.kind is SUMMARY:
            self._send_added(item, compaction_item(item.id))
        else:
            refusal = started.kind is REFUSAL and not self._client.refusals_as_text
            self._start_message(item, refusal, started.phase)

    def _start_message(self, item: OpenItem, refusal: bool, phase: str | None) -> None:
        self._send_added(item, message_item(item.id, "in_progress", [], phase))
        part = refusal_part("") if refusal else text_part("", None)
        self._send("response.content_part.added", **_content(item), part=part)
        if refusal:
            item.frames.append(self._delta_frame("response.refusal.delta", _content(item)))
        else:
            item.frames.append(
                self._delta_frame("response.output_text.delta", _content(item), b',"logprobs":[]')
            )

    def _start_reasoning(self, item: OpenItem, wordless: bool) -> None:
        self._send_added(item, reasoning_item(item.id, []))
        if wordless:
            return
        part = {"type": "summary_text", "text": ""}
        self._send("response.reasoning_summary_part.added", **_summary(item), part=part)
        item.frames.append(self._delta_frame("response.reasoning_summary_text.delta", _summary(item)))

    def _start_call(self, item: OpenItem, head: CallHead) -> None:
        self._send_added(item, call_item(item.id, head, "in_progress", ""))
        if self._extended:
            fields = {"call_id": head.call_id, "name": head.tool.name}
            self._send("response.output_tool_call.begin", **_where(item), **fields)
            item.frames.append(self._delta_frame("response.output_tool_call.delta", _where(item)))
        if events := FORMS[head.kind].events:
            item.frames.append(self._delta_frame(f"{events}.delta", _where(item)))

    def delta(self, text: str, logprobs: list[Any] | None) -> None:
        if logprobs:
            fields = {**_content(self._item), "delta": text, "logprobs": logprobs}
            self._send("response.output_text.delta", **fields)
            return
        try:
            literal = quick_string(text)
        except TypeError:
            literal = string(text)
        for before, after in self._item.frames:
            self._emit(b'%b%d,"delta":%b%b' % (before, self._number, literal, after))
            self._number += 1

    def _on_part_ended(self, ended: PartEnded) -> None:
        if self._hidden:
            self._hidden = False
            return
        if isinstance(ended.part, HostedItem):
            self._show_hosted(ended.part, ended)
            return
        if isinstance(ended.part, Refusal) and self._client.refusals_as_text:
            ended = replace(ended, part=Text(ended.part.text))
        if ended.complete:
            self._close(self._item, ended)
        else:
            self._cut.append((self._item, ended))

    def _show_hosted(self, part: HostedItem, ended: PartEnded) -> None:
        item = OpenItem(self._response.hosted_id(self._index, part), self._index, None, frames=[])
        self._index += 1
        final = self._response.add(item.index, item.id, ended)
        self._send_added(item, hosted.begun(final))
        self._send_item("response.output_item.done", item, final)

    def _end_cut(self, item: OpenItem, cut: PartEnded, reply: ReplyEnded) -> None:
        failed = reply.fault is not None
        if item.head is not None or (failed and not self._client.closes_unfinished):
            self._response.add(item.index, item.id, cut)
        else:
            self._close(item, cut)

    def _close(self, item: OpenItem, ended: PartEnded) -> None:
        part = ended.part
        final = self._response.add(item.index, item.id, ended)
        if isinstance(part, Call):
            self._end_call(item, part)
        elif isinstance(part, Reasoning):
            for summary in final["summary"]:
                self._send("response.reasoning_summary_text.done", **_summary(item), text=summary["text"])
                self._send("response.reasoning_summary_part.done", **_summary(item), part=summary)
        elif isinstance(part, (Text, Refusal)):
            content = final["content"][0]
            if isinstance(part, Text):
                self._annotate(item, content["annotations"])
                fields = {"text": content["text"], "logprobs": content["logprobs"]}
                self._send("response.output_text.done", **_content(item), **fields)
            else:
                self._send("response.refusal.done", **_content(item), refusal=content["refusal"])
            self._send("response.content_part.done", **_content(item), part=content)
        self._send_item("response.output_item.done", item, final)

    def _annotate(self, item: OpenItem, annotations: list[Any]) -> None:
        for index, annotation in enumerate(annotations):
            fields = {"annotation_index": index, "annotation": annotation}
            self._send("response.output_text.annotation.added", **_content(item), **fields)

    def _end_call(self, item: OpenItem, call: Call) -> None:
        if self._extended:
            fields = {"call_id": call.call_id, "name": call.tool.name, "arguments": call.arguments}
            self._send("response.output_tool_call.end", **_where(item), **fields)
        form = FORMS[call.kind]
        if form.events:
            self._send(f"{form.events}.done", **_where(item), **form.finished(call))

    # ── frames ──

    def _send_added(self, item: OpenItem, final: dict[str, Any]) -> None:
        self._send_item("response.output_item.added", item, final)

    def _send_item(self, event: str, item: OpenItem, fields: dict[str, Any]) -> None:
        """Sends an item. Only the extended form repeats the item's id beside it."""
        where = _where(item) if self._extended else {"output_index": item.index}
        self._send(event, **where, item=fields)

    def _send(self, event: str, **fields: Any) -> None:
        payload = dumps({"type": event, "sequence_number": self._number, **fields})
        self._number += 1
        self._emit(self._framing.before(event) + payload + self._framing.after)

    def _send_response(self, event: str, response: bytes) -> None:
        """Sends the whole response, which is written once for several events: it may be large."""
        fields = dumps({"type": event, "sequence_number": self._number})[:-1]
        self._number += 1
        before, after = self._framing.before(event), self._framing.after
        self._emit(b"".join((before, fields, b',"response":', response, b"}", after)))

    def _delta_frame(self, event: str, where: dict[str, Any], rest: bytes = b"") -> tuple[bytes, bytes]:
        fixed = dumps({"type": event, **where})[:-1]
        before = self._framing.before(event) + fixed + b',"sequence_number":'
        return before, rest + b"}" + self._framing.after


def _where(item: OpenItem) -> dict[str, Any]:
    return {"item_id": item.id, "output_index": item.index}


def _content(item: OpenItem) -> dict[str, Any]:
    return {"item_id": item.id, "output_index": item.index, "content_index": 0}


def _summary(item: OpenItem) -> dict[str, Any]:
    return {"item_id": item.id, "output_index": item.index, "summary_index": 0}
