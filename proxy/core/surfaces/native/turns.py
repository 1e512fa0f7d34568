"""The roles of a native request: a table `role → function`.

Calls come back as the proxy sent them, with parsed arguments. What a tool returned may be any JSON. Ids are the
proxy's, and each belongs to one call.
"""

from collections.abc import Iterator
from typing import Any

from proxy.core import jsontext
from proxy.core.masking.redact import quoted
from proxy.core.model import Call, Part, Result, Role, ToolKind, ToolName, Turn
from proxy.core.surfaces.chat.proofs import read_proof
from proxy.core.surfaces.memory.call_ids import MAX_ID, CallMap
from proxy.core.surfaces.reading.checks import (
    filled_in,
    mapping,
    missing,
    optional_string_in,
    unsupported,
    wrong_type,
    wrong_value,
)
from proxy.core.surfaces.reading.messages import (
    ANSWERED,
    MessagesSoFar,
    Speaker,
    assistant,
    instructed,
    tool_calls,
    user,
)
from proxy.core.surfaces.reading.tools import Json


def call_ids_in(message: Any) -> Iterator[str]:
    """The ids of calls that a message names, as far as they can be read: errors are found where it is read."""
    if not isinstance(message, dict):
        return
    calls = message.get("tool_calls")
    for holder, key in (
        *((call, "id") for call in (calls if isinstance(calls, list) else ())),
        (message, "tool_call_id"),
    ):
        call_id = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(call_id, str) and len(call_id) <= MAX_ID:
            yield call_id


def speakers(known: CallMap | None) -> dict[str, Speaker]:
    """`known`: the map of the conversation, which has all its calls. None: only the history says which there are."""
    calling = _Calling(known)
    return {
        "system": instructed(Role.SYSTEM),
        "developer": instructed(Role.DEVELOPER),
        "user": user,
        "assistant": assistant(calling.calls),
        "tool": calling.answer,
    }


class _Calling:
    """Reads calls and their results."""

    def __init__(self, known: CallMap | None) -> None:
        self._known = known

    def calls(self, message: Json, so_far: MessagesSoFar) -> list[Part]:
        if message.get("function_call") is not None:
            raise unsupported(".function_call", "is not supported: put the call into tool_calls.")
        return tool_calls(self._call)(message, so_far)

    def _call(self, raw: Json, so_far: MessagesSoFar) -> list[Part]:
        call_id = self._id(raw, "id", "the id of the call")
        if call_id in so_far.names:
            raise wrong_value(".id", f"is used twice: {quoted(call_id)}. Give each call its own.")
        kind = optional_string_in(raw, "type") or "function"
        if kind != "function":
            raise unsupported(".type", f'must be "function", got {quoted(kind)}.')
        if raw.get("function") is None:
            raise missing(".function", "an object with the call")
        function = mapping(raw["function"], ".function")
        name = filled_in(function, "name", ".function", "the name of the tool")
        arguments = function.get("arguments")
        if arguments is None:
            raise missing(".function.arguments", "an object")
        text = jsontext.compact(mapping(arguments, ".function.arguments"))
        backend_id = self._known.backends(call_id) if self._known else None
        made = Call(call_id, ToolName(name), ToolKind.FUNCTION, text, backend_id)
        so_far.called(made)
        return [*read_proof(raw, call_id), made]

    def answer(self, message: Json, so_far: MessagesSoFar) -> Turn:
        call_id = self._id(message, "tool_call_id", ANSWERED)
        so_far.answered(call_id)
        name = optional_string_in(message, "name")
        if name is not None and name != so_far.names[call_id]:
            called = quoted(so_far.names[call_id])
            raise wrong_value(
                ".name", f"is {quoted(name)}, but {quoted(call_id)} called {called}: send that name, or none."
            )
        failed = message.get("is_error")
        if not isinstance(failed, bool | None):
            raise wrong_type(".is_error", "a boolean", failed)
        return Role.TOOL, [Result(call_id, [_returned(message)], is_error=failed)]

    def _id(self, holder: Json, key: str, what: str) -> str:
        """Reads an id that may be a call's of this conversation."""
        call_id, param = filled_in(holder, key, what=what), f".{key}"
        if len(call_id) > MAX_ID:
            raise wrong_value(param, f"may have at most {MAX_ID} characters.")
        if self._known is not None and not self._known.has(call_id):
            raise wrong_value(
                param,
                f"is {quoted(call_id)}, which was not given out in this conversation. Send tool_calls back as they "
                "came, with the newest x-proxy-call-ids (or _proxy.call_ids), or the same conversation_id.",
            )
        return call_id


def _returned(message: Json) -> str:
    """The result as text, which it is to a backend. A tool may return any JSON."""
    if "content" not in message:
        raise missing(".content", "what the tool returned")
    content: Any = message["content"]
    return content if isinstance(content, str) else jsontext.compact(content)
