"""How calls look on the native surface: whole, with the arguments as an object (N04).

A call is sent when it has ended, because half an object is none. A call that was cut short is left out, and the finish
reason says why. A call whose arguments are no object is an error: no client of this surface expects text.
"""

from collections.abc import Sequence
from typing import Any

from proxy.core import jsontext
from proxy.core.errors import Unfit
from proxy.core.events import Called, PartEnded
from proxy.core.model import Call
from proxy.core.surfaces.chat.calls import YOURS_TO_RUN, Json
from proxy.core.surfaces.chat.proofs import proven
from proxy.core.surfaces.memory.call_ids import CallMap


class ParsedCalls:
    reason = "tool_calls"
    advice = YOURS_TO_RUN

    def __init__(self, kept_by_client: CallMap | None = None) -> None:
        """`kept_by_client`: the map of call ids that the client gets; None if the proxy remembers it (N03)."""
        self._map = kept_by_client

    def opened(self, index: int, head: Called, proof: Any) -> Json | None:
        return None

    def fragment(self, index: int, head: Called) -> Json | None:
        return None

    def closed(self, index: int, call: Call, complete: bool, proof: Any) -> Json | None:
        entry = self.entry(call, complete, proof)
        return {"tool_calls": [{"index": index, **entry}]} if entry else None

    def entry(self, call: Call, complete: bool, proof: Any) -> Json | None:
        if not complete:
            return None
        function = {"name": call.tool.name, "arguments": arguments_of(call)}
        return {"id": call.call_id, "type": "function", "function": function, **proven(proof)}

    def message(self, entries: list[Json]) -> Json:
        return {"tool_calls": [{"index": index, **entry} for index, entry in enumerate(entries)]}

    def remarks(self, calls: Sequence[PartEnded]) -> Json:
        if self._map is None or not calls:
            return {}
        note(self._map, calls)
        return {"call_ids": self._map.token()}


def note(call_map: CallMap, parts: Sequence[PartEnded]) -> Sequence[str]:
    """Notes each call's two ids, so that its result can be given to the backend's own call. Returns ours."""
    calls = [ended.part for ended in parts if isinstance(ended.part, Call)]
    for call in calls:
        call_map.note(call.call_id, call.backend_id)
    return [call.call_id for call in calls]


def arguments_of(call: Call) -> dict[str, Any]:
    try:
        value = jsontext.loads(call.arguments)
    except jsontext.BadJson:
        value = None
    if not isinstance(value, dict) or jsontext.deeper_than(value, jsontext.WRITABLE_DEPTH):
        raise Unfit(
            f"The model called {call.tool.name} with arguments that are no JSON object.",
            code="malformed_tool_arguments",
        )
    return value
