"""The cells of the matrix that are refused: what a surface does not take, and what a backend cannot do in any way.

A refusal comes before anything is sent, names the field, and says what to do instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Refusal:
    code: str | None
    param: str | None
    way_out: str
    """In its message."""
    features: tuple[str, ...] = ()
    """Its `incompatible_features`."""


def _audio(said: str) -> Refusal:
    place = f"{said}[0].content[1].input_audio.data"
    return Refusal("unsupported_content", place, "send a transcript instead", ("input_audio",))


def _schema(tool: str) -> Refusal:
    """P02."""
    place = f"{tool}.parameters.properties.city.not"
    return Refusal("tool_schema_incompatible", place, "Write the schema without it", ("not",))


REFUSALS: Mapping[str, Refusal] = {
    "native-*-strict_tool": Refusal(  # N02
        "unsupported_value", "tools[0].function.strict", "request_options.validate_tool_arguments"
    ),
    "native-*-undescribed_tool": Refusal(  # N01
        "missing_required_parameter", "tools[0].function.description", "is required"
    ),
    "native-*-long_description": Refusal(  # P06
        "tool_limit_exceeded", "tools[0].function.description", "Shorten it"
    ),
    "responses-anthropic-audio": _audio("input"),
    "[cn]*-anthropic-audio": _audio("messages"),
    "responses-google-inexpressible_schema": _schema("tools[0]"),
    "[cn]*-google-inexpressible_schema": _schema("tools[0].function"),
}
"""By a pattern of cells: surface, backend, case."""


def refusal_of(cell: str) -> Refusal | None:
    return next((refusal for pattern, refusal in REFUSALS.items() if fnmatchcase(cell, pattern)), None)
