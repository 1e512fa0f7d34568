"""May this tenant ask with these tools? Limits on what is declared (P06), and a list of what may be (P07).

Each rule is a row: what of a tool is measured, against which limit, and how the complaint reads. A request that breaks
one is refused, or goes on with a warning; of many warnings only the first few are told, and the log line has the count.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import Any

from proxy.core import jsontext
from proxy.core.errors import ClientFault, Forbidden
from proxy.core.ledger import Ledger
from proxy.core.model import UNNAMED, Request, ToolSpec
from proxy.core.redact import shown
from proxy.core.tenants import Limits, Mode, Tenant, dotted

TOLD = 3
"""Warnings of one kind that a client reads; an agent's hundred tools may break the same rule a hundred times."""
CACHED_SCHEMAS = 1024
CACHED_BYTES = 32 * 1024
"""Longer schemas are measured anew each time, so that the cache stays small whatever clients send."""

DEEPER = frozenset(
    {"items", "prefixItems", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"}
)
"""The keywords whose schemas describe what is inside the value. All others speak of the value itself."""
BY_NAME = {"properties": 1, "patternProperties": 1, "dependentSchemas": 0, "$defs": 0, "definitions": 0}
"""Those that hold schemas under names of somebody's choice, each with how much deeper these are."""
EXAMPLES = frozenset({"default", "const", "enum", "examples", "example"})
"""Those that hold values, in which nothing is a schema."""


def admit(request: Request, tenant: Tenant, *, strict: bool, ledger: Ledger) -> None:
    """Raises the ClientFault for the first rule that is broken and enforced. `strict`: is the surface so by itself?"""
    if not request.tools:
        return
    _judge(_over_limits(request.tools, tenant.limits), tenant.mode(strict=strict), ledger, "over_limits")
    if tenant.tool_allowlist is not None:
        refused = _not_allowed(request.tools, tenant.tool_allowlist)
        _judge(refused, tenant.tool_allowlist_mode, ledger, "tools_not_allowed")


def _judge(faults: Iterable[ClientFault], mode: Mode, ledger: Ledger, fact: str) -> None:
    if mode is Mode.OFF:
        return
    count = 0
    for count, fault in enumerate(faults, start=1):
        if mode is Mode.ENFORCE:
            raise fault
        if count <= TOLD:
            ledger.warn(fault.message)
    if count:
        ledger.note(fact, count)
    if count > TOLD:
        ledger.warn(f"And {count - TOLD} more like it.")


# ── limits ──


@dataclass(slots=True, frozen=True)
class _Rule:
    field: str
    limit: Callable[[Limits], int]
    breaks: Callable[[ToolSpec, int], bool]
    complaint: str
    advice: str


def _long_name(spec: ToolSpec, limit: int) -> bool:
    return len(spec.tool.name) > limit


def _long_description(spec: ToolSpec, limit: int) -> bool:
    return spec.description is not None and len(spec.description) > limit


def _deep_schema(spec: ToolSpec, limit: int) -> bool:
    return spec.parameters is not None and depth(spec.parameters) > limit


RULES = (
    _Rule(
        "name",
        lambda limits: limits.name_length,
        _long_name,
        "is longer than {limit} characters",
        "Shorten it.",
    ),
    _Rule(
        "description",
        lambda limits: limits.description_length,
        _long_description,
        "is longer than {limit} characters",
        "Shorten it, or have the limit raised.",
    ),
    _Rule(
        "parameters",
        lambda limits: limits.schema_depth,
        _deep_schema,
        "describe more than {limit} levels of objects and lists inside one another",
        "Flatten them, or have the limit raised.",
    ),
)


def _over_limits(tools: list[ToolSpec], limits: Limits) -> Iterator[ClientFault]:
    if len(tools) > limits.tools:
        place = tools[0].place.rpartition("[")[0]
        yield ClientFault(
            f"{place} declares {len(tools)} tools, more than {limits.tools}. Send fewer.",
            param=place,
            code="array_above_max_length",
        )
    for rule in RULES:
        limit, breaks = rule.limit(limits), rule.breaks
        for spec in tools:
            if breaks(spec, limit):
                place = f"{spec.place}.{rule.field}"
                complaint = rule.complaint.format(limit=limit)
                yield ClientFault(
                    f"{place} of the tool {shown(dotted(spec.tool))} {complaint}. {rule.advice}",
                    param=place,
                    code="tool_limit_exceeded",
                )


def depth(schema: Mapping[str, Any]) -> int:
    """Levels of objects and lists inside one another that a schema describes, as far as it is written out.

    Remembered by the schema's bytes: the same tools come with every request of an agent. What is nested too deeply to
    be written was refused where schemas are checked.
    """
    data = jsontext.dumps(schema)
    return (_depth if len(data) <= CACHED_BYTES else _depth.__wrapped__)(data)


@lru_cache(maxsize=CACHED_SCHEMAS)
def _depth(data: bytes) -> int:
    deepest = 0
    ahead: list[tuple[int, Any]] = [(0, jsontext.loads(data))]
    for level, value in ahead:
        deepest = max(deepest, level)
        if isinstance(value, list):
            ahead += [(level, inner) for inner in value]
        elif isinstance(value, dict):
            for keyword, inner in value.items():
                if keyword in BY_NAME and isinstance(inner, dict):
                    ahead += [(level + BY_NAME[keyword], named) for named in inner.values()]
                elif keyword in DEEPER and isinstance(inner, dict | list):
                    ahead.append((level + 1, inner))
                elif keyword not in EXAMPLES:
                    ahead.append((level, inner))
    return deepest


# ── the allowlist ──


def _not_allowed(tools: list[ToolSpec], allowlist: tuple[str, ...]) -> Iterator[ClientFault]:
    allowed = _matcher(allowlist)
    for spec in tools:
        if not (allowed(dotted(spec.tool)) or allowed(spec.tool.name)):
            place = f"{spec.place}.{'type' if spec.kind in UNNAMED else 'name'}"
            yield Forbidden(
                f"{place}: {shown(dotted(spec.tool))} is not among the tools that this key may use. "
                "Leave it out, or have it added to the list.",
                param=place,
                code="tool_not_allowed",
            )


@lru_cache(maxsize=256)
def _matcher(allowlist: tuple[str, ...]) -> Callable[[str], Any]:
    """One expression for the whole list. Of an empty one it is the expression that nothing matches."""
    return re.compile("|".join(map(translate, allowlist)) or r"(?!)").match
