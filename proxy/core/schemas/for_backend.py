"""What is left of a client's schema for a backend.

The proxy remembers each result by the schema's bytes, as `validity` does with its answers. The request pays for each
schema that is not known, and for what each has grown by, known or not.
"""

from collections import Counter
from collections.abc import Collection
from itertools import chain

from proxy.core import jsontext
from proxy.core.caches.remembered import OBJECTS_PER_BYTE, Remembered
from proxy.core.errors import Incompatible
from proxy.core.schemas import loosening, rewriting, traversal, validity
from proxy.core.schemas.losses import Rewritten
from proxy.core.schemas.subsets import PROVIDERS
from proxy.core.schemas.traversal import Schema
from proxy.core.work import Work

_REDUCTIONS = {
    "moonshot": loosening.moonshot,
    "gemini": loosening.gemini,
    "bounded": loosening.bounded,
}
"""The reductions in the order in which they are made, behind `plain` and `inline`. They loosen whatever a server
would choke on. The rules of `subsets.PROVIDERS`, of which only one applies, keep the meaning instead."""

_REWRITTEN: Remembered[tuple[Rewritten, int]] = Remembered()


def rewritten(
    parameters: Schema | None, rules: Collection[str], work: Work, written: bytes | None = None
) -> Rewritten:
    """Returns a tool's parameters as a backend with these rules can read them, and what was lost on the way. `written`:
    the parameters as JSON, if they have been written."""
    return _rewritten(written or jsontext.dumps(parameters or {}), frozenset(rules), True, work)


def rewritten_answer(schema: Schema, rules: Collection[str], param: str, work: Work) -> Rewritten:
    """Rewrites the schema of an answer, which need not describe an object and stands at `param`. Raises Incompatible
    where the backend can read nothing that means the same. The result is shared: do not change it."""
    work.on = param
    result = _rewritten(jsontext.dumps(schema), frozenset(rules), False, work)
    if result.incompatible:
        raise fault_of(result, "the schema of the answer", "this backend", schema, param)
    return result


def _rewritten(data: bytes, rules: frozenset[str], of_tool: bool, work: Work) -> Rewritten:
    def make() -> tuple[tuple[Rewritten, int], int]:
        result = _reduction(data, rules, of_tool, work)
        size = len(jsontext.dumps(result.schema))
        return (result, size), OBJECTS_PER_BYTE * size

    result, size = _REWRITTEN.of((data, (rules, of_tool)), make)
    work.grow(max(0, size - len(data)))  # remembered or not, it is written
    return result


def _reduction(data: bytes, rules: frozenset[str], of_tool: bool, work: Work) -> Rewritten:
    schema = validity.parsed(data, work)
    if provider := next((rule for rule in PROVIDERS if rule in rules), None):
        return rewriting.rewritten(schema, provider, work, of_tool=of_tool)
    sent, schema = schema, loosening.plain(schema)
    if of_tool:
        schema = loosening.without_dead_ends(schema)
    lost: tuple[str, ...] = ("$ref",) if "$ref" in _keywords(sent) - _keywords(schema) else ()
    if of_tool:
        schema = loosening.as_object(schema)
    if "inline" in rules:
        schema, cut = loosening.inline(schema, work)
        lost = ("$ref",) if cut else lost
    for rule, reduction in _REDUCTIONS.items():
        if rule in rules:
            work.spend(validity.READING * sum(1 for _ in traversal.subschemas(schema)))
            before, schema = schema, reduction(schema)
            if rule == "bounded":  # the others put most of what they take elsewhere
                lost += tuple(sorted(_keywords(before) - _keywords(schema)))
    return Rewritten(schema, lost)


def _keywords(schema: Schema) -> Counter[str]:
    """How often each of them stands in the schema."""
    return Counter(chain.from_iterable(here for _, here in traversal.subschemas(schema)))


def fault_of(result: Rewritten, whose: str, backend: str, schema: Schema | None, param: str) -> Incompatible:
    """Names each keyword that the backend cannot be sent. `param` is the place of the client's schema."""
    found = [
        f"'{keyword}'{f' (in {traversal.path_text(at)})' if at else ''}"
        for keyword, at in result.incompatible
    ]
    keyword, at = result.incompatible[0]
    path = param + traversal.path_text(traversal.as_sent(schema or {}, (*at, keyword)))
    return Incompatible(
        f"{path}: {whose} uses {', '.join(found)}, which {backend} does not support and which cannot be put in "
        "other words without a change of meaning. Write the schema without it, or choose a model of another backend.",
        param=path,
        details={"incompatible_features": list(result.incompatible_features)},
    )
