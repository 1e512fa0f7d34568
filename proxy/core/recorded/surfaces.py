"""The surface of a recorded request, and its body as that surface takes it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from proxy.core.ids import Mint
from proxy.core.recorded.recording import Conditions, RecordedRequest
from proxy.core.recorded.trusting import TrustingSigner
from proxy.core.surfaces.chat.surface import ChatSurface
from proxy.core.surfaces.clients import EventStyle
from proxy.core.surfaces.framing import LOG, SOCKET, SSE
from proxy.core.surfaces.memory.call_ids import CallMaps
from proxy.core.surfaces.native.surface import NativeSurface
from proxy.core.surfaces.reading.parsing import parsed
from proxy.core.surfaces.responses import compaction, counting
from proxy.core.surfaces.responses.compaction import CompactionObject
from proxy.core.surfaces.responses.socket_messages import read_create, take_lane
from proxy.core.surfaces.responses.surface import ResponsesOptions, ResponsesSurface
from proxy.core.surfaces.surface import Surface

FRAMINGS = {"sse": SSE, "socket": SOCKET, "log": LOG}

READ = {"compact": compaction.requested, "input_tokens": counting.requested}
"""What of the Responses API has a path of its own is read as a turn."""


def surface_of(name: str, conditions: Conditions, mint: Mint, now: Callable[[], float]) -> Surface:
    signer = TrustingSigner()
    if name == "chat":
        return ChatSurface(mint, now)
    if name == "native":
        return NativeSurface(mint, now, CallMaps(signer))
    told = conditions.options
    options = ResponsesOptions(EventStyle(told.events), told.message_first, told.stores, told.background)
    real = conditions.real_model
    responses = ResponsesSurface(
        mint,
        now,
        signer,
        options,
        real_name=str if real is None else lambda model: real,
        hosted_tools=lambda model: conditions.hosted_tools,
    )
    if name == "compact":
        return replace(responses, form=CompactionObject, name=name)
    return replace(responses, name=name)


def body_of(request: RecordedRequest) -> Any:
    """Raises a ClientFault."""
    data = request.body or b""
    if request.transport == "websocket":
        body = read_create(data)
        take_lane(body)
        return body
    body = parsed(data, "The request body", "Send one JSON object in UTF-8.")
    read = READ.get(request.surface)
    return body if read is None else read(body)
