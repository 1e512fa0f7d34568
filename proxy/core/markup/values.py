"""Turns text values into what the tool's JSON Schema says they are.

The formats made of tags write every value as text, so only the schema says whether `5` is a number or a string. It
decides in a fixed order of types. A text that fits none of them stays as the model wrote it.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from enum import Enum
from itertools import product
from typing import Any, Final, NamedTuple

from proxy.core import jsontext
from proxy.core.jsontext import BadJson
from proxy.core.markup import jsonish

Schema = Mapping[str, Any]

_LONGEST_NUMBER: Final = 400
"""Digits. No tool wants a longer number, and Python refuses to read some of them."""


class Unknown(Enum):
    """How to read a value that the schema says nothing about."""

    TEXT = "it stays text"
    JSON = "it is what it is as JSON, and text if it is none"


class Pair(NamedTuple):
    key: str
    raw: str
    unknown: Unknown = Unknown.TEXT


_HOLDERS: Final = frozenset(("arguments", "args", "input", "parameters", "properties"))
"""Keys that may hold all the arguments, when the tool has no such parameter and the call has no other."""
_ORDER: Final = ("null", "integer", "number", "boolean", "object", "array", "string")
_SYNONYMS: Final = {
    **dict.fromkeys(("int", "int32", "int64", "long"), "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("dict", "map"), "object"),
    **dict.fromkeys(("list", "tuple"), "array"),
    **dict.fromkeys(("str", "text"), "string"),
}
"""Names of types that JSON Schema does not have, but that schemas declare nevertheless."""

_UNFIT: Final = object()

_TYPE_OF: Final = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (dict, "object"),
    (list, "array"),
    (type(None), "null"),
)
_INTEGER: Final = re.compile(r"[+-]?\d+")
_NUMBER: Final = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d+)?")
_ESCAPED_JSON: Final = re.compile(r"\s*+[\[{](?:\\[nt]|[\s\[{])*+\\\"")


def properties(schema: Schema) -> Schema:
    """Returns what is declared about each key, in the schema itself or in what it is composed of."""
    known: dict[str, Any] = {}
    for part in _parts(schema, schema):
        found = part.get("properties")
        for key, declared in found.items() if isinstance(found, Mapping) else ():
            known[key] = {"anyOf": [known[key], declared]} if key in known else declared
    return known


def required(schema: Schema) -> list[Any]:
    found = schema.get("required")
    return found if isinstance(found, list) else []


def fit(keys: set[str], schema: Schema) -> bool:
    """Could these be the keys of a call: only keys of the tool, and all that it requires?"""
    return keys.issubset(properties(schema)) and keys.issuperset(required(schema))


def arguments(pairs: Sequence[Pair], schema: Schema, *, holds: bool = False) -> str | None:
    """Returns the JSON object of these texts. The last wins of a key that comes twice. None if it cannot be written.

    `holds`: may a key hold all the arguments where it is not known which the tool has?"""
    match pairs:
        case [Pair(key, raw)] if (inner := held_by(key, raw, schema, holds=holds)) is not None:
            return written(inner)
    known = properties(schema)
    return written({pair.key: convert(pair.raw, known.get(pair.key), schema, pair.unknown) for pair in pairs})


def held_by(key: str, raw: str, schema: Schema, *, holds: bool = False) -> dict[str, Any] | None:
    """Returns all the arguments, if this key, the only one of a call, holds them."""
    inner = held(raw) if key in _HOLDERS else None
    return inner if inner is not None and is_holder(key, inner.keys(), schema, holds=holds) else None


def is_holder(key: str, inner: Set[str], schema: Schema, *, holds: bool = False) -> bool:
    """Does this key, the only one of a call, hold all the arguments, if those are called so?"""
    known = properties(schema).keys()
    return key in _HOLDERS and key not in known and (inner <= known if known else holds)


def held(raw: str) -> dict[str, Any] | None:
    """Returns the object that the text is, as JSON, as Python writes it, or in a JSON string. None if it is none."""
    value: Any = _container(dict, raw)
    if value is _UNFIT and isinstance(text := _as_json(raw, None), str):
        value = _container(dict, text)
    return None if value is _UNFIT else value


def written(value: Mapping[str, Any]) -> str | None:
    try:
        return jsontext.compact(value)
    except BadJson:
        return None


def convert(raw: str, declared: Any, root: Schema, unknown: Unknown = Unknown.TEXT) -> Any:
    """Reads `raw` by the schema `declared`, which may refer into `root`."""
    types = admitted(declared, root)
    if not types:
        return raw if unknown is Unknown.TEXT else meant(raw)
    for name in _ORDER:
        if name in types and (value := _READ[name](raw)) is not _UNFIT:
            return value
    return raw if types.issubset(_ORDER) else meant(raw)


def admitted(declared: Any, root: Schema) -> set[str]:
    """Returns every type that the schema admits, wherever in it that stands."""
    return {name for part in _parts(declared, root) for name in _named(part)}


def _parts(declared: Any, root: Schema) -> Iterator[Schema]:
    """Yields the schema and all that it is composed of. References are looked up in `root`."""
    waiting, seen = [declared], set()
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, Mapping) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        for keyword in ("anyOf", "oneOf", "allOf"):
            if isinstance(branches := schema.get(keyword), list):
                waiting += branches
        if isinstance(reference := schema.get("$ref"), str):
            waiting.append(_referred(reference, root))


def _named(schema: Schema) -> set[str]:
    """Returns the types that this one schema names, or that its keywords imply."""
    words = schema.get("type")
    names = {str(name).lower() for name in (words if isinstance(words, list) else [words] if words else [])}
    types = {_SYNONYMS.get(name, name) for name in names}
    if types:
        return types
    values = schema.get("enum")
    for value in [
        *(values if isinstance(values, list) else []),
        *([schema["const"]] if "const" in schema else []),
    ]:
        types.add(next(name for kind, name in _TYPE_OF if isinstance(value, kind)))
    if "properties" in schema:
        types.add("object")
    if "items" in schema:
        types.add("array")
    return types


def _referred(reference: str, root: Schema) -> Any:
    found: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        if not isinstance(found, Mapping):
            return None
        found = found.get(step.replace("~1", "/").replace("~0", "~"))
    return found


def meant(raw: str) -> Any:
    """Returns what whoever reads JSON understands: the value, or the text where it is none."""
    return _as_json(raw, raw)


def _as_json(raw: str, otherwise: Any) -> Any:
    try:
        return jsontext.loads(raw)
    except BadJson:
        return otherwise


def _null(raw: str) -> Any:
    word = raw.strip()
    return None if word.lower() == "null" or word == "None" else _UNFIT


def _integer(raw: str) -> Any:
    text = raw.strip()
    return int(text) if len(text) < _LONGEST_NUMBER and _INTEGER.fullmatch(text) else _UNFIT


def _number(raw: str) -> Any:
    if (whole := _integer(raw)) is not _UNFIT:
        return whole
    text = raw.strip()
    if len(text) >= _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return _UNFIT
    value = float(text)
    return value if math.isfinite(value) else _UNFIT


def _boolean(raw: str) -> Any:
    return {"true": True, "1": True, "false": False, "0": False}.get(raw.strip().lower(), _UNFIT)


def _container(kind: type, raw: str) -> Any:
    """Reads JSON, or the Python literal that some models write instead, or JSON that was escaped once too often."""
    if raw.lstrip()[:1] not in ("{", "[", "("):
        return _UNFIT
    texts = (raw, _unescaped(raw)) if _ESCAPED_JSON.match(raw) else (raw,)
    for text, how in product(texts, (jsonish.JSON, jsonish.PYTHON)):
        try:
            value = jsonish.parse(text, how)
        except BadJson:
            continue
        return value if isinstance(value, kind) else _UNFIT
    return _UNFIT


def _unescaped(raw: str) -> str:
    return str(_as_json(f'"{raw}"', raw))


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "null": _null,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "object": lambda raw: _container(dict, raw),
    "array": lambda raw: _container(list, raw),
    "string": lambda raw: raw,
}
