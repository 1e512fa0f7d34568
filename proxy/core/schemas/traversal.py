"""Ways through a schema, for all who change one or look into it.

Whoever calls has bounded the nesting (`schema.MAX_NESTING`), so that recursion is safe here.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from urllib.parse import unquote

from proxy.core.masking.redact import shown

Schema = dict[str, Any]
Change = Callable[[Schema], Schema]
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
"""The places where a boolean is the usual form and understood everywhere."""
ANYTHING: Schema = {}
NEVER: Schema = {"not": {}}
"""What `true` and `false` are where a schema has to be an object."""
_INDEX = re.compile(r"0|[1-9][0-9]{0,3}")
"""A step into a list. No schema that is read has longer ones with schemas in them."""
UNIONS = ("anyOf", "oneOf")
COMBINATORS = ("anyOf", "oneOf", "allOf")


def each_inside(schema: Schema, visit: Change, never: Schema = ANYTHING) -> Schema:
    """The schema with every direct subschema replaced by what `visit` makes of it; `never` stands for `false`."""
    changed = {}
    for keyword, value in schema.items():
        if keyword in _ONE_SCHEMA and not (keyword in _SWITCHES and isinstance(value, bool)):
            value = _inside(value, visit, never)
        elif keyword in _LISTED_SCHEMAS and isinstance(value, list):
            value = [_inside(child, visit, never) for child in value]
        elif keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            value = {name: _inside(child, visit, never) for name, child in value.items()}
        changed[keyword] = value
    return changed


def each_inside_at(schema: Schema, path: Path, visit: Callable[[Schema, Path], Schema]) -> Schema:
    """The same for who needs to know where; booleans stay as they are."""
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


def _inside(child: Any, visit: Change, never: Schema) -> Any:
    if isinstance(child, bool):
        return dict(ANYTHING if child else never)
    return visit(child) if isinstance(child, dict) else child


def everywhere(schema: Schema, change: Change) -> Schema:
    """`change` applied to the schema and then, from the outside in, to all that is inside what came of it."""
    return each_inside(change(schema), partial(everywhere, change=change))


def spelled_out(schema: Schema) -> Schema:
    """The same, with `false` said in an object, so that it is not loosened with the rest."""
    return each_inside(schema, spelled_out, NEVER)


def path_text(path: Path) -> str:
    """The way to a place inside, as people write it behind the place where it begins."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{shown(step)}" for step in path)


def as_sent(sent: Schema, path: Path) -> Path:
    """Where in a client's own schema something stands whose place is known in what was made of it: as far as it has
    such a place, for references were followed, and older words replaced."""
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
    """The schema and every schema inside it, each with the way to it."""
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
    """The schema without those inside it."""
    return {keyword: value for keyword, value in schema.items() if keyword not in _WITH_SCHEMAS}


def extent(schema: Schema) -> int:
    """What there is to loop over in a schema, without those inside it."""
    return sum(len(value) for value in schema.values() if isinstance(value, list | dict)) + len(schema)


def without(schema: Schema, *keywords: str) -> Schema:
    return {keyword: value for keyword, value in schema.items() if keyword not in keywords}


def target_of(root: Schema, reference: Any) -> Schema | None:
    """What a local reference points at, as a path; names (`#anchor`) go unread."""
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
