"""The roles of a Chat Completions request: a table `role → function`.

The older form is understood too: `function_call` in an assistant message, answered by a message of the role `function`
with the function's name in place of an id. Such calls get ids made from their positions, so that these are the same in
every request of a conversation.
"""

from typing import Any

from proxy.core import jsontext
from proxy.core.masking.redact import quoted
from proxy.core.model import TOOL, Call, Part, Result, Role, ToolKind, ToolName, Turn
from proxy.core.surfaces.chat.proofs import read_proof
from proxy.core.surfaces.reading.checks import (
    filled_in,
    mapping,
    missing,
    optional_string_in,
    string_in,
    wrong_value,
)
from proxy.core.surfaces.reading.content import MEDIA_PARTS, content_in
from proxy.core.surfaces.reading.messages import (
    ANSWERED,
    CHAT_PARTS,
    MessagesSoFar,
    Speaker,
    assistant,
    instructed,
    tool_calls,
    user,
)
from proxy.core.surfaces.reading.tools import Json

LEGACY_ID = "function_call_"

INPUTS = {"function": (ToolKind.FUNCTION, "arguments"), "custom": (ToolKind.CUSTOM, "input")}
"""Maps the type of a call to the kind of its tool and the name of its input."""


def _tool_call(call: Json, so_far: MessagesSoFar) -> list[Part]:
    call_id = string_in(call, "id", what="the id of the call")
    kind = optional_string_in(call, "type") or "function"
    if kind not in INPUTS:
        raise wrong_value(".type", f"must be one of {', '.join(INPUTS)}, got {quoted(kind)}.")
    if call.get(kind) is None:
        raise missing(f".{kind}", "an object with the call")
    made = _call(call_id, kind, mapping(call[kind], f".{kind}"), f".{kind}")
    so_far.called(made)
    return [*read_proof(call, call_id), made]


def _call(call_id: str, kind: str, raw: Json, param: str) -> Call:
    name = filled_in(raw, "name", param, "the name of the tool")
    tool_kind, key = INPUTS[kind]
    return Call(call_id, ToolName(name), tool_kind, _input(raw.get(key), f"{param}.{key}"))


def _input(value: Any, param: str) -> str:
    """The input as the model wrote it. Some clients send it parsed."""
    if value is None:
        return ""
    return (
        value if isinstance(value, str) else jsontext.compact(mapping(value, param, "JSON text or an object"))
    )


_calls = tool_calls(_tool_call)


def _all_calls(message: Json, so_far: MessagesSoFar) -> list[Part]:
    parts = _calls(message, so_far)
    if message.get("function_call") is not None:
        raw = mapping(message["function_call"], ".function_call")
        made = _call(f"{LEGACY_ID}{so_far.cursor.item}", "function", raw, ".function_call")
        so_far.called(made)
        so_far.unnumbered.setdefault(made.tool.name, []).append(made.call_id)
        parts.append(made)
    return parts


def _function(message: Json, so_far: MessagesSoFar) -> Turn:
    """Answers the newest call of that name in the older form."""
    name = string_in(message, "name", what="that of the function which was called")
    waiting = so_far.unnumbered.get(name)
    if not waiting:
        raise wrong_value(
            ".name",
            f"is {quoted(name)}, for which no function_call of an earlier assistant message waits. "
            "Put the call before its result, or leave the result out.",
        )
    return _result(waiting.pop(), message, so_far)


def _tool(message: Json, so_far: MessagesSoFar) -> Turn:
    call_id = string_in(message, "tool_call_id", what=ANSWERED)
    so_far.answered(call_id)
    return _result(call_id, message, so_far)


def _result(call_id: str, message: Json, so_far: MessagesSoFar) -> Turn:
    content: list[Any] = content_in(message, "content", so_far.cursor, MEDIA_PARTS, CHAT_PARTS)
    return TOOL, [Result(call_id, content or [""])]


SPEAKERS: dict[str, Speaker] = {
    "system": instructed(Role.SYSTEM),
    "developer": instructed(Role.DEVELOPER),
    "user": user,
    "assistant": assistant(_all_calls),
    "tool": _tool,
    "function": _function,
}
