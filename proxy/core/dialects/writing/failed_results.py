"""Has a tool failed? Some clients say so in a field, most in the first word of what the tool returned."""

from proxy.core.model import Result

ERROR_PREFIX = "Error:"
"""Agents' tools begin with this when they fail, and models are told in this word where the dialect has no field for
it."""


def failed(result: Result) -> bool:
    """The client's own word counts before the tool's."""
    if result.is_error is not None:
        return result.is_error
    first = result.content[0] if result.content else None
    return isinstance(first, str) and says_error(first)


def says_error(words: str) -> bool:
    return words[: len(ERROR_PREFIX)].lower() == ERROR_PREFIX.lower()
