"""A schema in the words that a provider reads, without a silent change of its meaning.

A step writes a keyword in other words where it can. A keyword that only narrows a value moves into the description of
its node ("Constraint: …") and is reported. A keyword that decides which schema applies is rejected. The table goes
through the nodes from the outside in: each step makes one schema into another and records in its `Node` what it could
not carry over.
"""

from collections.abc import Callable, Iterable
from typing import Any

from proxy.core.jsontext import compact
from proxy.core.schemas import combinations, loosening, values
from proxy.core.schemas.aliases import aliased
from proxy.core.schemas.losses import Losses, Node, Rewritten
from proxy.core.schemas.references import inlined
from proxy.core.schemas.subsets import PROVIDERS, Subset
from proxy.core.schemas.traversal import Path, Schema, each_inside_at, extent, spelled_out, subschemas
from proxy.core.work import Work

MAX_DESCRIBED = 2_000
"""Characters of one constraint: enough for a list of some hundred values. No model reads more."""

PASSING, REWRITING, LOOKING_BACK = 15, 15, 3
"""The prices of a schema that is walked a few times, of one that goes through all steps, and of the search for
references back to it."""

Step = Callable[[Schema, Node], Schema]


def rewritten(schema: Schema, provider: str, work: Work, *, of_tool: bool) -> Rewritten:
    row = PROVIDERS[provider]
    subset = row.tools if of_tool else row.answers
    losses = Losses(work)
    for path, here in subschemas(schema):
        work.spend(PASSING + len(here))
        if not str(here.get("$ref", "#")).startswith("#"):
            losses.reject("$ref", path)
    whole = inlined(loosening.plain(spelled_out(schema)), losses, recursion=subset.recursion)
    if of_tool:
        whole = loosening.as_object(whole)
    whole, names = aliased(whole) if subset.plain_names else (whole, {})
    return losses.of(_node(whole, (), subset, losses), names)


def _node(schema: Schema, path: Path, subset: Subset, losses: Losses) -> Schema:
    node = Node(subset, losses, path)
    losses.work.spend(REWRITING + 2 * extent(schema))
    for step in _steps(node):
        schema = step(schema, node)
    schema = each_inside_at(schema, path, lambda child, there: _node(child, there, subset, losses))
    if subset.recursion:
        schema = _optional_recursion(schema, node)
    return _described(schema, node)


def _steps(node: Node) -> Iterable[Step]:
    if node.subset.keywords is not None:
        return _EVERY_STEP
    return _STEPS_AT_A_ROOT if node.is_root else _FEWEST_STEPS


def _described(schema: Schema, node: Node) -> Schema:
    if not node.described:
        return schema
    constraints = ", ".join(
        f"{keyword} {_short(node.described[keyword], node.work)}" for keyword in sorted(node.described)
    )
    constraint = f"Constraint: {constraints}"
    before = schema.get("description")
    return schema | {"description": f"{before}\n{constraint}" if before else constraint}


def _short(value: Any, work: Work) -> str:
    text = compact(value)
    work.spend(len(text) // loosening.BYTES_PER_UNIT)
    return text if len(text) <= MAX_DESCRIBED else f"{text[:MAX_DESCRIBED]}…"


# ── recursion ──────────────────────────────────────────────────────────────────────────────────────────────────


def _optional_recursion(schema: Schema, node: Node) -> Schema:
    """Makes properties optional that lead back to where they stand, since they may not be required."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    back = [name for name in required if _leads_back(properties.get(name, {}), node.work)]
    if not back:
        return schema
    node.describe("required", back)
    return schema | {"required": [name for name in required if name not in back]}


def _leads_back(schema: Schema, work: Work) -> bool:
    """Is there a reference that no optional property hides?"""
    work.spend(LOOKING_BACK + extent(schema))
    if "$ref" in schema:
        return True
    required = set(schema.get("required", ()))
    inside = [
        *(inner for name, inner in schema.get("properties", {}).items() if name in required),
        *(
            schema[keyword]
            for keyword in ("items", "additionalProperties")
            if isinstance(schema.get(keyword), dict)
        ),
        *schema.get("prefixItems", ()),
        *schema.get("anyOf", ()),
    ]
    return any(_leads_back(each, work) for each in inside)


# ── the steps ──────────────────────────────────────────────────────────────────────────────────────────────────

_FEWEST_STEPS: tuple[Step, ...] = (combinations.impossible, combinations.plain_names)
_STEPS_AT_A_ROOT: tuple[Step, ...] = (
    combinations.impossible,
    combinations.without_all_of,
    combinations.without_lonely_branches,
    combinations.requirements_described,
    combinations.no_union_at_the_root,
    combinations.plain_names,
)
_EVERY_STEP: tuple[Step, ...] = (
    combinations.impossible,
    combinations.without_all_of,
    combinations.nothing_as_flag,
    combinations.without_lonely_branches,
    combinations.requirements_described,
    combinations.one_of_as_any_of,
    values.dependencies,
    values.const_as_enum,
    values.one_type,
    values.readable_values,
    values.inclusive,
    values.tuples,
    values.by_pattern,
    values.known_required,
    values.closed,
    values.described_or_rejected,
    values.with_items,
)
"""The steps in their order: a step may rely on what those before it have done."""
