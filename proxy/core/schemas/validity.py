"""Is it a JSON Schema?

The proxy remembers each answer by the schema's bytes: the same twenty tools come with every request of an agent, and
checking one takes a thousand times longer than recognising it. The request pays for each schema that is not known.
"""

from typing import Any, NamedTuple

from proxy.core import jsontext
from proxy.core.caches.remembered import Remembered
from proxy.core.errors import ClientFault
from proxy.core.schemas import loosening, metaschema, traversal
from proxy.core.schemas.traversal import Schema
from proxy.core.work import Work

BAD_PARAMETERS, BAD_SCHEMA = "invalid_function_parameters", "invalid_json_schema"
"""The codes of our refusals, as OpenAI has them: for a tool's schema, and for an answer's."""

MAX_NESTING = 64
"""Lists and objects inside one another. What walks schemas here takes some frames of Python's 1000 for each."""
MAX_BYTES = 128 * 1024
"""All the tools of an agent together stay below it."""
MAX_SUBSCHEMAS = 1_000
"""Checking and reducing takes some 30 µs for each, in which nothing else runs. The largest honest tools have some
hundred."""
MAX_OBJECTS = 4 * MAX_SUBSCHEMAS
"""Braces, which are counted before anything is walked."""
READING, VALIDATING, BYTES_PER_UNIT = 20, 300, 100
"""The prices of a schema that is looked at and of one that the validator has to judge, and the bytes that are parsed
for one unit."""


class _Flaw(NamedTuple):
    where: str
    what: str
    """The rest of the sentence that begins with the place."""


TOO_DEEP = _Flaw("", f"is nested deeper than {MAX_NESTING} levels: flatten it.")
TOO_MANY = _Flaw("", f"holds more than {MAX_SUBSCHEMAS} schemas: send fewer.")


def check(parameters: Any, param: str, work: Work) -> bytes | None:
    """Raises ClientFault, naming the place below `param`, unless this can be the schema of a tool's parameters. Returns
    it as JSON."""
    if parameters is None:
        return None
    if not isinstance(parameters, dict):
        complaint = f"{param} must be an object: the JSON Schema of the parameters."
        raise ClientFault(complaint, param=param, code=BAD_PARAMETERS)
    declared = parameters.get("type") or "object"
    if "object" not in (declared if isinstance(declared, list) else [declared]):
        raise ClientFault(f'{param}.type must be "object".', param=f"{param}.type", code=BAD_PARAMETERS)
    return check_schema(parameters, param, work, BAD_PARAMETERS)


def check_schema(schema: Schema, param: str, work: Work, code: str = BAD_SCHEMA) -> bytes:
    """Checks any schema, whatever it describes, and returns it as JSON."""
    try:
        data = jsontext.dumps(schema)
    except jsontext.BadJson:  # deeper than anything can be written
        raise _fault(TOO_DEEP, param, code) from None
    if len(data) > MAX_BYTES:
        raise ClientFault(f"{param} is longer than {MAX_BYTES} bytes: shorten it.", param=param, code=code)
    work.on = param
    if flaw := _FLAWS.of((data, None), lambda: (_flaw(data, work), 0)):
        raise _fault(flaw, param, code)
    return data


def _fault(flaw: _Flaw, param: str, code: str) -> ClientFault:
    return ClientFault(f"{param}{flaw.where} {flaw.what}", param=param + flaw.where, code=code)


def check_answer(schema: Schema, param: str, work: Work) -> None:
    """Checks the schema of an answer, in which a reference must not point at nothing: no answer could be held to it."""
    data = check_schema(schema, param, work)
    if where := _DEAD_ENDS.of((data, None), lambda: (_dead_end(data, work), 0)):
        complaint = f"{param}{where} points at nothing in the schema: put what it means under $defs."
        raise ClientFault(complaint, param=param + where, code=BAD_SCHEMA)


_FLAWS: Remembered[_Flaw | None] = Remembered()
_DEAD_ENDS: Remembered[str] = Remembered()


def parsed(data: bytes, work: Work) -> Schema:
    """Parses the schema, and spends what its bytes say it will cost."""
    schemas = data.count(b"{") + data.count(b"true") + data.count(b"false")
    work.spend(READING * schemas + 2 * data.count(b",") + len(data) // BYTES_PER_UNIT)
    schema: Schema = jsontext.loads(data)
    return schema


def _dead_end(data: bytes, work: Work) -> str:
    """Finds the first reference that points at nothing, in either form: one knows older drafts, the other what a
    boolean stands for."""
    whole = parsed(data, work)
    plain = loosening.plain(whole)
    for path, here in traversal.subschemas(plain):
        if loosening.is_dead_end(plain, here) and loosening.is_dead_end(whole, here):
            return traversal.path_text(traversal.as_sent(whole, (*path, "$ref")))
    return ""


def _flaw(data: bytes, work: Work) -> _Flaw | None:
    if data.count(b"{") > MAX_OBJECTS:
        return TOO_MANY
    whole = parsed(data, work)
    if jsontext.deeper_than(whole, MAX_NESTING):
        return TOO_DEEP
    for count, (path, schema) in enumerate(traversal.subschemas(loosening.plain(whole))):
        if count >= MAX_SUBSCHEMAS:
            return TOO_MANY
        if metaschema.is_right(schema):
            continue
        work.spend(VALIDATING + READING * _values(traversal.own_part(schema)))
        if error := metaschema.first_error(schema):
            wrong = (*path, *error.absolute_path)
            where = traversal.path_text(traversal.as_sent(whole, wrong))
            return _Flaw(where, f"must be {metaschema.wanted(wrong[len(path) :])}, as in any JSON Schema.")
    return None


def _values(value: Any) -> int:
    """Counts the values, with all that are inside others."""
    if isinstance(value, dict):
        return 1 + sum(map(_values, value.values()))
    return 1 + sum(map(_values, value)) if isinstance(value, list) else 1
