"""What a schema must be like for a tool to be strict: for the client that asks for it, and for Anthropic.

The two differ. `check` holds clients to what OpenAI demands of a strict tool, so that a tool that is strict here is
strict everywhere. `qualifies` asks whether Anthropic can make a grammar of a schema at all; where it cannot, the
encoder drops the wish and keeps the tool.
"""

from collections.abc import Iterator
from typing import NamedTuple

from proxy.core.errors import ClientFault
from proxy.core.masking.redact import shown
from proxy.core.schemas.traversal import Path, Schema, each_inside, path_text, subschemas, target_of, without
from proxy.core.schemas.validity import BAD_PARAMETERS

MAX_PROPERTIES = 100
MAX_LEVELS = 5
"""Objects inside one another. The parameters themselves are the first."""

MAX_FOLLOWED = 200
"""Steps into a schema and its references. A hostile schema has more of them than Python's stack has frames."""

GRAMMAR_KEYWORDS = frozenset(
    {
        "type",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "$defs",
        "$ref",
        "format",
        "items",
        "minItems",
        "properties",
        "required",
        "additionalProperties",
        "title",
        "description",
        "default",
    }
)
GRAMMAR_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)
GRAMMAR_MIN_ITEMS = 1
MAX_OPTIONAL = 24
"""Optional properties of all strict tools of a request together. One tool that has more is never accepted."""
MAX_UNIONS = 16


class StrictnessProblem(NamedTuple):
    where: str
    """The way to the problem, such as `.properties.x`."""
    what: str


def check(parameters: Schema | None, param: str) -> None:
    """C03. Raises ClientFault, naming the place below `param`, unless a strict tool can have these parameters."""
    if found := first_problem(parameters):
        raise ClientFault(
            f"{param}{found.where} {found.what}: mend it, or leave strict out.",
            param=param + found.where,
            code=BAD_PARAMETERS,
        )


def first_problem(parameters: Schema | None) -> StrictnessProblem | None:
    """Finds the outermost thing that keeps the parameters from being strict."""
    properties = 0
    for path, here in subschemas(parameters or {"type": "object"}):
        if not _is_object(here):
            continue
        if here.get("additionalProperties") is not False:
            return StrictnessProblem(
                f"{path_text(path)}.additionalProperties", "must be false in a strict tool"
            )
        names = here.get("properties") or {}
        required = set(here.get("required") or ())
        if missing := [name for name in names if name not in required]:
            return StrictnessProblem(
                f"{path_text(path)}.required",
                f"must name '{shown(missing[0])}': a strict tool requires all its properties",
            )
        properties += len(names)
        if properties > MAX_PROPERTIES:
            return StrictnessProblem(
                "", f"has more than {MAX_PROPERTIES} properties, which a strict tool may not"
            )
        if _level(path) > MAX_LEVELS:
            return StrictnessProblem(
                path_text(path), f"lies deeper than the {MAX_LEVELS} levels that a strict tool may have"
            )
    if _levels(parameters or {}) > MAX_LEVELS:
        return StrictnessProblem(
            "", f"has more than {MAX_LEVELS} levels with its references followed, which a strict tool may not"
        )
    return None


def _levels(root: Schema) -> int:
    """Counts objects inside one another, wherever they are written. A schema that leads back to itself has no end,
    and is allowed."""
    known: dict[int, int] = {}

    def levels(here: Schema, depth: int) -> int:
        if depth > MAX_FOLLOWED:
            return 0
        if id(here) in known:
            return known[id(here)]
        known[id(here)] = 0
        inside: list[Schema] = []

        def visit(child: Schema) -> Schema:
            inside.append(child)
            return child

        each_inside(without(here, "$defs", "definitions"), visit)
        if "$ref" in here and (target := target_of(root, here["$ref"])):
            inside.append(target)
        deepest = max((levels(child, depth + 1) for child in inside), default=0)
        known[id(here)] = deepest + _is_object(here)
        return known[id(here)]

    return levels(root, 0)


def qualifies(parameters: Schema) -> bool:
    """Can Anthropic compile these parameters into a grammar?"""
    optional = unions = 0
    for _, here in subschemas(parameters):
        if not _compiles(here):
            return False
        unions += is_union(here)
        optional += optional_properties(here)
    return optional <= MAX_OPTIONAL and unions <= MAX_UNIONS


def is_union(schema: Schema) -> bool:
    return "anyOf" in schema or isinstance(schema.get("type"), list)


def optional_properties(schema: Schema) -> int:
    return len(schema.get("properties", {}).keys() - set(schema.get("required", ())))


def _compiles(schema: Schema) -> bool:
    return (
        schema.keys() <= GRAMMAR_KEYWORDS
        and not ("$ref" in schema or (_is_object(schema) and schema.get("additionalProperties") is not False))
        and schema.get("format", "date") in GRAMMAR_FORMATS
        and schema.get("minItems", 0) <= GRAMMAR_MIN_ITEMS
        and not any(isinstance(value, dict | list) for value in _listed(schema))
    )


def _listed(schema: Schema) -> Iterator[object]:
    yield from schema.get("enum", ())
    yield schema.get("const")


def _is_object(schema: Schema) -> bool:
    types = schema.get("type")
    return types == "object" or (isinstance(types, list) and "object" in types) or "properties" in schema


def _level(path: Path) -> int:
    """Counts the objects around a place, itself included. A definition is counted from where it is written."""
    names_follow = [index for index, step in enumerate(path) if step == "properties"]
    count, taken = 1, -1
    for index in names_follow:
        if index != taken:  # a property may itself be named "properties"
            count, taken = count + 1, index + 1
    return count
