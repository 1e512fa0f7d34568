"""How calls look in the Chat API: one form for each way of declaring tools.

A client that declared `tools` gets `tool_calls`, fragment by fragment. A client that declared `functions`, the older
form, gets one `function_call`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from proxy.core.events import Called, PartEnded
from proxy.core.ledger import Ledger
from proxy.core.model import Call, ToolKind
from proxy.core.surfaces.chat.proofs import proven

Json = dict[str, Any]

YOURS_TO_RUN = (
    "The proxy runs no tools: run each call in tool_calls yourself, and send its result in a message "
    'with the role "tool" and the call\'s id as tool_call_id.'
)
FUNCTION_IS_YOURS = (
    "The proxy runs no tools: run the function in function_call yourself, and send its result in a message "
    'with the role "function" and the function\'s name.'
)
ONE_CALL = "The model made several calls, and function_call tells the first: declare tools to get them all."


class CallForm(Protocol):
    reason: str
    """The finish reason of an answer with calls."""
    advice: str
    """Tells the client what it has to do with the calls (C08)."""

    def opened(self, index: int, head: Called, proof: Any) -> Json | None:
        """The delta that begins a call; None if nothing is sent yet."""

    def fragment(self, index: int, head: Called) -> Json | None:
        """A delta with one empty string, which each fragment replaces by its text; None if fragments are not sent."""

    def closed(self, index: int, call: Call, complete: bool, proof: Any) -> Json | None:
        """The delta that ends a call, if there is anything left to send."""

    def entry(self, call: Call, complete: bool, proof: Any) -> Json | None:
        """The call in a whole answer; None if it is left out."""

    def message(self, entries: list[Json]) -> Json:
        """The members of a message that hold the entries."""

    def remarks(self, calls: Sequence[PartEnded]) -> Json:
        """What `_proxy` says of the calls."""


class ToolCalls:
    reason = "tool_calls"
    advice = YOURS_TO_RUN

    def opened(self, index: int, head: Called, proof: Any) -> Json | None:
        return {"tool_calls": [{"index": index, **_entry(head, "", proof)}]}

    def fragment(self, index: int, head: Called) -> Json | None:
        kind, member = _words(head.kind)
        return {"tool_calls": [{"index": index, kind: {member: ""}}]}

    def closed(self, index: int, call: Call, complete: bool, proof: Any) -> Json | None:
        return None

    def entry(self, call: Call, complete: bool, proof: Any) -> Json | None:
        return _entry(call, call.arguments, proof)

    def message(self, entries: list[Json]) -> Json:
        return {"tool_calls": entries}

    def remarks(self, calls: Sequence[PartEnded]) -> Json:
        return {}


class FunctionCall(ToolCalls):
    """An answer has one call, without an id. The model was asked to make no more, and further ones are left out."""

    reason = "function_call"
    advice = FUNCTION_IS_YOURS

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def opened(self, index: int, head: Called, proof: Any) -> Json | None:
        if index:
            self._ledger.warn(ONE_CALL)
            return None
        return {"function_call": {"name": head.tool.name, "arguments": ""}}

    def fragment(self, index: int, head: Called) -> Json | None:
        return None if index else {"function_call": {"arguments": ""}}

    def entry(self, call: Call, complete: bool, proof: Any) -> Json | None:
        return {"name": call.tool.name, "arguments": call.arguments}

    def message(self, entries: list[Json]) -> Json:
        if len(entries) > 1:
            self._ledger.warn(ONE_CALL)
        return {"function_call": entries[0]}


def _entry(call: Called, text: str, proof: Any) -> Json:
    kind, member = _words(call.kind)
    return {"id": call.call_id, "type": kind, kind: {"name": call.tool.name, member: text}, **proven(proof)}


def _words(kind: ToolKind) -> tuple[str, str]:
    return (kind.value, "input") if kind is ToolKind.CUSTOM else ("function", "arguments")
