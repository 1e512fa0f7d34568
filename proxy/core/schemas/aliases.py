"""Aliases for names of properties that a provider refuses.

OData's `$filter`, JSON-LD's `@type` and names in other scripts are valid names of properties. Each of them gets an
alias of its own, which depends on nothing but the name, since backends cache a prompt by its beginning. The names are
put back into the text itself: arguments keep their order, numbers and spaces, whether they are whole or not.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import blake2s
from typing import Any

from proxy.core import jsontext
from proxy.core.schemas.combinations import is_plain
from proxy.core.schemas.traversal import Schema, everywhere, subschemas

STEM = 40
"""Characters of the name that the alias keeps, for readers."""
HASH_BYTES = 4

JUDGE_NAMES = frozenset({"patternProperties", "propertyNames"})
"""These keywords judge the names themselves, so an alias would change what they mean."""

_STRING = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z))(\s*:)?', re.DOTALL)
"""Matches a string, perhaps cut short, and the colon that makes it a key."""
_FOREIGN = re.compile(r"[^A-Za-z0-9]+")


def aliased(schema: Schema) -> tuple[Schema, dict[str, str]]:
    """Returns the schema with aliases, and the names that they stand for."""
    names: dict[str, None] = {}
    judged: set[str] = set()
    for _, here in subschemas(schema):
        names |= dict.fromkeys(here.get("properties", {}))
        if JUDGE_NAMES & here.keys():
            judged |= here.get("properties", {}).keys()
    aliases: dict[str, str] = {}
    taken = set(names)
    for name in names:
        if not is_plain(name) and name not in judged:
            aliases[name] = next(alias for alias in _candidates(name) if alias not in taken)
            taken.add(aliases[name])
    if not aliases:
        return schema, {}
    return everywhere(schema, partial(_renamed, aliases)), {alias: name for name, alias in aliases.items()}


def _candidates(name: str) -> Iterator[str]:
    stem = _FOREIGN.sub("_", name).strip("_")[:STEM] or "property"
    text = name
    while True:
        digest = blake2s(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES)
        yield f"{stem}_{digest.hexdigest()}"
        text += name or "_"


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Replaces keys in JSON, and leaves everything else as it was."""

    def key(found: re.Match[str]) -> str:
        if found[2] is None:
            return found[0]
        try:
            name = names.get(jsontext.loads(found[1]))
        except jsontext.BadJson:
            return found[0]
        return found[0] if name is None else jsontext.string(name).decode() + found[2]

    return _STRING.sub(key, text)


# ── one schema ─────────────────────────────────────────────────────────────────────────────────────────────────


def _renamed(aliases: Mapping[str, str], schema: Schema) -> Schema:
    return {
        keyword: _KEYWORDS[keyword](value, aliases) if keyword in _KEYWORDS else value
        for keyword, value in schema.items()
    }


def _properties(properties: Schema, aliases: Mapping[str, str]) -> Schema:
    return {
        aliases.get(name, name): _with_real_name(name, inner) if name in aliases else inner
        for name, inner in properties.items()
    }


def _with_real_name(name: str, schema: Schema) -> Schema:
    """Tells the model the real name of the property."""
    before = schema.get("description")
    return schema | {"description": f"`{name}`: {before}" if before else f"`{name}`"}


def _keys(by_name: Mapping[str, Any], aliases: Mapping[str, str]) -> Schema:
    return {
        aliases.get(name, name): _listed(inner, aliases) if isinstance(inner, list) else inner
        for name, inner in by_name.items()
    }


def _listed(names: list[str], aliases: Mapping[str, str]) -> list[str]:
    return [aliases.get(name, name) for name in names]


def _value(value: Any, aliases: Mapping[str, str]) -> Any:
    return jsontext.loads(renamed(jsontext.compact(value), aliases))


_KEYWORDS: Mapping[str, Callable[[Any, Mapping[str, str]], Any]] = {
    "properties": _properties,
    "required": _listed,
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "dependencies"), _keys),
    **dict.fromkeys(("const", "default", "enum", "example", "examples"), _value),
}
