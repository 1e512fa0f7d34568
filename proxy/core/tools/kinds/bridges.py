"""What each kind of tool is to a backend, which knows only functions: one row for each kind.

The surface knows how a kind looks to the client. No other module asks which kind a tool is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proxy.core.model import ToolKind, ToolSpec
from proxy.core.schemas.traversal import Schema
from proxy.core.tools.kinds import apply_patch, custom, local_shell, shell

EMPTY_OBJECT = "{}"

StandIn = tuple[str | None, Schema | None]
"""The description and the parameters of the function that stands for a tool."""


@dataclass(frozen=True, slots=True)
class Bridge:
    declare: Callable[[ToolSpec], StandIn]
    to_function: Callable[[str], str]
    """Translates the arguments of an earlier call into the function's. They need not be JSON yet."""
    from_function: Callable[[str], str]
    """Translates what the function was called with into what the client's tool takes."""
    streams: bool = False
    """May fragments be passed on as they come? Not where only the whole can be translated."""
    freeform: bool = False
    """Are the arguments plain text, which cannot be malformed JSON?"""


def _as_declared(spec: ToolSpec) -> StandIn:
    return spec.description, spec.parameters


def _as_it_is(arguments: str) -> str:
    return arguments


def _or_nothing(arguments: str) -> str:
    return arguments or EMPTY_OBJECT


BRIDGES: Mapping[ToolKind, Bridge] = {
    ToolKind.FUNCTION: Bridge(_as_declared, _as_it_is, _or_nothing, streams=True),
    ToolKind.CUSTOM: Bridge(
        lambda spec: (custom.description(spec), custom.PARAMETERS), custom.wrap, custom.unwrap, freeform=True
    ),
    ToolKind.TOOL_SEARCH: Bridge(_as_declared, _as_it_is, _or_nothing),
    ToolKind.LOCAL_SHELL: Bridge(
        lambda _: (local_shell.DESCRIPTION, local_shell.PARAMETERS), _as_it_is, local_shell.restore
    ),
    ToolKind.SHELL: Bridge(lambda _: (shell.DESCRIPTION, shell.PARAMETERS), _as_it_is, shell.restore),
    ToolKind.APPLY_PATCH: Bridge(
        lambda _: (apply_patch.DESCRIPTION, apply_patch.PARAMETERS), _as_it_is, apply_patch.restore
    ),
}
