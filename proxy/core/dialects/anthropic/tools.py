"""The tools and the choice among them, as strongly as the model lets itself be forced.

Some models refuse to be forced. They are told in words, and get no tool but the one that is wanted; whether they
obeyed is for the guard to say. Strict tools have limits in common: the API makes one grammar of them all, and refuses
one too large.
"""

from typing import Any, NamedTuple

from proxy.core.dialects.anthropic.models import Traits
from proxy.core.ledger import Ledger
from proxy.core.model import ChoiceMode, Request
from proxy.core.profile import BackendProfile
from proxy.core.schemas import strictness
from proxy.core.schemas.traversal import Schema, subschemas
from proxy.core.tools.prepare import NO_TOOL, Prepared, PreparedTool

Choice = dict[str, Any]

MAX_TOOLS = 20
"""Limits the strict tools of one request."""


class Offer(NamedTuple):
    tools: list[dict[str, Any]]
    choice: Choice | None
    urge: str | None = None
    """The model is told this because it cannot be forced."""


def offer(
    request: Request,
    prepared: Prepared,
    profile: BackendProfile,
    traits: Traits,
    ledger: Ledger,
    *,
    budgeted: bool,
    tells_calls: bool,
) -> Offer:
    """Makes the offer. `budgeted`: the model thinks by a budget. `tells_calls`: there are calls in the history."""
    if not prepared.tools:
        declares = tells_calls and profile.orphan_tools != "keep"
        return Offer([_declared(NO_TOOL)] if declares else [], None)
    wanted, choice, urge = _choice(prepared, profile, traits, budgeted)
    return Offer(
        _tools(wanted, prepared, profile, traits, ledger),
        _one_at_a_time(choice, request, profile, ledger),
        urge,
    )


def _choice(
    prepared: Prepared, profile: BackendProfile, traits: Traits, budgeted: bool
) -> tuple[list[PreparedTool], Choice | None, str | None]:
    tools, forced = prepared.tools, prepared.forced
    if prepared.mode is ChoiceMode.AUTO:
        return tools, None, None
    if prepared.mode is ChoiceMode.NONE:
        return tools, {"type": "none"}, None
    if not _can_force(profile, traits, budgeted):
        named = [tool for tool in tools if tool.name == forced] or tools
        which = f"the tool `{named[0].name}`" if len(named) == 1 else "one of the tools"
        return named, {"type": "auto"}, f"Answer with a call of {which}, not with text."
    return tools, {"type": "tool", "name": forced} if forced else {"type": "any"}, None


def _can_force(profile: BackendProfile, traits: Traits, budgeted: bool) -> bool:
    if profile.force_tool == "auto" or traits.forcing == "never":
        return False
    return traits.forcing == "always" or not budgeted


def _one_at_a_time(
    choice: Choice | None, request: Request, profile: BackendProfile, ledger: Ledger
) -> Choice | None:
    """Asks for one call at a time. The choice `none` has no such field and does not need it."""
    wanted = profile.parallel == "false" or not request.parallel_calls
    if not wanted or (choice and choice["type"] == "none"):
        return choice
    if profile.parallel == "omit":
        ledger.drop("parallel_tool_calls")
        return choice
    return (choice or {"type": "auto"}) | {"disable_parallel_tool_use": True}


def _tools(
    tools: list[PreparedTool], prepared: Prepared, profile: BackendProfile, traits: Traits, ledger: Ledger
) -> list[dict[str, Any]]:
    limits = StrictLimits()
    declared = []
    for tool in tools:
        entry = _declared(tool)
        if tool.strict:
            if traits.formats and "json_schema" in profile.formats and limits.takes(tool.parameters):
                entry["strict"] = True
            else:
                prepared.drop_strict([tool], ledger)
        declared.append(entry)
    return declared


class StrictLimits:
    """Keeps what is left of a request's limits for strict tools."""

    def __init__(self) -> None:
        self._tools = MAX_TOOLS
        self._optional = strictness.MAX_OPTIONAL
        self._unions = strictness.MAX_UNIONS

    def takes(self, schema: Schema) -> bool:
        """Can one more tool's schema be enforced? Counts it if so."""
        if not self._tools or not strictness.qualifies(schema):
            return False
        every = [inner for _, inner in subschemas(schema)]
        optional = self._optional - sum(map(strictness.optional_properties, every))
        unions = self._unions - sum(map(strictness.is_union, every))
        if optional < 0 or unions < 0:
            return False
        self._tools, self._optional, self._unions = self._tools - 1, optional, unions
        return True


def _declared(tool: PreparedTool) -> dict[str, Any]:
    description = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **description, "input_schema": tool.parameters}
