"""Is it a JSON Schema, and what of it can a backend read?

Both answers are remembered by the schema's bytes: the same twenty tools come with every request of an agent, and
checking one takes a thousand times longer than recognising it. Whatever is not known is paid for by the request.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # ships no types

from proxy.core import jsontext
from proxy.core.caches.remembered import OBJECTS_PER_BYTE, Remembered
from proxy.core.errors import ClientFault, Incompatible
from proxy.core.schemas import loosening, metaschema, rewriting, traversal
from proxy.core.schemas.losses import Rewritten
from proxy.core.schemas.metaschema import BAD_PARAMETERS, BAD_SCHEMA
from proxy.core.schemas.subsets import PROVIDERS
from proxy.core.schemas.traversal import Schema
from proxy.core.work import Work

MAX_NESTING = 64
"""Lists and objects inside one another; what walks schemas here takes some frames of Python's 1000 for each."""
MAX_BYTES = 128 * 1024
"""All the tools of an agent together stay below it."""
MAX_SUBSCHEMAS = 1_000
"""Checking and reducing takes some 30 µs for each, in which nothing else runs. The largest honest tools have some
hundred."""
MAX_OBJECTS = 4 * MAX_SUBSCHEMAS
"""Braces, that is, which are counted before anything is walked."""
READING, VALIDATING, BYTES_PER_UNIT = 20, 300, 100
"""What a schema costs that is looked at, one that the validator has to judge, and how many bytes are parsed in that
time."""

_REDUCTIONS = {
    "moonshot": loosening.moonshot,
    "gemini": loosening.gemini,
    "bounded": loosening.bounded,
}
"""In the order in which they are made; `plain` and `inline` come before them. They loosen whatever a server would choke
on; the rules of `subsets.PROVIDERS`, of which one stands alone, keep the meaning instead."""


class _Flaw(NamedTuple):
    where: str
    what: str
    """To be read after the place."""


TOO_DEEP = _Flaw("", f"is nested deeper than {MAX_NESTING} levels: flatten it.")
TOO_MANY = _Flaw("", f"holds more than {MAX_SUBSCHEMAS} schemas: send fewer.")


def _meta_schema_of_one_level() -> Schema:
    """The meta-schema of 2020-12 with its vocabularies laid together and every "a schema here" left open.

    It judges one schema without those inside it, which are judged by themselves: eight vocabularies with dynamic
    references at each level cost five times as much, and a Python frame for every step down.
    """
    draft = Draft202012Validator.META_SCHEMA
    parts = [REGISTRY.contents(draft["$id"].removesuffix("schema") + part["$ref"]) for part in draft["allOf"]]
    flat: Schema = {"type": ["object", "boolean"], "properties": {}, "$defs": {}}
    for part in (*parts, draft):
        for shelf in ("properties", "$defs"):
            flat[shelf] |= part.get(shelf, {})

    def opened(value: Any) -> Any:
        match value:
            case {"$dynamicRef": "#meta"}:
                return {"type": flat["type"]}
            case {"$ref": str(reference)}:
                return value | {"$ref": "#" + reference.partition("#")[2]}
            case dict():
                return {keyword: opened(inner) for keyword, inner in value.items()}
            case list():
                return [opened(inner) for inner in value]
            case _:
                return value

    return {shelf: opened(value) for shelf, value in flat.items()}


_META = extend(Draft202012Validator, {"uniqueItems": None})(_meta_schema_of_one_level(), registry=REGISTRY)
"""The registry holds the meta-schemas and fetches nothing. `uniqueItems` compares each with each, which takes seconds
for a hostile list, and a name required twice harms nobody."""


def check(parameters: Any, param: str, work: Work) -> None:
    """Raises ClientFault, naming the place below `param`, unless this can be the schema of a tool's parameters."""
    if parameters is None:
        return
    if not isinstance(parameters, dict):
        complaint = f"{param} must be an object: the JSON Schema of the parameters."
        raise ClientFault(complaint, param=param, code=BAD_PARAMETERS)
    declared = parameters.get("type") or "object"
    if "object" not in (declared if isinstance(declared, list) else [declared]):
        raise ClientFault(f'{param}.type must be "object".', param=f"{param}.type", code=BAD_PARAMETERS)
    check_schema(parameters, param, work, BAD_PARAMETERS)


def check_schema(schema: Schema, param: str, work: Work, code: str = BAD_SCHEMA) -> None:
    """The same for any schema, whatever it describes."""
    try:
        data = jsontext.dumps(schema)
    except jsontext.BadJson:  # deeper than anything can be written
        flaw: _Flaw | None = TOO_DEEP
    else:
        if len(data) > MAX_BYTES:
            raise ClientFault(
                f"{param} is longer than {MAX_BYTES} bytes: shorten it.", param=param, code=code
            )
        work.on = param
        flaw = _FLAWS.of((data, None), lambda: (_flaw(data, work), 0))
    if flaw:
        raise ClientFault(f"{param}{flaw.where} {flaw.what}", param=param + flaw.where, code=code)


def check_answer(schema: Schema, param: str, work: Work) -> None:
    """The same for what answers must be like: with a reference to what is not there, nothing could be held to it."""
    check_schema(schema, param, work)
    data = jsontext.dumps(schema)
    if where := _DEAD_ENDS.of((data, None), lambda: (_dead_end(data, work), 0)):
        complaint = f"{param}{where} points at nothing in the schema: put what it means under $defs."
        raise ClientFault(complaint, param=param + where, code=BAD_SCHEMA)


_FLAWS: Remembered[_Flaw | None] = Remembered()
_DEAD_ENDS: Remembered[str] = Remembered()
_REWRITTEN: Remembered[tuple[Rewritten, int]] = Remembered()


def _read(data: bytes, work: Work) -> Schema:
    """Parsed, and paid for as far as its bytes tell what it costs."""
    schemas = data.count(b"{") + data.count(b"true") + data.count(b"false")
    work.spend(READING * schemas + 2 * data.count(b",") + len(data) // BYTES_PER_UNIT)
    schema: Schema = jsontext.loads(data)
    return schema


def _dead_end(data: bytes, work: Work) -> str:
    """Where the first one is. In either form: one knows older drafts, the other what a boolean stands for."""
    whole = _read(data, work)
    plain = loosening.plain(whole)
    for path, here in traversal.subschemas(plain):
        if loosening.is_dead_end(plain, here) and loosening.is_dead_end(whole, here):
            return traversal.spelled(traversal.as_sent(whole, (*path, "$ref")))
    return ""


def _flaw(data: bytes, work: Work) -> _Flaw | None:
    if data.count(b"{") > MAX_OBJECTS:
        return TOO_MANY
    whole = _read(data, work)
    if jsontext.deeper_than(whole, MAX_NESTING):
        return TOO_DEEP
    for count, (path, schema) in enumerate(traversal.subschemas(loosening.plain(whole))):
        if count >= MAX_SUBSCHEMAS:
            return TOO_MANY
        if metaschema.is_right(schema):
            continue
        work.spend(VALIDATING + READING * _values(traversal.own_part(schema)))
        if error := next(_META.iter_errors(schema), None):
            place = (*path, *error.absolute_path)
            where = traversal.spelled(traversal.as_sent(whole, place))
            return _Flaw(where, f"must be {metaschema.wanted(place[len(path) :])}, as in any JSON Schema.")
    return None


def _values(value: Any) -> int:
    """How many there are, all that are inside others included."""
    if isinstance(value, dict):
        return 1 + sum(map(_values, value.values()))
    return 1 + sum(map(_values, value)) if isinstance(value, list) else 1


def rewritten(parameters: Schema | None, rules: Collection[str], work: Work) -> Rewritten:
    """The parameters of a tool as a backend with these rules can read them, and what became of them on the way."""
    return _rewritten(parameters or {}, frozenset(rules), True, work)


def rewritten_answer(schema: Schema, rules: Collection[str], param: str, work: Work) -> Rewritten:
    """The same for the schema of an answer, which need not describe an object, and stands at `param`. Raises
    Incompatible where nothing that the backend can read would mean the same. Shared: do not change the result."""
    work.on = param
    result = _rewritten(schema, frozenset(rules), False, work)
    if result.refusals:
        raise incompatible(result, "the schema of the answer", "this backend", schema, param)
    return result


def _rewritten(schema: Schema, rules: frozenset[str], of_tool: bool, work: Work) -> Rewritten:
    data = jsontext.dumps(schema)

    def make() -> tuple[tuple[Rewritten, int], int]:
        result = _reduction(data, rules, of_tool, work)
        size = len(jsontext.dumps(result.schema))
        return (result, size), OBJECTS_PER_BYTE * size

    result, size = _REWRITTEN.of((data, (rules, of_tool)), make)
    work.grow(max(0, size - len(data)))  # remembered or not, it is written
    return result


def _reduction(data: bytes, rules: frozenset[str], of_tool: bool, work: Work) -> Rewritten:
    schema = _read(data, work)
    if provider := next((rule for rule in PROVIDERS if rule in rules), None):
        return rewriting.rewritten(schema, provider, work, of_tool=of_tool)
    sent, schema = schema, loosening.plain(schema)
    if of_tool:
        schema = loosening.without_dead_ends(schema)
    lost = ("$ref",) if _references(schema) < _references(sent) else ()
    if of_tool:
        schema = loosening.as_object(schema)
    if "inline" in rules:
        schema, cut = loosening.inline(schema, work)
        lost = ("$ref",) if cut else lost
    for rule, reduction in _REDUCTIONS.items():
        if rule in rules:
            work.spend(READING * sum(1 for _ in traversal.subschemas(schema)))
            schema = reduction(schema)
    return Rewritten(schema, lost)


def _references(schema: Schema) -> int:
    return sum("$ref" in here for _, here in traversal.subschemas(schema))


def incompatible(
    result: Rewritten, whose: str, backend: str, schema: Schema | None, param: str
) -> Incompatible:
    """`param`: where the client's schema stands."""
    found = [
        f"'{keyword}'{f' (in {traversal.spelled(at)})' if at else ''}" for keyword, at in result.refusals
    ]
    keyword, at = result.refusals[0]
    place = param + traversal.spelled(traversal.as_sent(schema or {}, (*at, keyword)))
    return Incompatible(
        f"{place}: {whose} uses {', '.join(found)}, which {backend} does not support and which cannot be put in "
        "other words without a change of meaning. Write the schema without it, or choose a model of another backend.",
        param=place,
        details={"incompatible_features": list(result.refused)},
    )
