"""Bad schemas are refused with the place in them; good ones and mendable ones pass, and cost next to nothing again."""

from timeit import repeat
from typing import Any

import pytest

from proxy.core.errors import ClientFault, Incompatible
from proxy.core.tools import schema
from tests.tables import table

PARAM = "tools[2].parameters"
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where."}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}


def nested(levels: int, keyword: str = "items") -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels - 1):
        inner = {keyword: inner}
    return inner


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
        schema.check(bad, PARAM)
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
    schema.check(good, PARAM)


def test_the_message_shows_little_of_what_it_quotes() -> None:
    with pytest.raises(ClientFault) as caught:
        schema.check({"required": "x" * 10_000}, PARAM)
    assert len(caught.value.message) < 400


@table("keyword", ["items", "not", "if", "additionalProperties"])
def test_nesting_up_to_the_limit_is_read_and_beyond_it_refused(keyword: str) -> None:
    """No RecursionError whatever it is made of: the deepest legal schema goes through every reduction too."""
    deepest = {"properties": {"x": nested(schema.MAX_NESTING - 2, keyword)}}
    schema.check(deepest, PARAM)
    schema.rewritten(deepest, {"inline", "moonshot", "gemini", "bounded"})
    with pytest.raises(ClientFault, match="nested deeper than 64 levels"):
        schema.check({"properties": {"x": nested(schema.MAX_NESTING - 1, keyword)}}, PARAM)


def test_nesting_that_no_parser_would_pass_is_refused_too() -> None:
    with pytest.raises(ClientFault, match="nested deeper"):
        schema.check(nested(5_000), PARAM)


def test_a_schema_of_too_many_bytes_is_refused() -> None:
    with pytest.raises(ClientFault, match="longer than"):
        schema.check({"description": "x" * schema.MAX_BYTES}, PARAM)


@table("count", [schema.MAX_SUBSCHEMAS, schema.MAX_OBJECTS])
def test_a_schema_of_too_many_parts_is_refused(count: int) -> None:
    """S21: the second is not even walked through."""
    with pytest.raises(ClientFault, match="more than 1000 schemas"):
        schema.check({"anyOf": [{}] * count}, PARAM)


def test_a_schema_too_long_to_be_remembered_is_checked_and_reduced_all_the_same() -> None:
    long = {"properties": {"x": {"type": "string", "description": "y" * schema.CACHED_BYTES}}}
    schema.check(long, PARAM)
    assert schema.rewritten(long, {"plain"}) is not schema.rewritten(long, {"plain"})
    with pytest.raises(ClientFault):
        schema.check(long | {"required": 1}, PARAM)


def test_references_are_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """S20: jsonschema's default registry does an HTTP GET for them."""

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket.connect", never)
    schema.check(
        {"properties": {"x": {"$ref": "http://127.0.0.1:9/x.json"}}, "$id": "http://127.0.0.1:9/"}, PARAM
    )


def test_a_list_that_would_be_compared_each_with_each_costs_no_time() -> None:
    """S21: 3000 objects took the validator six seconds."""
    hostile = {"required": [{"a": number} for number in range(3000)]}

    def refused() -> None:
        with pytest.raises(ClientFault):
            schema.check(hostile, PARAM)

    assert min(repeat(refused, number=1, repeat=2)) < 0.5


def test_a_schema_seen_before_is_not_checked_again() -> None:
    """A check against the meta-schema takes milliseconds, so even a slow machine tells the two apart."""
    schema.check(WEATHER, PARAM)
    schema.rewritten(WEATHER, {"plain"})
    a_hundred = min(repeat(lambda: schema.check(WEATHER, PARAM), number=100, repeat=5))
    assert a_hundred < 100 * 200e-6
    assert min(repeat(lambda: schema.rewritten(WEATHER, {"plain"}), number=100, repeat=5)) < 100 * 200e-6


def test_reducing_leaves_the_clients_object_alone() -> None:
    theirs = {"properties": {"x": {"type": "STRING", "$comment": "c"}}, "strict": True}
    schema.rewritten(theirs, {"plain", "inline", "moonshot", "gemini", "bounded"})
    assert theirs == {"properties": {"x": {"type": "STRING", "$comment": "c"}}, "strict": True}


@table("absent", [None, {}])
def test_parameters_are_always_an_object_with_properties(absent: Any) -> None:
    """G6."""
    assert schema.rewritten(absent, frozenset()).schema == {"type": "object", "properties": {}}


def test_a_schema_of_an_answer_need_not_be_an_object() -> None:
    answer = {"type": "array", "items": {"$comment": "c", "type": "string"}}
    assert schema.rewritten_answer(answer, {"plain"}, "text.format.schema").schema == {
        "type": "array",
        "items": {"type": "string"},
    }
    schema.check_schema(answer, "text.format.schema")


def test_all_reductions_together_come_in_their_order() -> None:
    theirs = {
        "properties": {"x": {"$ref": "#/$defs/x", "maxLength": 5000}},
        "$defs": {"x": {"type": ["string", "null"], "pattern": "^a"}},
    }
    assert schema.rewritten(theirs, {"plain", "inline", "gemini", "bounded"}).schema == {
        "type": "object",
        "properties": {"x": {"type": "string", "nullable": True}},
    }


REFUSED = {"properties": {"a": {"not": {"type": "string"}}, "b": {"if": {}}}}


def test_what_a_provider_cannot_be_told_of_is_refused() -> None:
    """P02. Of a tool's schema `prepare` says it."""
    with pytest.raises(
        Incompatible, match=r"'if' \(in .properties.b\), 'not' \(in .properties.a\), which this backend"
    ) as caught:
        schema.rewritten_answer(REFUSED, {"plain", "google"}, "text.format.schema")
    assert caught.value.details == {"incompatible_features": ["if", "not"]}
    assert caught.value.param == "text.format.schema.properties.b.if"


def test_the_place_of_what_is_refused_is_one_in_the_clients_own_schema() -> None:
    """References are followed before anything is refused: then it is the property that has one."""
    shared = {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"not": {"type": "string"}}}}
    with pytest.raises(Incompatible) as caught:
        schema.rewritten_answer(shared, {"google"}, "text.format.schema")
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
    result = schema.rewritten({"properties": references, "$defs": {"x": {}}}, {"plain"})
    assert result.relaxed == relaxed
    assert ("$ref" in result.schema["properties"]["x"]) is not bool(relaxed)


@table(
    "good",
    [
        {"items": {"$ref": "#"}},
        {"items": {"$ref": "#/$defs/any"}, "$defs": {"any": True}},
        {"properties": {"x": {"items": [{}]}, "y": {"$ref": "#/properties/x/items/0"}}},
    ],
)
def test_an_answer_can_be_held_to_references_that_lead_somewhere(good: Any) -> None:
    schema.check_answer(good, "text.format.schema")


@table("padding", ["", "x" * schema.CACHED_BYTES])
def test_an_answer_cannot_be_held_to_what_is_not_there(padding: str) -> None:
    bad = {"description": padding, "properties": {"x": {"items": [{"$ref": "#/$defs/missing"}]}}}
    with pytest.raises(ClientFault, match="points at nothing in the schema") as caught:
        schema.check_answer(bad, "text.format.schema")
    assert caught.value.param == "text.format.schema.properties.x.items[0].$ref"
    assert caught.value.code == "invalid_json_schema"


def test_a_provider_alone_decides_what_becomes_of_a_schema() -> None:
    theirs = {"properties": {"x": {"type": "string", "minLength": 2, "$comment": "c"}}}
    result = schema.rewritten(theirs, {"plain", "google"})
    assert result.schema == {
        "type": "object",
        "properties": {"x": {"type": "string", "description": "Constraint: minLength 2"}},
    }
    assert result.relaxed == ("minLength",)
