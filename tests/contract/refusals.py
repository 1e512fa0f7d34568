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
    "*-anthropic-audio": Refusal(
        "unsupported_content", "input_audio", "send a transcript instead", ("input_audio",)
    ),
    "*-google-inexpressible_schema": Refusal(  # P02
        "tool_schema_incompatible", "tools", "Write the schema without it", ("not",)
    ),
}
"""By a pattern of cells: surface, backend, case."""


def refusal_of(cell: str) -> Refusal | None:
    return next((refusal for pattern, refusal in REFUSALS.items() if fnmatchcase(cell, pattern)), None)
