"""From a request of the native surface, as JSON, to the neutral Request. It is stricter than that of the Chat API: what
could be misunderstood is refused before anything is sent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from proxy.core.ledger import Ledger
from proxy.core.model import Call, Request
from proxy.core.surfaces.chat import envelope as chat_envelope
from proxy.core.surfaces.chat.envelope import ChatEnvelope
from proxy.core.surfaces.memory.call_ids import HEADER, CallMap, CallMaps
from proxy.core.surfaces.native import tools as native_tools
from proxy.core.surfaces.native.turns import call_ids_in, speakers
from proxy.core.surfaces.reading.checks import unsupported, wrong_value
from proxy.core.surfaces.reading.content import InputCursor
from proxy.core.surfaces.reading.fields import Loose
from proxy.core.surfaces.reading.history import canonical
from proxy.core.surfaces.reading.messages import MessagesSoFar, read_messages
from proxy.core.surfaces.reading.tool_choice import read_choice

REPLACED = {
    "functions": "is not supported: declare them as tools.",
    "function_call": "is not supported: use tool_choice.",
}
"""Fields of the older form, which this surface refuses, and what to use instead."""


class Extension(Loose):
    """What the proxy gave the client to keep."""

    call_ids: str | None = None


class NativeEnvelope(ChatEnvelope):
    functions: Any = None
    """Any type is accepted, so that the complaint says that the field is not supported."""
    conversation_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")] | None = None
    proxy: Extension | None = Field(default=None, alias="_proxy")


NATIVE = TypeAdapter(NativeEnvelope)


@dataclass(slots=True)
class NativeRequest:
    """The request, and the client's wishes for the form of the answer."""

    request: Request
    include_usage: bool
    """Does the stream end with a chunk of the usage?"""
    call_map: CallMap
    """The ids of the conversation's calls. Those of the answer will be added."""
    conversation_id: str | None = None
    """If it is given, the proxy remembers the map; otherwise the client keeps it as a token."""


def named(body: Any) -> tuple[str | None, Sequence[str]]:
    """The conversation that a request names, and the ids of calls in it, whatever else may be wrong there."""
    conversation_id = body.get("conversation_id") if isinstance(body, dict) else None
    if not isinstance(conversation_id, str) or not isinstance(body.get("messages"), list):
        return None, ()
    found = [id for message in body["messages"] for id in call_ids_in(message)]
    return conversation_id, list(dict.fromkeys(found))


def decode(
    body: Any,
    headers: Mapping[str, str],
    ledger: Ledger,
    maps: CallMaps,
    tenant: str = "",
    memos: Iterable[bytes] = (),
) -> NativeRequest:
    """Raises a ClientFault for what is wrong. `tenant`: the owner of the conversations. `memos`: what another process
    knows of the calls in this one."""
    envelope = chat_envelope.read_envelope(NATIVE, body, ledger)
    for field, replacement in REPLACED.items():
        if getattr(envelope, field) is not None:
            raise unsupported(field, replacement)
    native_tools.refuse_strict(body, "")
    known = _known(envelope, headers, maps, tenant)
    if known is not None:
        known.learn_from(memos)
    so_far = MessagesSoFar(InputCursor(ledger, among="messages"), strict=True)
    said = read_messages(envelope.messages, speakers(known), so_far)
    tools = native_tools.read(envelope.tools or [], ledger)
    request = chat_envelope.request(
        envelope,
        canonical(said, ledger),
        tools,
        read_choice(envelope.tool_choice, tools, ledger),
        ledger,
    )
    return NativeRequest(
        request,
        chat_envelope.wants_usage(envelope),
        known if known is not None else _learned(maps.fresh(tenant), request),
        envelope.conversation_id,
    )


def _known(
    envelope: NativeEnvelope, headers: Mapping[str, str], maps: CallMaps, tenant: str
) -> CallMap | None:
    """The map that the client names or brings; None when it does neither."""
    brought = [
        (token, param)
        for token, param in (
            (headers.get(HEADER), HEADER),
            (envelope.proxy.call_ids if envelope.proxy else None, "_proxy.call_ids"),
        )
        if token
    ]
    if envelope.conversation_id is None and not brought:
        return None
    known = (
        maps.fresh(tenant) if envelope.conversation_id is None else maps.of(tenant, envelope.conversation_id)
    )
    for token, param in brought:
        if not known.learn(token):
            raise wrong_value(
                param, "is no token of this proxy's, or was changed: send it as it came, or leave it out."
            )
    return known


def _learned(fresh: CallMap, request: Request) -> CallMap:
    """A map for a history that began without one: its ids stay as they are."""
    for _, parts in request.turns:
        for part in parts:
            if isinstance(part, Call):
                fresh.note(part.call_id, None)
    return fresh
