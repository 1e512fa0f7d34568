"""The function that stands for `local_shell`, the shell that older agents declare by its type alone."""

from typing import Any

from proxy.core import jsontext

NAME = "local_shell"

DESCRIPTION = (
    "Runs a command on the user's machine and returns its output. The command is a list of arguments and is not "
    'passed through a shell; where one is needed, call it: ["bash", "-lc", "ls | wc -l"].'
)

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The program and its arguments.",
        },
        "working_directory": {"type": "string", "description": "Where to run it."},
        "timeout_ms": {"type": "number", "description": "How long it may take, in milliseconds."},
    },
    "required": ["command"],
    "additionalProperties": False,
}

SHELL = ("bash", "-lc")


def restore(arguments: str) -> str:
    """Writes the command in the form that the client runs: many models write the whole command line as one string."""
    try:
        action = jsontext.loads(arguments)
    except jsontext.BadJson:
        return arguments
    if isinstance(action, dict) and isinstance(line := action.get("command"), str):
        return jsontext.compact(action | {"command": [*SHELL, line]})
    return arguments
