"""The tools of one request as one backend gets them, with the client's choice among them applied.

The proxy applies a choice in two ways: it tells the backend as strongly as the backend understands, and it leaves tools
out. Where a backend calls another tool in spite of both, `NameTable.permits` notices it in the reply.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from proxy.core.caches.consequences import Declared, Shared
from proxy.core.caches.remembered import OBJECTS_PER_BYTE, Remembered
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import shown
from proxy.core.model import ChoiceMode, Request, ToolChoice, ToolKind, ToolName, ToolSpec
from proxy.core.profile import BackendProfile
from proxy.core.schemas import for_backend
from proxy.core.schemas.traversal import Schema
from proxy.core.tools import support
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tools.names import NameTable, stem
from proxy.core.work import Work

NAMED = 3
"""Tools that one warning names: a hundred tools of an agent may all have the same keyword."""


@dataclass(slots=True)
class PreparedTool:
    """A plain function, whatever the client declared, unless the backend takes it as it is."""

    name: str
    description: str | None
    parameters: Schema
    strict: bool | None = None
    declared: ToolSpec | None = None
    """What the client declared, where the backend takes tools of that kind."""
    space: str | None = None
    """The namespace, where the backend has those."""


NONE = ChoiceMode.NONE
"""Needed with every request: Python 3.11 is slow to find a member in its enumeration."""

NAMESPACE, ALLOWED_TOOLS = "namespace", "allowed_tools"

UNCHOSEN = frozenset({ToolKind.LOCAL_SHELL})
"""Kinds that no choice can name where they are taken as they are."""

NO_TOOL = PreparedTool(
    name="_noop",
    description="Does nothing. Never call it.",
    parameters={"type": "object", "properties": {}},
)
"""Declared to gateways that refuse a history with calls in a request without any tool."""


@dataclass(slots=True)
class Prepared:
    names: NameTable
    tools: list[PreparedTool]
    mode: ChoiceMode = ChoiceMode.AUTO
    forced: str | None = None
    """The upstream name of the one function to call, where the backend understands such an order."""
    allowed: Sequence[PreparedTool] = ()
    """The only tools that may be called, where the backend understands such an order. Else all of them, or the others
    are left out."""
    relaxed: dict[str, list[str]] = field(default_factory=dict)
    """By upstream name, the keywords of a tool's schema that the backend does not enforce: it is told of them in words,
    or not at all."""
    aliases: dict[ToolName, Mapping[str, str]] = field(default_factory=dict)
    """By tool, the names of the properties that the backend knows by an alias."""
    hosted: Sequence[dict[str, Any]] = ()
    """The tools that this backend runs itself."""
    untold: frozenset[ToolName] = frozenset()
    """Strict tools that the backend does not know to be strict: only the proxy holds their calls to their schemas."""

    format_unproven: bool = False
    """Is nobody known to hold the model to the form of its answer? It was told of it in words, or nobody knows what the
    backend does beside tools."""
    answer_unfit: bool = False
    """Has the answer another form, as far as that was looked at?"""

    def note_unfit(self) -> None:
        self.answer_unfit = True

    def drop_strict(self, tools: Iterable[PreparedTool], ledger: Ledger) -> None:
        """Notes that the encoder could not tell the backend which of these tools are strict."""
        if strict := [tool for tool in tools if tool.strict]:
            ledger.drop("strict")
            self.untold |= {self.names.client(tool.name)[0] for tool in strict}


@dataclass(slots=True, frozen=True)
class _Offer:
    """What follows from the tools, the choice among them and the profile. It is remembered: do not change it."""

    names: NameTable
    tools: Shared[PreparedTool]
    forced: str | None
    allowed: Sequence[PreparedTool]
    relaxed: dict[str, list[str]]
    aliases: dict[ToolName, Mapping[str, str]]
    left_out: int
    """How many tools were too many."""
    growth: int
    """The bytes by which the schemas grew."""


_OFFERS: Remembered[_Offer] = Remembered()


def prepare(request: Request, profile: BackendProfile, ledger: Ledger) -> Prepared:
    """Raises Incompatible, before anything is sent, if the backend can do neither what is asked nor anything like
    it."""
    support.check(request, profile)
    choice, work = request.choice, ledger.work
    hosted = _run_by(profile, request, ledger) if request.hosted is not None else ()
    if not request.tools:
        names = NameTable((), _permitted(choice), profile.tool_names)
        return Prepared(names, [], choice.mode, hosted=hosted)
    growth_left = work.growth_left
    offer = _offer(request, profile, work, hosted=bool(hosted))
    if work.growth_left == growth_left:
        work.grow(offer.growth)  # remembered or not, it is written
    for _ in range(offer.left_out):
        ledger.drop("tool")
    names = offer.names.copy()
    if offer.relaxed:
        _remark({stem(names.client(name)[0]): words for name, words in offer.relaxed.items()}, ledger)
    return Prepared(
        names, offer.tools, choice.mode, offer.forced, offer.allowed, offer.relaxed, offer.aliases, hosted
    )


def _offer(request: Request, profile: BackendProfile, work: Work, *, hosted: bool) -> _Offer:
    """`hosted`: does the backend run tools of its own?"""
    tools, choice = request.tools, request.choice
    if not isinstance(tools, Declared):  # nobody has read them
        return _new_offer(request, profile, work, hosted=hosted)
    data, reading = tools.origin

    def make() -> tuple[_Offer, int]:
        offer = _new_offer(request, profile, work, hosted=hosted)
        return offer, OBJECTS_PER_BYTE * (len(data) + offer.growth)

    asked = choice.mode, choice.only, hosted
    known = profile.tool_names, profile.as_declared, profile.force_tool, profile.max_tools, profile.schema
    return _OFFERS.of((data, (reading, asked, known)), make)


def _new_offer(request: Request, profile: BackendProfile, work: Work, *, hosted: bool) -> _Offer:
    choice, growth_left = request.choice, work.growth_left
    names = NameTable(request.tools, _permitted(choice), profile.tool_names)
    sayable = _sayable(request.tools, choice, names, profile, hosted=hosted)
    wanted = request.tools if sayable else _offered(request.tools, choice, profile)
    specs = _at_most(profile.max_tools, wanted, choice.only or ())
    relaxed: dict[str, list[str]] = {}
    aliases: dict[ToolName, Mapping[str, str]] = {}
    tools = Shared(_prepared(spec, names, request.model, profile, relaxed, aliases, work) for spec in specs)
    forced: str | None = None
    allowed: Sequence[PreparedTool] = ()
    if choice.only and sayable:
        allowed = [tool for tool, spec in zip(tools, specs, strict=True) if spec.tool in choice.only]
        forced = allowed[0].name if _forced(choice) and allowed else None
    left_out, growth = len(wanted) - len(specs), growth_left - work.growth_left
    return _Offer(names, tools, forced, allowed, relaxed, aliases, left_out, growth)


def _run_by(profile: BackendProfile, request: Request, ledger: Ledger) -> list[dict[str, Any]]:
    """The hosted tools that this backend runs. It may be another than the one that they were meant for."""
    assert request.hosted is not None
    run = [tool for tool in request.hosted.tools if tool["type"] in profile.hosted_tools]
    if len(run) < len(request.hosted.tools):
        leave_out_hosted(
            [tool for tool in request.hosted.tools if tool["type"] not in profile.hosted_tools], ledger
        )
    return run


def leave_out_hosted(tools: Sequence[dict[str, Any]], ledger: Ledger) -> None:
    """For tools that were meant for a backend that runs them, when another is asked, or in another language. The
    client is told: its response says that they were offered."""
    for _ in tools:
        ledger.drop("hosted_tool")
    types = ", ".join(sorted({shown(tool["type"]) for tool in tools}))
    ledger.warn(f"Left out, because the backend that was asked does not run them: {types}.")


def _remark(relaxed: Mapping[str, Sequence[str]], ledger: Ledger) -> None:
    """Warns the client of constraints that are not enforced. `relaxed` holds keywords by the client's names."""
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
        "The backend does not enforce parts of the schemas of these tools: "
        f"{', '.join(tools[:NAMED])}{more}. Set request_options.validate_tool_arguments to have arguments checked."
    )


def _permitted(choice: ToolChoice) -> Collection[ToolName] | None:
    return () if choice.mode is NONE else choice.only


def _forced(choice: ToolChoice) -> ToolName | None:
    """Returns the one function that must be called, if the choice is that narrow."""
    if choice.mode is ChoiceMode.REQUIRED and choice.only and len(choice.only) == 1:
        return next(iter(choice.only))
    return None


def _sayable(
    tools: list[ToolSpec], choice: ToolChoice, names: NameTable, profile: BackendProfile, *, hosted: bool
) -> bool:
    """Can the backend be told which of the tools may be called? There are no words for some kinds, nor for a tool in
    a namespace; and a choice among some tools is one against all others, also those that the backend runs."""
    if not choice.only or choice.mode is NONE:
        return False
    native = profile.as_declared
    if any(
        spec.tool in choice.only
        and ((NAMESPACE in native and names.space(spec.tool, spec.kind)) or spec.kind in native & UNCHOSEN)
        for spec in tools
    ):
        return False
    if _forced(choice):
        return profile.force_tool == "object"
    return ALLOWED_TOOLS in native and profile.force_tool == "object" and not hosted


def _offered(tools: list[ToolSpec], choice: ToolChoice, profile: BackendProfile) -> list[ToolSpec]:
    """Returns the tools that the backend is told of.

    A backend that obeys orders is told of all, with the order not to call them, or to call the one: the prompt then
    begins as in every other turn, and its cache holds. With any other backend, only leaving a tool out keeps it from
    being called.
    """
    if choice.mode is NONE:
        return [] if profile.force_tool == "auto" else tools
    if choice.only is None:
        return tools
    return [spec for spec in tools if spec.tool in choice.only]


def _at_most(limit: int, specs: list[ToolSpec], wanted: Collection[ToolName]) -> list[ToolSpec]:
    """Keeps the tools that were asked for, then an agent's own, then those of its many servers, each in order."""
    if len(specs) <= limit:
        return specs
    ranked = sorted(specs, key=lambda spec: (spec.tool not in wanted, spec.tool.namespace is not None))
    kept = {(spec.tool, spec.kind) for spec in ranked[:limit]}
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
    name, space = names.upstream(spec.tool, spec.kind), None
    if native := profile.as_declared:
        space = names.space(spec.tool, spec.kind) if NAMESPACE in native else None
        if spec.kind in native and (space or names.is_own(spec.tool, spec.kind)):
            return PreparedTool(name, spec.description, {}, declared=spec, space=space)
    description, parameters = BRIDGES[spec.kind].declare(spec)
    work.on = path = f"{spec.path}.parameters"
    written = spec.written if parameters is spec.parameters else None
    result = for_backend.rewritten(parameters, profile.schema, work, written)
    if result.incompatible:
        backend = f"the backend ({profile.name}, model {shown(model)})"
        raise for_backend.fault_of(result, f"the tool '{shown(stem(spec.tool))}'", backend, parameters, path)
    if result.relaxed:
        relaxed[name] = list(result.relaxed)
    if result.aliases:
        aliases[spec.tool] = result.aliases
    return PreparedTool(name, description or None, result.schema, spec.strict, space=space)
