"""What stands in items, whichever server has written them: their kinds, their texts, their calls."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from proxy.core import jsontext
from proxy.core.annotations import moved
from proxy.core.dialects.reading.decoding import word
from proxy.core.tools.names import UNNAMED_NAMESPACES

Json = dict[str, Any]


class Kind(StrEnum):
    MESSAGE = "message"
    REASONING = "reasoning"
    CALL = "function_call"
    CUSTOM = "custom_tool_call"
    SHELL = "shell_call"
    LOCAL_SHELL = "local_shell_call"
    PATCH = "apply_patch_call"


MESSAGE, REASONING, CALL, CUSTOM, SHELL, LOCAL_SHELL, PATCH = Kind
KINDS = {str(kind): kind for kind in Kind}

ARGUED: dict[Kind | None, str] = {
    CALL: "arguments",
    CUSTOM: "input",
    SHELL: "action",
    LOCAL_SHELL: "action",
    PATCH: "operation",
}
"""The member that holds the arguments of a call, by its kind."""
CALLS = frozenset(ARGUED)
BY_TYPE = {SHELL: "shell", LOCAL_SHELL: "local_shell", PATCH: "apply_patch"}
"""Calls that have no name of their own, and the one tool that each is of."""


class Voice(StrEnum):
    """What a piece of text belongs to, inside its item."""

    TEXT = "text"
    REFUSAL = "refusal"
    SUMMARY = "summary"
    THOUGHT = "thought"
    ARGUMENTS = "arguments"


TEXT, REFUSAL, SUMMARY, THOUGHT, ARGUMENTS = Voice
"""Looked up once, because Python 3.11 is slow to find a member in its enumeration."""

PARTS: dict[str, tuple[Voice, str]] = {
    "output_text": (TEXT, "text"),
    "text": (TEXT, "text"),
    "refusal": (REFUSAL, "refusal"),
    "summary_text": (SUMMARY, "text"),
    "reasoning_text": (THOUGHT, "text"),
}
"""Maps the type of a part to its voice and the member that holds its text."""

VOICES = {MESSAGE: (TEXT, REFUSAL), REASONING: (SUMMARY, THOUGHT)}
"""The voices of prose."""


def kind_of(item: Json) -> Kind | None:
    kind = item.get("type")
    found = KINDS.get(kind) if isinstance(kind, str) else None
    return None if found is SHELL and _runs_elsewhere(item) else found


def _runs_elsewhere(call: Json) -> bool:
    """Is it for a shell of the backend's own? Nobody else may run that."""
    where = call.get("environment")
    return isinstance(where, dict) and where.get("type", "local") != "local"


def voice_in(kind: Kind, voice: Voice) -> Voice:
    """Some servers call a thought plain text, inside an item of reasoning."""
    return THOUGHT if kind is REASONING and voice in VOICES[MESSAGE] else voice


def part_text(part: Any, kind: Kind) -> tuple[Voice, str] | None:
    """What a content part says; None if it cannot be read."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str) or part["type"] not in PARTS:
        return None
    voice, member = PARTS[part["type"]]
    voice, text = voice_in(kind, voice), part.get(member)
    return (voice, text) if isinstance(text, str) and voice in VOICES[kind] else None


def said_in(item: Json, kind: Kind) -> dict[Voice, list[str]]:
    """All texts of an item, each list in order. Parts that cannot be read are left out."""
    found: dict[Voice, list[str]] = {}
    for part in _parts(item):
        if (read := part_text(part, kind)) is not None:
            found.setdefault(read[0], []).append(read[1])
    return found


def annotations_in(item: Json) -> list[Any]:
    """What is said of places in the text of a message. Those of later parts count from the start of the whole text."""
    found: list[Any] = []
    before = 0
    for part in _parts(item):
        listed = part.get("annotations") if isinstance(part, dict) else None
        if isinstance(listed, list):
            found += [moved(one, before) for one in listed if isinstance(one, dict)]
        said = part_text(part, MESSAGE)
        before += len(said[1]) if said and said[0] is TEXT else 0
    return found


def unreadable_parts(item: Json, kind: Kind) -> int:
    return sum(part_text(part, kind) is None for part in _parts(item))


def _parts(item: Json) -> Iterator[Any]:
    for name in ("summary", "content"):
        parts = item.get(name)
        if isinstance(parts, list):
            yield from parts
        elif isinstance(parts, str) and parts:
            yield {"type": "summary_text" if name == "summary" else "text", "text": parts}


HOSTED = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "computer_call",
    }
)
"""Types of items in which tools of the backend's own tell what they do, or ask whether they may."""


def is_hosted(item: Json) -> bool:
    kind = item.get("type")
    return isinstance(kind, str) and kind in HOSTED


def called_name(item: Json) -> str | None:
    """The name of the function as it was declared: tools of a namespace are declared by their whole names."""
    if (kind := kind_of(item)) in BY_TYPE:
        return BY_TYPE[kind]
    name, space = word(item.get("name")), word(item.get("namespace"))
    if name is None or space in UNNAMED_NAMESPACES or name.startswith(f"{space}__"):
        return name
    return f"{space}__{name}"


def arguments_of(item: Json, kind: Kind) -> str | None:
    """The arguments, if the item has any yet. Raises BadJson for an object that cannot be written."""
    value = item.get(ARGUED[kind])
    if kind in BY_TYPE and isinstance(value, dict):
        value = {name: one for name, one in value.items() if one is not None}
    if isinstance(value, dict | list):
        return jsontext.compact(value)
    return value if isinstance(value, str) and value else None
