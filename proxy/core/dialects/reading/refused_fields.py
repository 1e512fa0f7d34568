"""How servers with a closed schema say which field, or which value of it, they do not take."""

import re

from proxy.core.dialects.reading.lessons import says

REFUSED = r"(?:not supported|unsupported|not permitted|not allowed|unknown|unrecognized|unavailable)"
"""For patterns that name the field themselves."""

_NAME = r"""[\\'"`]*([\w.\[\]]+)"""
UNKNOWN_FIELD = re.compile(
    "|".join(
        (
            rf"(messages)[.\w\[\]]{{0,20}}'? ?: property {_NAME}[\\'\"`]* is unsupported",
            rf"property {_NAME}[\\'\"`]* is unsupported",
            rf"Extra inputs are not permitted, field: {_NAME}",
            r"extra_forbidden\W+loc\W+(\w[^\])]{0,200})",
            rf"Unsupported parameter(?:\(s\)|s)?: {_NAME}",
            rf"Unknown parameter: {_NAME}",
            rf"Unrecognized request arguments? supplied: {_NAME}",
            rf"does not support parameter {_NAME}",
        )
    ),
    re.IGNORECASE,
)
REFUSED_VALUE = says(rf"Unsupported value: {_NAME}")

_STEP = re.compile(r"[A-Za-z_]\w*")
_CAMEL = re.compile(r"(?<=[a-z])([A-Z])")


def steps(match: re.Match[str]) -> list[str]:
    """The names in the path that the server complains of, from the outermost inwards."""
    found = _STEP.findall(next(name for name in match.groups() if name))
    return found[1:] if found[0] == "body" else found


def snake(name: str) -> str:
    """xAI complains of reasoningEffort."""
    return _CAMEL.sub(r"_\1", name).lower()
