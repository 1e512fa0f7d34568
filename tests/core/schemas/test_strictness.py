"""C03: what a strict tool must be like, and which schemas Anthropic can make a grammar of."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.schemas import strictness
from tests.support.tables import table

PARAM = "tools[1].function.parameters"


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def nested(levels: int) -> dict[str, Any]:
    schema = closed()
    for _ in range(levels - 1):
        schema = closed(properties=schema)
    return schema


WIDE = closed(**{f"p{number}": {} for number in range(100)})
OPEN = {"type": "object", "properties": {}}


@table(
    "good",
    [
        closed(),
        closed(a={"type": "string"}, b={"type": "array", "items": closed(c={})}),
        WIDE,
        nested(5),
        closed(a={"type": ["string", "null"]}),
        closed(a={"$ref": "#/$defs/a"}) | {"$defs": {"a": nested(4)}},
        closed(a={"$ref": "#"}),
        closed(a={"$ref": "#/$defs/a"}) | {"$defs": {"a": closed(b={"items": {"$ref": "#/$defs/a"}})}},
        closed(a={"$ref": "#/$defs/missing"}, b={"$ref": "#/$defs/missing"}),
        {
            **closed(a={"$ref": "#/$defs/d0"}),
            "$defs": {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(900)},
        },
    ],
)
def test_closed_objects_with_all_required_are_strict(good: Any) -> None:
    assert strictness.first_problem(good) is None
    strictness.check(good, PARAM)


@table(
    ("bad", "where", "what"),
    [
        (None, ".additionalProperties", "must be false"),
        (OPEN, ".additionalProperties", "must be false"),
        (closed(a=OPEN), ".properties.a.additionalProperties", "must be false"),
        (closed(a={"type": ["object", "null"]}), ".properties.a.additionalProperties", "must be false"),
        (
            closed(a={"anyOf": [closed(), {"properties": {}}]}),
            ".properties.a.anyOf[1].additionalProperties",
            "must be false",
        ),
        (
            closed(a={"items": closed(b={}) | {"required": []}}),
            ".properties.a.items.required",
            "must name 'b'",
        ),
        (
            {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
            ".required",
            "must name 'a'",
        ),
        (closed(a=WIDE), "", "more than 100 properties"),
        (nested(6), ".properties.properties" * 5, "deeper than the 5 levels"),
        (closed(a={"$ref": "#/$defs/a"}) | {"$defs": {"a": nested(5)}}, "", "more than 5 levels"),
        (
            closed(a={"$ref": "#/$defs/a"})
            | {"$defs": {"a": closed(b={"anyOf": [{}, {"$ref": "#/$defs/c"}]}), "c": nested(4)}},
            "",
            "more than 5 levels",
        ),
    ],
)
def test_what_is_not_strict_is_refused_with_its_place(bad: Any, where: str, what: str) -> None:
    with pytest.raises(ClientFault, match="mend it, or leave strict out") as caught:
        strictness.check(bad, PARAM)
    assert (caught.value.param, caught.value.code) == (PARAM + where, "invalid_function_parameters")
    assert what in caught.value.message


@table(
    ("schema", "does"),
    [
        (closed(), True),
        (closed(a={"type": "string", "format": "date", "description": "d"}), True),
        (closed(a={"type": "array", "items": {"enum": ["a", 1, None]}, "minItems": 1}), True),
        (closed(a={"type": "string"}) | {"required": []}, True),
        (closed(a={"type": "string", "minLength": 1}), False),
        (closed(a={"type": "string", "format": "color"}), False),
        (closed(a={"type": "array", "minItems": 2}), False),
        (closed(a={"oneOf": [{}]}), False),
        (closed(a={"$ref": "#/$defs/a"}), False),
        (closed(a={"enum": [{}]}), False),
        (closed(a={"const": []}), False),
        (closed(a=OPEN), False),
        (closed(**{f"p{n}": {} for n in range(25)}) | {"required": []}, False),
        (closed(**{f"p{n}": {"type": ["string", "null"]} for n in range(17)}), False),
        (closed(**{f"p{n}": {"anyOf": [{"type": "string"}]} for n in range(16)}), True),
    ],
)
def test_anthropics_grammar_takes_some_schemas_only(schema: Any, does: bool) -> None:
    """P01: a wish for strictness that cannot be fulfilled is dropped, not the tool."""
    assert strictness.qualifies(schema) is does
