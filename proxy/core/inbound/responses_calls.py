"""How calls look on the Responses surface: one row for each kind of tool.

Only the arguments of functions and custom tools have events of their own. Those of the other kinds come in one piece,
as the objects that their clients read, with the item.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proxy.core import jsontext
from proxy.core.events import Called
from proxy.core.model import Call, ToolKind


@dataclass(frozen=True, slots=True)
class CallForm:
    item: str
    """The type of the item."""
    prefix: str
    """Of its id."""
    members: Callable[[Called, str], dict[str, Any]]
    """What the item says of tool and arguments."""
    events: str | None = None
    """The stem of the events that carry the arguments, if there are any."""
    finished: Callable[[Call], dict[str, Any]] = lambda call: {}
    """What the last of those events says of them."""


def _named(call: Called, key: str, value: str) -> dict[str, Any]:
    namespace = {} if call.tool.namespace is None else {"namespace": call.tool.namespace}
    return {"name": call.tool.name, key: value, **namespace}


def _search(call: Called, arguments: str) -> dict[str, Any]:
    return {"execution": "client", "arguments": _object(arguments)}


def _shell(call: Called, arguments: str) -> dict[str, Any]:
    """Whatever the model forgot or mistook is said by Codex to the model: it only insists on these members."""
    action = _object(arguments)
    command = action.get("command")
    words = [str(word) for word in command] if isinstance(command, list) else []
    return {"action": {"env": {}} | action | {"type": "exec", "command": words}}


def _object(arguments: str) -> dict[str, Any]:
    """Clients read an object here and nothing else; of what is none, their tool will say what it misses."""
    try:
        value = jsontext.loads(arguments)
    except jsontext.BadJson:
        return {}
    return value if isinstance(value, dict) else {}


FORMS: Mapping[ToolKind, CallForm] = {
    ToolKind.FUNCTION: CallForm(
        "function_call",
        "fc",
        lambda call, arguments: _named(call, "arguments", arguments),
        "response.function_call_arguments",
        lambda call: {"name": call.tool.name, "arguments": call.arguments},
    ),
    ToolKind.CUSTOM: CallForm(
        "custom_tool_call",
        "ctc",
        lambda call, arguments: _named(call, "input", arguments),
        "response.custom_tool_call_input",
        lambda call: {"input": call.arguments},
    ),
    ToolKind.TOOL_SEARCH: CallForm("tool_search_call", "tsc", _search),
    ToolKind.LOCAL_SHELL: CallForm("local_shell_call", "lsh", _shell),
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
