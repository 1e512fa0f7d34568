"""Bad schemas are refused with the place in them; good ones and mendable ones pass, and cost next to nothing again."""

from time import thread_time
from timeit import repeat
from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.schemas import validity
from proxy.core.work import UNITS_PER_REQUEST, Work
from tests.core.schemas.examples import WEATHER, nested
from tests.support.tables import table

PARAM = "tools[2].parameters"


@table(
    ("bad", "where"),
    [
        ([], ""),
        ("{}", ""),
        ({"type": "array"}, ".type"),
        ({"type": ["string", "null"]}, ".type"),
        ({"type": "objekt"}, ".type"),
        ({"properties": []}, ".properties"),
        ({"properties": {"x": 7}}, ".properties.x"),
        ({"properties": {"x": {"type": 5}}}, ".properties.x.type"),
        ({"properties": {"x": {"type": "str"}}}, ".properties.x.type"),
        ({"properties": {"x": {"type": ["string", "date"]}}}, ".properties.x.type"),
        ({"properties": {"x": {"items": [{}, {"type": "int"}]}}}, ".properties.x.items[1].type"),
        ({"required": "city"}, ".required"),
        ({"required": [1]}, ".required[0]"),
        ({"properties": {"x": {"anyOf": [{}, {"minLength": -1}]}}}, ".properties.x.anyOf[1].minLength"),
        ({"$defs": {"a": {"enum": "b"}}}, ".$defs.a.enum"),
        ({"properties": {"x": {"items": 3}}}, ".properties.x.items"),
        ({"dependencies": {"x": 3}}, ".dependencies.x"),
        ({"properties": {"x": {"minimum": "1"}}}, ".properties.x.minimum"),
    ],
)
def test_a_bad_schema_is_the_clients_fault_and_the_place_is_named(bad: Any, where: str) -> None:
    with pytest.raises(ClientFault) as caught:
        validity.check(bad, PARAM, Work())
    assert caught.value.param == PARAM + where
    assert caught.value.status == 400
    assert caught.value.message.startswith(f"{PARAM}{where} must be ")


@table(
    "good",
    [
        None,
        {},
        WEATHER,
        {"type": None, "properties": {}},
        {"type": ["object", "null"]},
        {"properties": {"x": {"type": "STRING"}, "y": {"type": ["any"]}, "z": {"type": ["string", None]}}},
        {"properties": {"x": True, "y": False}},
        {"properties": {"x": {"items": [{"type": "string"}]}}},
        {"properties": {"x": {"minimum": 0, "exclusiveMinimum": True}}},
        {"properties": {"x": {"type": "string", "required": True, "description": None}}},
        {"required": ["a", "a"]},
        {"$schema": 5, "$ref": "#/$defs/missing"},
        {"dependencies": {"x": ["y"], "z": {"required": ["y"]}}},
        {"properties": {"type": {"type": "string"}, "$ref": {"type": "string"}, "strict": {}}},
    ],
)
def test_what_can_be_read_or_mended_is_accepted(good: Any) -> None:
    validity.check(good, PARAM, Work())


def test_a_schema_of_an_answer_need_not_be_an_object() -> None:
    answer = {"type": "array", "items": {"$comment": "c", "type": "string"}}
    validity.check_schema(answer, "text.format.schema", Work())


def test_the_message_shows_little_of_what_it_quotes() -> None:
    with pytest.raises(ClientFault) as caught:
        validity.check({"required": "x" * 10_000}, PARAM, Work())
    assert len(caught.value.message) < 400


@table("keyword", ["items", "not", "if", "additionalProperties"])
def test_nesting_up_to_the_limit_is_read_and_beyond_it_refused(keyword: str) -> None:
    """No RecursionError whatever it is made of."""
    deepest = {"properties": {"x": nested(validity.MAX_NESTING - 2, keyword)}}
    validity.check(deepest, PARAM, Work())
    with pytest.raises(ClientFault, match="nested deeper than 64 levels"):
        validity.check({"properties": {"x": nested(validity.MAX_NESTING - 1, keyword)}}, PARAM, Work())


def test_nesting_that_no_parser_would_pass_is_refused_too() -> None:
    with pytest.raises(ClientFault, match="nested deeper"):
        validity.check(nested(5_000), PARAM, Work())


def test_a_schema_of_too_many_bytes_is_refused() -> None:
    with pytest.raises(ClientFault, match="longer than"):
        validity.check({"description": "x" * validity.MAX_BYTES}, PARAM, Work())


@table("count", [validity.MAX_SUBSCHEMAS, validity.MAX_OBJECTS])
def test_a_schema_of_too_many_parts_is_refused(count: int) -> None:
    """S21: the second is not even walked through."""
    with pytest.raises(ClientFault, match="more than 1000 schemas"):
        validity.check({"anyOf": [{}] * count}, PARAM, Work())


def test_a_schema_too_long_to_be_remembered_is_checked_all_the_same() -> None:
    long = {"properties": {"x": {"type": "string", "description": "y" * (validity.MAX_BYTES - 100)}}}
    validity.check(long, PARAM, Work())
    with pytest.raises(ClientFault):
        validity.check(long | {"required": 1}, PARAM, Work())


def test_references_are_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """S20: jsonschema's default registry does an HTTP GET for them."""

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket.connect", never)
    validity.check(
        {"properties": {"x": {"$ref": "http://127.0.0.1:9/x.json"}}, "$id": "http://127.0.0.1:9/"},
        PARAM,
        Work(),
    )


def test_a_list_that_would_be_compared_each_with_each_costs_no_time() -> None:
    """S21: 3000 objects took the validator six seconds."""
    hostile = {"required": [{"a": number} for number in range(3000)]}

    def refused() -> None:
        with pytest.raises(ClientFault):
            validity.check(hostile, PARAM, Work())

    assert min(repeat(timer=thread_time, stmt=refused, number=1, repeat=2)) < 0.5


def test_a_schema_seen_before_is_not_checked_again() -> None:
    """A check against the meta-schema takes milliseconds, so even a slow machine tells the two apart."""
    validity.check(WEATHER, PARAM, Work())
    a_hundred = min(
        repeat(timer=thread_time, stmt=lambda: validity.check(WEATHER, PARAM, Work()), number=100, repeat=5)
    )
    assert a_hundred < 100 * 200e-6


@table(
    "good",
    [
        {"items": {"$ref": "#"}},
        {"items": {"$ref": "#/$defs/any"}, "$defs": {"any": True}},
        {"properties": {"x": {"items": [{}]}, "y": {"$ref": "#/properties/x/items/0"}}},
    ],
)
def test_an_answer_can_be_held_to_references_that_lead_somewhere(good: Any) -> None:
    validity.check_answer(good, "text.format.schema", Work())


@table("padding", ["", "x" * 100_000])
def test_an_answer_cannot_be_held_to_what_is_not_there(padding: str) -> None:
    bad = {"description": padding, "properties": {"x": {"items": [{"$ref": "#/$defs/missing"}]}}}
    with pytest.raises(ClientFault, match="points at nothing in the schema") as caught:
        validity.check_answer(bad, "text.format.schema", Work())
    assert caught.value.param == "text.format.schema.properties.x.items[0].$ref"
    assert caught.value.code == "invalid_json_schema"


# ── what it costs ──


def test_a_check_costs_by_what_the_validator_looks_at() -> None:
    """attack-13: a schema of rare words took a quarter of a second, a list of names within one as long again."""
    rare, listed = Work(), Work()
    validity.check({"properties": {f"p{n}": {"$vocabulary": {"x:y": True}} for n in range(500)}}, PARAM, rare)
    names = {f"p{n}": [f"q{m}" for m in range(100)] for n in range(50)}
    validity.check({"dependentRequired": names}, PARAM, listed)
    assert UNITS_PER_REQUEST - rare.left > 500 * 300
    assert UNITS_PER_REQUEST - listed.left > 50 * 100 * 20


def test_what_is_remembered_costs_nothing() -> None:
    seen, again = Work(), Work()
    for work in (seen, again):
        validity.check(WEATHER | {"title": "seen once"}, PARAM, work)
    assert UNITS_PER_REQUEST - seen.left > 60
    assert again.left == UNITS_PER_REQUEST
