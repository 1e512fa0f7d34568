"""The function that stands for a custom tool, whose input is free text, before backends that know only functions."""

import re
from typing import Any

from proxy.core import jsontext
from proxy.core.model import ToolSpec

FIELD = "input"

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {FIELD: {"type": "string", "description": "The whole input of the tool, as plain text."}},
    "required": [FIELD],
    "additionalProperties": False,
}

_SHORTEST_FENCE = 3
_HEREDOC = re.compile(
    r"\s*apply_patch\s+<<-?\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)[ \t]*\n(?P<inside>.*\n)(?P=end)\s*",
    re.DOTALL,
)


def description(spec: ToolSpec) -> str:
    """Returns what the client says of the tool, and the grammar: no backend can be held to it, so the model has to
    read it."""
    parts = [spec.description] if spec.description else []
    grammar = spec.grammar or {}
    grammar = grammar.get("grammar", grammar)  # the Chat form holds it one level deeper
    if isinstance(definition := grammar.get("definition"), str):
        syntax = grammar.get("syntax", "following")
        parts.append(f"`{FIELD}` must match this {syntax} grammar:\n```\n{definition.strip()}\n```")
    parts.append(
        f"Put the text of the input into `{FIELD}` as it is, without quoting or code fences around it."
    )
    return "\n\n".join(parts)


def wrap(text: str) -> str:
    """Returns the arguments of the function for this input."""
    return jsontext.compact({FIELD: text})


def unwrap(arguments: str) -> str:
    """Returns the input in these arguments.

    Models put it under other names, leave the JSON out, fence it, or write the shell command that would apply it.
    Arguments that cannot be understood are the input themselves: nothing is lost, and the client's tool will complain.
    """
    text = _unfenced(_text_in(arguments))
    command = _HEREDOC.fullmatch(text)
    return command["inside"] if command else text


def _text_in(arguments: str) -> str:
    try:
        value = jsontext.loads(_unfenced(arguments))
    except jsontext.BadJson:
        return arguments
    match value:
        case str():
            return value
        case {"input": str(text)}:
            return text
        case dict() if len(value) == 1 and isinstance(text := next(iter(value.values())), str):
            return text
        case _:
            return arguments


def _unfenced(text: str) -> str:
    """Removes one fence around the whole text. Two fenced blocks are a document, whose first and last line it needs."""
    first, _, rest = text.strip().partition("\n")
    info = first.lstrip(first[:1])
    fence = first[: len(first) - len(info)]
    if len(fence) < _SHORTEST_FENCE or fence[0] not in "`~" or "`" in info or not rest.endswith(fence):
        return text
    inside = rest.removesuffix(fence).removesuffix("\n")
    return text if f"\n{fence}" in f"\n{inside}" else inside
