"""The function that stands for `shell`, which agents declare by its type alone and run on their own machine."""

import shlex
from typing import Any

from proxy.core import jsontext

DESCRIPTION = (
    "Runs commands on the user's machine, one after another, and returns the output of each. A command is a whole line "
    'as it would be typed into a shell: ["cd src && ls | wc -l", "git status"].'
)

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "commands": {"type": "array", "items": {"type": "string"}, "description": "The command lines."},
        "timeout_ms": {"type": "integer", "description": "How long they may take, in milliseconds."},
        "max_output_length": {"type": "integer", "description": "How many characters of output to return."},
    },
    "required": ["commands"],
    "additionalProperties": False,
}


def restore(arguments: str) -> str:
    """Writes the commands in the form that the client runs: models that know other shells write one line, or one
    command as a list of words."""
    try:
        action = jsontext.loads(arguments)
    except jsontext.BadJson:
        return arguments
    if not isinstance(action, dict):
        return arguments
    commands = action.get("commands", action.get("command"))
    if isinstance(commands, str):
        line = commands
    elif isinstance(commands, list) and "commands" not in action:
        line = shlex.join(map(str, commands))
    else:
        return arguments
    rest = {name: value for name, value in action.items() if name != "command"}
    return jsontext.compact(rest | {"commands": [line]})
