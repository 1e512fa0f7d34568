"""How to go through a schema, for all modules that change or read one.

The caller has bounded the nesting (`validity.MAX_NESTING`), so recursion is safe here.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from urllib.parse import unquote

from proxy.core.masking.redact import shown

Schema = dict[str, Any]
SchemaChange = Callable[[Schema], Schema]
Path = tuple[str | int, ...]

TYPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})

_ONE_SCHEMA = frozenset(
    {
        "items",
        "additionalItems",
        "contains",
        "additionalProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "contentSchema",
    }
)
_LISTED_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED_SCHEMAS = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"}
)
_WITH_SCHEMAS = _ONE_SCHEMA | _LISTED_SCHEMAS | _NAMED_SCHEMAS
_SWITCHES = frozenset({"additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
"""The places where a boolean is the usual form, and every backend understands it."""
ANYTHING: Schema = {}
FALSE: Schema = {"not": {}}
"""What `true` and `false` become where a schema has to be an object."""
_INDEX = re.compile(r"0|[1-9][0-9]{0,3}")
"""Matches a step into a list. No list of schemas that is read is longer."""
UNIONS = ("anyOf", "oneOf")
COMBINATORS = ("anyOf", "oneOf", "allOf")


def each_inside(schema: Schema, visit: SchemaChange, false: Schema = ANYTHING) -> Schema:
    """Replaces every direct subschema by what `visit` makes of it. `false` replaces a subschema that is `false`."""
    changed = {}
    for keyword, value in schema.items():
        if keyword in _ONE_SCHEMA and not (keyword in _SWITCHES and isinstance(value, bool)):
            value = _inside(value, visit, false)
        elif keyword in _LISTED_SCHEMAS and isinstance(value, list):
            value = [_inside(child, visit, false) for child in value]
        elif keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            value = {name: _inside(child, visit, false) for name, child in value.items()}
        changed[keyword] = value
    return changed


def each_inside_at(schema: Schema, path: Path, visit: Callable[[Schema, Path], Schema]) -> Schema:
    """Replaces every direct subschema, and passes `visit` its path. Booleans stay as they are."""
    changed = dict(schema)
    for keyword, value in schema.items():
        if keyword in _ONE_SCHEMA and isinstance(value, dict):
            changed[keyword] = visit(value, (*path, keyword))
        elif keyword in _LISTED_SCHEMAS:
            changed[keyword] = [visit(child, (*path, keyword, index)) for index, child in enumerate(value)]
        elif keyword in _NAMED_SCHEMAS:
            changed[keyword] = {
                name: visit(child, (*path, keyword, name)) if isinstance(child, dict) else child
                for name, child in value.items()
            }
    return changed


def _inside(child: Any, visit: SchemaChange, false: Schema) -> Any:
    if isinstance(child, bool):
        return dict(ANYTHING if child else false)
    return visit(child) if isinstance(child, dict) else child


def everywhere(schema: Schema, change: SchemaChange) -> Schema:
    """Applies `change` to the schema and then, from the outside in, to all schemas inside the result."""
    return each_inside(change(schema), partial(everywhere, change=change))


def spelled_out(schema: Schema) -> Schema:
    """Writes `false` as an object, so that loosening does not loosen it."""
    return each_inside(schema, spelled_out, FALSE)


def path_text(path: Path) -> str:
    """Writes the path as people do: `.properties.x`, without the place where it begins."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{shown(step)}" for step in path)


def as_sent(sent: Schema, path: Path) -> Path:
    """Finds in a client's own schema what stands at `path` in a schema made of it. The path ends early where
    references were followed or older words replaced."""
    here: Any = sent
    known: list[str | int] = []
    for step in path:
        if step == "prefixItems" and isinstance(here, dict) and step not in here:
            step = "items"
        try:
            here = here[step]
        except (LookupError, TypeError):
            break
        known.append(step)
    return tuple(known)


def subschemas(schema: Schema) -> Iterator[tuple[Path, Schema]]:
    """Yields the schema and every schema inside it, each with its path."""
    open_ones: list[tuple[Path, Schema]] = [((), schema)]
    for path, here in open_ones:
        yield path, here
        for keyword, value in here.items():
            inside: Iterable[tuple[Path, Any]] = ()
            if keyword in _ONE_SCHEMA:
                inside = [((keyword,), value)]
            elif keyword in _LISTED_SCHEMAS and isinstance(value, list):
                inside = [((keyword, index), child) for index, child in enumerate(value)]
            elif keyword in _NAMED_SCHEMAS and isinstance(value, dict):
                inside = [((keyword, name), child) for name, child in value.items()]
            open_ones += [(path + steps, child) for steps, child in inside if isinstance(child, dict)]


def own_part(schema: Schema) -> Schema:
    """Returns the schema without those inside it."""
    return {keyword: value for keyword, value in schema.items() if keyword not in _WITH_SCHEMAS}


def extent(schema: Schema) -> int:
    """Counts what there is to loop over in a schema, without those inside it."""
    return sum(len(value) for value in schema.values() if isinstance(value, list | dict)) + len(schema)


def without(schema: Schema, *keywords: str) -> Schema:
    return {keyword: value for keyword, value in schema.items() if keyword not in keywords}


def target_of(root: Schema, reference: Any) -> Schema | None:
    """Finds the target of a local reference that is a path. Names (`#anchor`) go unread."""
    here: Any = root
    start, *steps = unquote(str(reference)).split("/")
    if start != "#":
        return None
    for step in steps:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(here, list) and _INDEX.fullmatch(step) and int(step) < len(here):
            here = here[int(step)]  # generators point at what they wrote first, in whichever branch that was
        elif isinstance(here, dict) and step in here:
            here = here[step]
        else:
            return None
    return here if isinstance(here, dict) else None
