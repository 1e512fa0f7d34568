"""The tools of one request as one backend gets them, with the client's choice among them applied.

A choice is made in two ways: told to the backend as strongly as it understands, and enforced by what is left out.
Whatever a backend does in spite of both, `NameTable.permits` knows when the reply comes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from proxy.core.ledger import Ledger
from proxy.core.masking.redact import shown
from proxy.core.model import ChoiceMode, Request, ToolChoice, ToolName, ToolSpec
from proxy.core.profile import BackendProfile
from proxy.core.schemas import for_backend
from proxy.core.schemas.traversal import Schema
from proxy.core.tools import support
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tools.names import NameTable, stem
from proxy.core.work import Work

NAMED = 3
"""Tools that one warning names; an agent's hundred may all have the same keyword."""


@dataclass(slots=True)
class PreparedTool:
    """A plain function, whatever the client declared."""

    name: str
    description: str | None
    parameters: Schema
    strict: bool | None = None


@dataclass(slots=True)
class Prepared:
    names: NameTable
    tools: list[PreparedTool]
    mode: ChoiceMode = ChoiceMode.AUTO
    forced: str | None = None
    """The upstream name of the one function to call, where the backend understands such an order."""
    relaxed: dict[str, list[str]] = field(default_factory=dict)
    """By upstream name, the keywords of a tool's schema that the backend does not enforce, but is only told of."""
    aliases: dict[ToolName, Mapping[str, str]] = field(default_factory=dict)
    """By tool, what those properties are called that the backend knows by an alias."""
    untold: set[ToolName] = field(default_factory=set)
    """Tools that are strict, of which the backend does not know it: only we hold their calls to their schemas."""

    def drop_strict(self, tools: Iterable[PreparedTool], ledger: Ledger) -> None:
        """For an encoder that cannot tell which of these are strict."""
        if strict := [tool for tool in tools if tool.strict]:
            ledger.drop("strict")
            self.untold.update(self.names.client(tool.name)[0] for tool in strict)


def prepare(request: Request, profile: BackendProfile, ledger: Ledger) -> Prepared:
    """Incompatible, before anything is sent, if the backend cannot do what is asked, nor anything like it."""
    support.check(request, profile)
    choice = request.choice
    names = NameTable(request.tools, _permitted(choice), profile.tool_names)
    if not request.tools:
        return Prepared(names, [], choice.mode)
    specs = _offered(request.tools, choice, profile)
    specs = _at_most(profile.max_tools, specs, choice.only or (), ledger)
    relaxed: dict[str, list[str]] = {}
    aliases: dict[ToolName, Mapping[str, str]] = {}
    tools = [_prepared(spec, names, request.model, profile, relaxed, aliases, ledger.work) for spec in specs]
    if relaxed:
        _remark({stem(names.client(name)[0]): keywords for name, keywords in relaxed.items()}, ledger)
    forced = None
    if profile.force_tool == "object" and (tool := _forced(choice)):
        forced = next((names.upstream(spec.tool, spec.kind) for spec in specs if spec.tool == tool), None)
    return Prepared(names, tools, choice.mode, forced, relaxed, aliases)


def _remark(relaxed: Mapping[str, Sequence[str]], ledger: Ledger) -> None:
    """Whoever relies on a constraint is told where it is not enforced. `relaxed`: keywords by the client's names."""
    for keyword in chain.from_iterable(relaxed.values()):
        ledger.drop(f"schema:{keyword}")
    if lost := [shown(name) for name, keywords in relaxed.items() if "$ref" in keywords]:
        ledger.warn(
            f"References in the parameters of {', '.join(lost[:NAMED])} lead nowhere, or to more than can be told: the "
            "backend was told that anything fits there."
        )
    relaxed = {
        name: others for name, keywords in relaxed.items() if (others := [k for k in keywords if k != "$ref"])
    }
    if not relaxed:
        return
    tools = [f"{shown(name)} ({', '.join(keywords)})" for name, keywords in relaxed.items()]
    more = f" and {len(tools) - NAMED} more" if len(tools) > NAMED else ""
    ledger.warn(
        "The backend was told in words, and does not enforce, parts of the schemas of these tools: "
        f"{', '.join(tools[:NAMED])}{more}. Set request_options.validate_tool_arguments to have arguments checked."
    )


def _permitted(choice: ToolChoice) -> Collection[ToolName] | None:
    return () if choice.mode is ChoiceMode.NONE else choice.only


def _forced(choice: ToolChoice) -> ToolName | None:
    """The one function that must be called, if the choice is that narrow."""
    if choice.mode is ChoiceMode.REQUIRED and choice.only and len(choice.only) == 1:
        return next(iter(choice.only))
    return None


def _offered(tools: list[ToolSpec], choice: ToolChoice, profile: BackendProfile) -> list[ToolSpec]:
    """Those that the backend hears of.

    Where its word is believed, all are named with the order not to call them, or to call the one: the prompt then
    begins as in every other turn, and its cache holds. Elsewhere only an absent tool is safe from being called.
    """
    if choice.mode is ChoiceMode.NONE:
        return [] if profile.force_tool == "auto" else tools
    if choice.only is None or (_forced(choice) and profile.force_tool == "object"):
        return tools
    return [spec for spec in tools if spec.tool in choice.only]


def _at_most(
    limit: int, specs: list[ToolSpec], wanted: Collection[ToolName], ledger: Ledger
) -> list[ToolSpec]:
    """The tools that were asked for stay, then an agent's own, then those of its many servers, each in order."""
    if len(specs) <= limit:
        return specs
    ranked = sorted(specs, key=lambda spec: (spec.tool not in wanted, spec.tool.namespace is not None))
    kept = {(spec.tool, spec.kind) for spec in ranked[:limit]}
    for _ in ranked[limit:]:
        ledger.drop("tool")
    return [spec for spec in specs if (spec.tool, spec.kind) in kept]


def _prepared(
    spec: ToolSpec,
    names: NameTable,
    model: str,
    profile: BackendProfile,
    relaxed: dict[str, list[str]],
    aliases: dict[ToolName, Mapping[str, str]],
    work: Work,
) -> PreparedTool:
    description, parameters = BRIDGES[spec.kind].declare(spec)
    name = names.upstream(spec.tool, spec.kind)
    work.on = place = f"{spec.path}.parameters"
    result = for_backend.rewritten(parameters, profile.schema, work)
    if result.incompatible:
        backend = f"the backend ({profile.name}, model {shown(model)})"
        raise for_backend.fault_of(result, f"the tool '{shown(stem(spec.tool))}'", backend, parameters, place)
    if result.relaxed:
        relaxed[name] = list(result.relaxed)
    if result.aliases:
        aliases[spec.tool] = result.aliases
    return PreparedTool(name, description or None, result.schema, spec.strict)
