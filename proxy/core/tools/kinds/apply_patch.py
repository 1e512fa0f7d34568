"""The function that stands for `apply_patch`, which agents declare by its type alone: one call changes one file.

Codex declares a custom tool of that name instead, whose input is a patch of many files: see `custom`.
"""

from typing import Any

from proxy.core import jsontext

CREATE, UPDATE, DELETE = KINDS = ("create_file", "update_file", "delete_file")

DESCRIPTION = """\
Creates, updates or deletes one file.

The `diff` of an update holds one or more sections. Each begins with a line `@@`, optionally followed by the class or \
function that it stands in; then every line begins with exactly one of: a space (context), - (removed), + (added). \
Give about three lines of context around a change, copied exactly from the file. There are no line numbers:
```
@@ def greet(name):
-    print("Hi " + name)
+    print(f"Hello, {name}!")
     return name
```
The `diff` of a new file is its whole content, with a + before every line."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": list(KINDS)},
        "path": {"type": "string", "description": "The file."},
        "diff": {"type": "string", "description": "What to write or change; empty for a deletion."},
    },
    "required": ["type", "path", "diff"],
    "additionalProperties": False,
}


def restore(arguments: str) -> str:
    """Writes the operation in the form that the client applies: many models nest it one level deeper, as the API does,
    and write a new file without the plus signs."""
    try:
        raw = jsontext.loads(arguments)
    except jsontext.BadJson:
        return arguments
    operation = raw.get("operation", raw) if isinstance(raw, dict) else None
    if not isinstance(operation, dict):
        return arguments
    diff = operation.get("diff")
    if operation.get("type") == CREATE and isinstance(diff, str):
        lines = diff.splitlines(keepends=True)
        if not any(line.startswith("+") for line in lines):
            operation = operation | {"diff": "".join(f"+{line}" for line in lines)}
    return arguments if operation is raw else jsontext.compact(operation)
