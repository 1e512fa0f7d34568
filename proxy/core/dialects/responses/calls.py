"""Calls and results of the kinds that are no functions, for a backend that takes them as they are.

What an earlier backend made of a call may be anything. A call that cannot be told in its own form is told as that of
the function that stands for it, and so is its result.
"""

from collections.abc import Callable, Mapping
from hashlib import blake2s
from typing import Any

from proxy.core import jsontext
from proxy.core.extras import RESPONSES, RUNS
from proxy.core.model import Call, Result, ToolKind
from proxy.core.tools.kinds.apply_patch import KINDS

Item = dict[str, Any]

EXIT = {"type": "exit", "exit_code": 0}
FAILED = {"type": "exit", "exit_code": 1}

LIMITS = ("timeout_ms", "max_output_length")


def called(call: Call, where: Item, named: Item) -> Item | None:
    """The call as an item. `where`: its id. `named`: its name and namespace. None if it has another form."""
    if call.kind is ToolKind.CUSTOM:
        return {"type": "custom_tool_call", **where, **named, "input": call.arguments}
    try:
        arguments = jsontext.loads(call.arguments)
    except jsontext.BadJson:
        return None
    said = ACTIONS[call.kind](arguments) if isinstance(arguments, dict) else None
    if said is None:
        return None
    named = {"id": _id_of(where)} if call.kind is ToolKind.LOCAL_SHELL else {}
    return {"type": f"{call.kind}_call", **named, **where, **said, "status": "completed"}


def _id_of(where: Item) -> str:
    """An id of the item, without which the API takes no call of this kind."""
    return f"lsh_{blake2s(where['call_id'].encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _local_shell(action: Item) -> Item | None:
    command = _strings(action.get("command"))
    if not command:
        return None
    known = {"type": "exec", "command": command, "env": {}}
    others = ("env", "timeout_ms", "user", "working_directory")
    return {"action": known | {name: action[name] for name in others if name in action}}


def _shell(action: Item) -> Item | None:
    commands = _strings(action.get("commands"))
    limits = {name: action[name] for name in LIMITS if type(action.get(name)) is int}
    return {"action": {"commands": commands, **limits}} if commands else None


def _patch(operation: Item) -> Item | None:
    if operation.get("type") not in KINDS:
        return None
    said = {
        name: operation[name] for name in ("type", "path", "diff") if isinstance(operation.get(name), str)
    }
    return {"operation": said}


def _strings(value: Any) -> list[str]:
    return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else []


ACTIONS: Mapping[ToolKind, Callable[[Item], Item | None]] = {
    ToolKind.LOCAL_SHELL: _local_shell,
    ToolKind.SHELL: _shell,
    ToolKind.APPLY_PATCH: _patch,
}
"""What each kind does, as its item says it."""


IN_WORDS = frozenset(ACTIONS)
"""Kinds whose results hold text alone."""


def answered(kind: ToolKind, result: Result, where: Item, output: Any) -> Item:
    """The result as an item. `output`: its content, as functions return it."""
    match kind:
        case ToolKind.CUSTOM:
            return {"type": "custom_tool_call_output", **where, "output": output}
        case ToolKind.LOCAL_SHELL:
            return {"type": "local_shell_call_output", **where, "output": _text(result)}
        case ToolKind.SHELL:
            return {"type": "shell_call_output", **where, "output": _runs(result)}
        case ToolKind.APPLY_PATCH:
            status = "failed" if result.is_error else "completed"
            return {"type": "apply_patch_call_output", **where, "status": status, "output": _text(result)}
        case _:
            return {"type": "function_call_output", **where, "output": output}


def _text(result: Result) -> str:
    return "\n".join(part for part in result.content if isinstance(part, str))


def _runs(result: Result) -> list[Item]:
    """What each command has printed; where the client does not say it, all in one."""
    kept = result.extras.get(RESPONSES, {}).get(RUNS)
    if kept:
        return [_run(run) for run in kept]
    outcome = FAILED if result.is_error else EXIT
    return [{"stdout": _text(result), "stderr": "", "outcome": outcome}]


def _run(run: Item) -> Item:
    printed = {name: run[name] if isinstance(run.get(name), str) else "" for name in ("stdout", "stderr")}
    return {**printed, "outcome": run["outcome"]}
