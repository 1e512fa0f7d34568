"""What backends get of a schema, and what that costs: once, and never more than a request may."""

from collections.abc import Callable
from time import thread_time
from timeit import repeat
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import ClientFault, Incompatible
from proxy.core.schemas import for_backend, validity
from proxy.core.work import UNITS_PER_REQUEST, Work
from tests.core.schemas.examples import WEATHER, nested
from tests.support.tables import table


@table("keyword", ["items", "not", "if", "additionalProperties"])
def test_the_deepest_legal_schema_goes_through_every_reduction(keyword: str) -> None:
    """No RecursionError whatever it is made of."""
    deepest = {"properties": {"x": nested(validity.MAX_NESTING - 2, keyword)}}
    for_backend.rewritten(deepest, {"inline", "moonshot", "gemini", "bounded"}, Work())


def test_a_schema_too_long_to_be_remembered_is_reduced_all_the_same() -> None:
    long = {"properties": {"x": {"type": "string", "description": "y" * (validity.MAX_BYTES - 100)}}}
    assert for_backend.rewritten(long, {"plain"}, Work()) is not for_backend.rewritten(
        long, {"plain"}, Work()
    )


def test_a_schema_seen_before_is_not_reduced_again() -> None:
    for_backend.rewritten(WEATHER, {"plain"}, Work())
    a_hundred = min(
        repeat(
            timer=thread_time,
            stmt=lambda: for_backend.rewritten(WEATHER, {"plain"}, Work()),
            number=100,
            repeat=5,
        )
    )
    assert a_hundred < 100 * 200e-6


def test_reducing_leaves_the_clients_object_alone() -> None:
    theirs = {"properties": {"x": {"type": "STRING", "$comment": "c"}}, "strict": True}
    for_backend.rewritten(theirs, {"plain", "inline", "moonshot", "gemini", "bounded"}, Work())
    assert theirs == {"properties": {"x": {"type": "STRING", "$comment": "c"}}, "strict": True}


@table("absent", [None, {}])
def test_parameters_are_always_an_object_with_properties(absent: Any) -> None:
    """G6."""
    assert for_backend.rewritten(absent, frozenset(), Work()).schema == {"type": "object", "properties": {}}


def test_a_schema_of_an_answer_need_not_be_an_object() -> None:
    answer = {"type": "array", "items": {"$comment": "c", "type": "string"}}
    assert for_backend.rewritten_answer(answer, {"plain"}, "text.format.schema", Work()).schema == {
        "type": "array",
        "items": {"type": "string"},
    }


def test_what_a_grammar_cannot_have_is_told_of() -> None:
    """It was dropped in silence."""
    theirs = {
        "properties": {
            "x": {"type": "string", "pattern": "^a", "maxLength": 5},
            "y": {"type": "array", "minItems": 2, "maxItems": 1},
            "z": {"type": "string", "maxLength": 5000},
        }
    }
    result = for_backend.rewritten(theirs, {"plain", "bounded"}, Work())
    assert result.relaxed == ("maxItems", "maxLength", "minItems", "pattern")
    assert for_backend.rewritten(result.schema, {"plain", "bounded"}, Work()).relaxed == ()


def test_all_reductions_together_come_in_their_order() -> None:
    theirs = {
        "properties": {"x": {"$ref": "#/$defs/x", "maxLength": 5000}},
        "$defs": {"x": {"type": ["string", "null"], "pattern": "^a"}},
    }
    assert for_backend.rewritten(theirs, {"plain", "inline", "gemini", "bounded"}, Work()).schema == {
        "type": "object",
        "properties": {"x": {"type": "string", "nullable": True}},
    }


REFUSED = {"properties": {"a": {"not": {"type": "string"}}, "b": {"if": {}}}}


def test_what_a_provider_cannot_be_told_of_is_refused() -> None:
    """P02. Of a tool's schema `prepare` says it."""
    with pytest.raises(
        Incompatible, match=r"'if' \(in .properties.b\), 'not' \(in .properties.a\), which this backend"
    ) as caught:
        for_backend.rewritten_answer(REFUSED, {"plain", "google"}, "text.format.schema", Work())
    assert caught.value.details == {"incompatible_features": ["if", "not"]}
    assert caught.value.param == "text.format.schema.properties.b.if"


def test_the_place_of_what_is_refused_is_one_in_the_clients_own_schema() -> None:
    """References are followed before anything is refused: then it is the property that has one."""
    shared = {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"not": {"type": "string"}}}}
    with pytest.raises(Incompatible) as caught:
        for_backend.rewritten_answer(shared, {"google"}, "text.format.schema", Work())
    assert caught.value.param == "text.format.schema.properties.x"


@table(
    ("references", "relaxed"),
    [
        ({"x": {"$ref": "#/$defs/x"}}, ()),
        ({"x": {"$ref": "#/$defs/missing"}}, ("$ref",)),
        ({"x": {"$ref": "https://x.example/x.json"}}, ("$ref",)),
    ],
)
def test_a_tool_keeps_its_place_without_what_it_refers_to(references: Any, relaxed: Any) -> None:
    """What a chat backend is not told is counted."""
    result = for_backend.rewritten({"properties": references, "$defs": {"x": {}}}, {"plain"}, Work())
    assert result.relaxed == relaxed
    assert ("$ref" in result.schema["properties"]["x"]) is not bool(relaxed)


def test_a_provider_alone_decides_what_becomes_of_a_schema() -> None:
    theirs = {"properties": {"x": {"type": "string", "minLength": 2, "$comment": "c"}}}
    result = for_backend.rewritten(theirs, {"plain", "google"}, Work())
    assert result.schema == {
        "type": "object",
        "properties": {"x": {"type": "string", "description": "Constraint: minLength 2"}},
    }
    assert result.relaxed == ("minLength",)


# ── what it costs ──


def doubling(text: str, levels: int = 10) -> dict[str, Any]:
    """Each definition points twice at the next one, and the last says something."""
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    last = {f"d{levels}": {"description": text}}
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": steps | last}


def hostile(number: int) -> dict[str, Any]:
    """Short to write; who compares each with each has much to do."""
    lists = [{"required": [f"{number} {list_} {name}" for name in range(20)]} for list_ in range(100)]
    return {"type": "object", "properties": {"x": {"allOf": lists}}}


def all_of_them(rules: set[str], make: Callable[[int], Any], work: Work) -> str:
    for number in range(1_000):
        work.on = f"tools[{number}]"
        for_backend.rewritten(make(number), rules, work)
    return "all were served"


@table("rules", [{"anthropic"}, {"google"}, {"google_proto"}])
def test_all_schemas_of_a_request_share_one_budget(rules: set[str]) -> None:
    """attack-13: each was bounded, the request was not."""
    work = Work()
    work.left //= 10  # less to wait for
    with pytest.raises(ClientFault) as refused:
        all_of_them(rules, hostile, work)
    assert refused.value.code == "request_too_complex"
    assert refused.value.param == work.on


def test_what_is_remembered_costs_nothing() -> None:
    seen, again = Work(), Work()
    for work in (seen, again):
        for_backend.rewritten(doubling("seen once"), {"google"}, work)
    assert UNITS_PER_REQUEST - seen.left > 10_000
    assert again.left == UNITS_PER_REQUEST


@table("rules", [{"plain", "inline"}, {"google"}, {"anthropic"}])
def test_what_schemas_grow_to_is_bounded_for_a_request(rules: set[str]) -> None:
    """attack-03: a text of 30 KB behind eleven doublings was written 2,048 times; and remembered or not, it is sent."""
    for _ in range(2):
        with pytest.raises(ClientFault, match="fewer alternatives and references"):
            all_of_them(rules, lambda number: doubling(f"{number}" + "x" * 30_000, 4), Work())


def test_one_schema_is_cut_where_it_grows_too_large_and_that_is_told() -> None:
    """attack-03"""
    result = for_backend.rewritten(doubling("x" * 30_000), {"plain", "inline"}, Work())
    assert len(jsontext.dumps(result.schema)) < 2 << 20
    assert result.relaxed == ("$ref",)
    assert for_backend.rewritten(doubling("short", 4), {"plain", "inline"}, Work()).relaxed == ()


def test_what_grew_is_not_remembered_by_the_size_of_what_came() -> None:
    """attack-26: 512 schemas of 32 KB were kept as 200 MB."""
    grown = doubling("y" * 30_000, 4)
    first = for_backend.rewritten(grown, {"google"}, Work())
    assert for_backend.rewritten(grown, {"google"}, Work()) is not first
    assert for_backend.rewritten(WEATHER, {"google"}, Work()) is for_backend.rewritten(
        WEATHER, {"google"}, Work()
    )
