"""May this tenant ask with these tools? Limits on what is declared (P06), and a list of what may be (P07).

Each rule is a row: what of a tool is measured, against which limit, and the words of the complaint. A request that
breaks a rule is refused, or goes on with a warning. The client reads only the first few warnings; the log line has the
count.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from proxy.core import jsontext
from proxy.core.caches.consequences import found_of
from proxy.core.caches.remembered import Remembered
from proxy.core.errors import ClientFault, Forbidden
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quoted
from proxy.core.model import UNNAMED, Request, ToolSpec
from proxy.core.tenants import Mode, Tenant, ToolLimits, or_raise
from proxy.core.work import Work

MAX_WARNINGS = 3
"""Warnings of one kind that a client reads; an agent's hundred tools may break the same rule a hundred times."""
MEASURING = 4
"""The price of each value in a schema."""

DEEPER = frozenset(
    {"items", "prefixItems", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"}
)
"""The keywords whose schemas describe what is inside the value. All others speak of the value itself."""
BY_NAME = {"properties": 1, "patternProperties": 1, "dependentSchemas": 0, "$defs": 0, "definitions": 0}
"""Keywords that hold schemas under names that the author chose, and how much deeper these schemas are."""
EXAMPLES = frozenset({"default", "const", "enum", "examples", "example"})
"""Keywords that hold values, in which nothing is a schema."""

_Count = Literal["over_limits", "strict_in_parallel", "tools_not_allowed"]
"""The facts of the log line that count broken rules."""


class _Breach(NamedTuple):
    """One request breaks one rule."""

    complaint: str
    advice: str
    """Only a client that is refused needs it."""
    param: str
    code: str
    kind: type[ClientFault] = ClientFault

    def fault(self) -> ClientFault:
        return self.kind(f"{self.complaint}. {self.advice}", param=self.param, code=self.code)


def admit(request: Request, tenant: Tenant, *, strict: bool, ledger: Ledger) -> None:
    """Raises the ClientFault for the first broken rule that is enforced. `strict`: does the surface enforce rules by
    itself?"""
    if request.hosted is not None and tenant.tool_allowlist is not None:
        refused = _hosted_not_allowed(request.hosted.tools, tenant.tool_allowlist)
        _judge(refused, tenant.tool_allowlist_mode, ledger, "tools_not_allowed")
    if not request.tools:
        return
    mode = tenant.mode(strict=strict)
    if mode is not Mode.OFF:
        _judge(_over_limits(request.tools, tenant.limits, ledger.work), mode, ledger, "over_limits")
    if request.strict_alone:
        _strict_tools_alone(request, mode, ledger)
    if tenant.tool_allowlist is not None:
        refused = _not_allowed(request.tools, tenant.tool_allowlist)
        _judge(refused, tenant.tool_allowlist_mode, ledger, "tools_not_allowed")


def _judge(breaches: Iterable[_Breach], mode: Mode, ledger: Ledger, fact: _Count) -> None:
    if mode is Mode.OFF:
        return
    count = 0
    for count, breach in enumerate(breaches, start=1):
        if mode is Mode.ENFORCE:
            raise breach.fault()
        if count <= MAX_WARNINGS:
            ledger.warn(f"{breach.complaint}.")
    if count:
        ledger.facts[fact] = count
    if count > MAX_WARNINGS:
        ledger.warn(f"And {count - MAX_WARNINGS} more like it.")


def _strict_tools_alone(request: Request, mode: Mode, ledger: Ledger) -> None:
    """C03: where limits are enforced, a request for parallel calls is refused beside a strict tool, and without a wish
    the calls are not parallel. Elsewhere the backend gets what the client said or left out, because frameworks declare
    both by default."""
    if request.parallel_wanted:
        _judge([IN_PARALLEL], mode, ledger, "strict_in_parallel")
    elif mode is Mode.ENFORCE:
        request.parallel_calls = False


IN_PARALLEL = _Breach(
    "parallel_tool_calls is true beside a strict tool, whose calls in parallel may break its schema",
    "Set it to false, or leave it out.",
    "parallel_tool_calls",
    "invalid_value",
)


# ── limits ──


@dataclass(slots=True, frozen=True)
class _Rule:
    field: str
    limit: str
    breaks: Callable[[ToolSpec, int, Work], bool]
    complaint: str
    advice: str


def _long_description(spec: ToolSpec, limit: int, work: Work) -> bool:
    return spec.description is not None and len(spec.description) > limit


def _deep_schema(spec: ToolSpec, limit: int, work: Work) -> bool:
    work.on = f"{spec.path}.parameters"
    return spec.parameters is not None and depth(spec.parameters, work, spec.written) > limit


RULES = (
    _Rule(
        "description",
        "description_characters",
        _long_description,
        "is longer than {limit} characters",
        "Shorten it",
    ),
    _Rule(
        "parameters",
        "schema_depth",
        _deep_schema,
        "describe more than {limit} levels of objects and lists inside one another",
        "Flatten them",
    ),
)


def _over_limits(tools: list[ToolSpec], limits: ToolLimits, work: Work) -> Sequence[_Breach]:
    return found_of(tools, limits, lambda: tuple(_breaches(tools, limits, work)))


def _breaches(tools: list[ToolSpec], limits: ToolLimits, work: Work) -> Iterator[_Breach]:
    if len(tools) > limits.tools:
        path = tools[0].path.rpartition("[")[0]
        yield _Breach(
            f"{path} declares {len(tools)} tools, more than {limits.tools}",
            f"Send fewer{or_raise('tools', limits.tools)}",
            path,
            "array_above_max_length",
        )
    for rule in RULES:
        limit, breaks = getattr(limits, rule.limit), rule.breaks
        for spec in tools:
            if breaks(spec, limit, work):
                path = f"{spec.path}.{rule.field}"
                yield _Breach(
                    f"{path} of the tool {quoted(spec.tool.dotted)} {rule.complaint.format(limit=limit)}",
                    f"{rule.advice}{or_raise(rule.limit, limit)}",
                    path,
                    "tool_limit_exceeded",
                )


def depth(schema: Mapping[str, Any], work: Work, written: bytes | None = None) -> int:
    """Counts the levels of objects and lists inside one another that a schema describes without its references.

    The result is remembered by the schema's bytes, because the same tools come with every request of an agent. A schema
    that is nested too deeply to be written was refused before, by the check of schemas. `written`: the schema as JSON,
    if it has been written.
    """
    data = written or jsontext.dumps(schema)
    return _DEPTHS.of((data, None), lambda: (_depth(data, work), 0))


_DEPTHS: Remembered[int] = Remembered()


def _depth(data: bytes, work: Work) -> int:
    work.spend(MEASURING * (data.count(b",") + data.count(b":")))
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


def _not_allowed(tools: list[ToolSpec], allowlist: tuple[str, ...]) -> Iterator[_Breach]:
    allowed = _matcher(allowlist)
    for spec in tools:
        if not (allowed(spec.tool.dotted) or allowed(spec.tool.name)):
            path = f"{spec.path}.{'type' if spec.kind in UNNAMED else 'name'}"
            yield _Breach(
                f"{path}: {quoted(spec.tool.dotted)} is not among the tools that this key may use",
                "Leave it out, or have it added to the list.",
                path,
                "tool_not_allowed",
                Forbidden,
            )


def _hosted_not_allowed(tools: list[dict[str, Any]], allowlist: tuple[str, ...]) -> Iterator[_Breach]:
    """A tool of the backend's own is listed by its type, a server of tools by its label too."""
    allowed = _matcher(allowlist)
    for tool in tools:
        name = str(tool["type"])
        label = tool.get("server_label")
        if not (allowed(name) or (isinstance(label, str) and allowed(f"{name}.{label}"))):
            yield _Breach(
                f"tools: {quoted(name)} is not among the tools that this key may use",
                "Leave it out, or have it added to the list.",
                "tools",
                "tool_not_allowed",
                Forbidden,
            )


@lru_cache(maxsize=256)
def _matcher(allowlist: tuple[str, ...]) -> Callable[[str], Any]:
    """Makes one pattern of the whole list. The pattern of an empty list matches nothing."""
    return re.compile("|".join(map(translate, allowlist)) or r"(?!)").match
