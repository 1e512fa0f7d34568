"""How calls look on the Responses surface: one row for each kind of tool.

Only the arguments of functions and custom tools have events of their own. Those of the other kinds are sent with the
item in one piece, as the objects that clients read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proxy.core import jsontext
from proxy.core.events import Called
from proxy.core.model import Call, ToolKind
from proxy.core.tools.kinds.apply_patch import DELETE, KINDS, UPDATE


@dataclass(frozen=True, slots=True)
class CallItemForm:
    item: str
    """The type of the item."""
    prefix: str
    """The prefix of the item's id."""
    members: Callable[[Called, str], dict[str, Any]]
    """Makes the item's members for tool and arguments."""
    events: str | None = None
    """The stem of the names of the events that carry the arguments, if there are any."""
    finished: Callable[[Call], dict[str, Any]] = lambda call: {}
    """Makes the members of the last of those events."""


def _named(call: Called, key: str, value: str) -> dict[str, Any]:
    namespace = {} if call.tool.namespace is None else {"namespace": call.tool.namespace}
    return {"name": call.tool.name, key: value, **namespace}


def _search(call: Called, arguments: str) -> dict[str, Any]:
    return {"execution": "client", "arguments": _object(arguments)}


def _shell(call: Called, arguments: str) -> dict[str, Any]:
    """Codex tells the model itself what is wrong with a command, but it needs these members to read the item."""
    action = _object(arguments)
    command = action.get("command")
    words = [str(word) for word in command] if isinstance(command, list) else []
    return {"action": {"env": {}} | action | {"type": "exec", "command": words}}


def _commands(call: Called, arguments: str) -> dict[str, Any]:
    """A limit that is no integer ends the run in openai-agents. Without a limit the client uses its own."""
    action = _object(arguments)
    commands = action.get("commands")
    lines = [str(line) for line in commands] if isinstance(commands, list) else []
    limits = {name: _whole(action.get(name)) for name in ("timeout_ms", "max_output_length")}
    return {"action": {"commands": lines, **limits}}


def _whole(value: Any) -> int | None:
    is_whole = type(value) is int or (type(value) is float and value.is_integer())
    return int(value) if is_whole else None


def _operation(call: Called, arguments: str) -> dict[str, Any]:
    """The item must name an operation from its first event, before the model has named one: `update_file` is assumed.
    Only `delete_file` has no diff."""
    raw = _object(arguments)
    kind = raw.get("type") if raw.get("type") in KINDS else UPDATE
    members = ("path",) if kind == DELETE else ("path", "diff")
    return {"operation": {"type": kind} | {name: str(raw.get(name) or "") for name in members}}


def _object(arguments: str) -> dict[str, Any]:
    """The arguments as an object, which clients require. If they are none it is empty, and the client's tool will tell
    the model what it misses."""
    try:
        value = jsontext.loads(arguments)
    except jsontext.BadJson:
        return {}
    return value if isinstance(value, dict) else {}


FORMS: Mapping[ToolKind, CallItemForm] = {
    ToolKind.FUNCTION: CallItemForm(
        "function_call",
        "fc",
        lambda call, arguments: _named(call, "arguments", arguments),
        "response.function_call_arguments",
        lambda call: {"name": call.tool.name, "arguments": call.arguments},
    ),
    ToolKind.CUSTOM: CallItemForm(
        "custom_tool_call",
        "ctc",
        lambda call, arguments: _named(call, "input", arguments),
        "response.custom_tool_call_input",
        lambda call: {"input": call.arguments},
    ),
    ToolKind.TOOL_SEARCH: CallItemForm("tool_search_call", "tsc", _search),
    ToolKind.LOCAL_SHELL: CallItemForm("local_shell_call", "lsh", _shell),
    ToolKind.SHELL: CallItemForm("shell_call", "sh", _commands),
    ToolKind.APPLY_PATCH: CallItemForm("apply_patch_call", "apc", _operation),
}


def call_item(item_id: str, call: Called, status: str, arguments: str) -> dict[str, Any]:
    form = FORMS[call.kind]
    return {
        "id": item_id,
        "type": form.item,
        "status": status,
        "call_id": call.call_id,
        **form.members(call, arguments),
    }
