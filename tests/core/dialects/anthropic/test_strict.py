"""The limits that all strict tools of one request share."""

from typing import Any

from proxy.core.dialects.anthropic.strict import MAX_TOOLS, Allowance

PLAIN = {"type": "object", "properties": {}, "additionalProperties": False}


def schema(**properties: Any) -> dict[str, Any]:
    return PLAIN | {"properties": properties}


def taken(one: dict[str, Any], most: int = 100) -> int:
    allowance = Allowance()
    return sum(allowance.takes(one) for _ in range(most))


def test_twenty_tools() -> None:
    assert taken(PLAIN) == MAX_TOOLS


def test_what_cannot_be_a_grammar_takes_nothing() -> None:
    allowance = Allowance()
    assert not allowance.takes({"type": "object", "properties": {}})
    assert sum(allowance.takes(PLAIN) for _ in range(100)) == MAX_TOOLS


def test_24_optional_properties_in_all() -> None:
    assert taken(schema(a={"type": "string"}, b=schema(c={"type": "string"}))) == 24 // 3
    assert taken(schema(a={"type": "string"}) | {"required": ["a"]}) == MAX_TOOLS


def test_16_unions_in_all() -> None:
    either = {"anyOf": [{"type": "string"}, {"type": ["integer", "null"]}]}
    assert taken(schema(a=either) | {"required": ["a"]}) == 16 // 2


def test_a_tool_that_is_too_much_leaves_room_for_a_smaller_one() -> None:
    allowance = Allowance()
    big = schema(**{f"p{number}": {"type": "string"} for number in range(20)})
    assert allowance.takes(big)
    assert not allowance.takes(big)
    assert allowance.takes(schema(a={"type": "string"}))
