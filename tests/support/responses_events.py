"""Parts of a reply, and what a strict reader finds in the Responses stream that is made of them."""

from typing import Any

from proxy.core.errors import Truncated
from proxy.core.events import (
    CallHead,
    Ending,
    PartEnded,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Call, ReplyPart, ToolKind, ToolName, Usage
from proxy.core.surfaces.clients import Extended
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.response import ResponseObject
from tests.support.assembling import PART_KINDS, PartDelta, Told, into
from tests.support.replies import NOW, REQUEST, counting_mint, read_stream

USAGE = Usage(1, 2, 3)
END = ReplyEnded(Ending.COMPLETED, USAGE)
CUT = ReplyEnded(Ending.FAILED, None, Truncated("Gone."))
ALL = Extended(calls=True, done=True)
ADDED, DONE = "response.output_item.added", "response.output_item.done"
CALL = Call("call_a", ToolName("f"), ToolKind.FUNCTION, '{"a":1}')
CUSTOM = Call("call_a", ToolName("p"), ToolKind.CUSTOM, "*** Begin")
SEARCH = Call("call_a", ToolName("tool_search"), ToolKind.TOOL_SEARCH, '{"query":"x"}')


def part(part: ReplyPart, *deltas: str, complete: bool = True) -> list[Told]:
    head = CallHead(part.call_id, part.tool, part.kind) if isinstance(part, Call) else None
    started = PartStarted(PART_KINDS[type(part)], head)
    return [started, *(PartDelta(delta) for delta in deltas), PartEnded(part, complete)]


def encode(*events: Told, extended: bool = False, signer: TokenSigner | None = None) -> list[dict[str, Any]]:
    frames: list[bytes] = []
    encoder = ResponsesEncoder(
        ResponseObject(REQUEST, counting_mint(), lambda: NOW, signer),
        frames.append,
        extended=Extended(extended, extended),
    )
    for event in (ReplyStarted(), *events):
        into(encoder)(event)
    return read_stream(b"".join(frames))


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]
