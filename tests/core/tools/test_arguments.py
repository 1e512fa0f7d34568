"""P05: what is wrong with the arguments of a call, found in bounded time (S21) and without fetching anything (S20)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.argument_problem import UNCHECKED, ArgumentProblem
from proxy.core.errors import ClientFault
from proxy.core.model import ToolKind, ToolName, ToolSpec
from proxy.core.tools import arguments
from proxy.core.tools.arguments import BRIEF_BYTES, briefly, verdict
from proxy.core.work import BRIEF_UNITS, Allowance, TakesLong
from tests.support.quickness import quickly
from tests.support.tables import table

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "array", "items": {"type": "integer", "minimum": 1}},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def checker(schema: Any) -> Callable[[str], ArgumentProblem | None]:
    return partial(verdict, jsontext.dumps(schema or {}))


def spec(parameters: Any, kind: ToolKind = ToolKind.FUNCTION) -> ToolSpec:
    return ToolSpec(ToolName("a"), kind, parameters=parameters)


def of_x(schema: Any, value: str, **root: Any) -> ArgumentProblem | None:
    return checker({"properties": {"x": schema}, **root})(f'{{"x": {value}}}')


@table("text", ['{"city": "Oslo", "days": [1, 2]}', ' {"city": ""}\n'])
def test_what_fits_has_no_problem(text: str) -> None:
    assert checker(WEATHER)(text) is None


@table("text", ["{", '{"city": Oslo}', "[]", '"Oslo"', "null", '{"city": NaN}', "{} {}", "\ud800"])
def test_what_is_no_json_object_is_malformed(text: str) -> None:
    problem = checker(WEATHER)(text)
    assert problem
    assert problem.code == "malformed_tool_arguments"


@table(
    ("text", "path", "message"),
    [
        ("", "", "'city' is a required property"),
        ('{"city": 1}', ".city", "1 is not of type 'string'"),
        ('{"city": "", "days": [1, 0]}', ".days[1]", "0 is less than the minimum of 1"),
        ('{"city": "", "town": 1}', "", "'town' is not a property that the schema allows"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(text: str, path: str, message: str) -> None:
    assert checker(WEATHER)(text) == ArgumentProblem("invalid_tool_arguments", message, path)


@table("absent", [None, {}])
def test_without_a_schema_any_object_fits(absent: Any) -> None:
    assert checker(absent)('{"x": 1}') is None
    assert checker(absent)("") is None


@table(
    ("schema", "good", "bad"),
    [
        (False, None, "1"),
        ({"enum": ["a", 1]}, "1", "true"),
        ({"pattern": "^a+$"}, '"aa"', '"ab"'),
        ({"pattern": "b"}, "7", '"a"'),
        ({"uniqueItems": True}, "[1, true, {}, []]", "[1, 1.0]"),
        ({"uniqueItems": False}, "[1, 1]", None),
        ({"uniqueItems": True}, '"no array"', '[{"a": [1]}, {"a": [1]}]'),
        ({"patternProperties": {"^n": {"type": "integer"}}}, '{"n1": 1, "a": "b"}', '{"n1": "b"}'),
        ({"patternProperties": {"^n": {}}, "additionalProperties": False}, '{"n1": 1}', '{"a": 1}'),
        ({"patternProperties": {"^n": {"type": "integer"}}}, "[]", '{"n": []}'),
        ({"additionalProperties": {"type": "integer"}}, '{"a": 1}', '{"a": "b"}'),
        ({"additionalProperties": False}, "[]", '{"a": 1}'),
        ({"unevaluatedProperties": False, "properties": {"a": {}}}, '{"a": 1}', '{"b": 1}'),
        ({"$ref": "#/$defs/y"}, '"b"', "1"),
        ({"$ref": "#word"}, '"b"', "1"),
        ({"type": "string", "format": "date"}, '"no date"', "1"),
        ({"items": [{"type": "string"}]}, '["a"]', "[1]"),
        ({"items": [{}], "additionalItems": False}, "[1]", "[1, 2]"),
        ({"items": [{}], "additionalItems": {"type": "string"}}, '[1, "a"]', "[1, 2]"),
        ({"minimum": 3, "exclusiveMinimum": True}, "4", "3"),
        ({"if": {"type": "string"}, "then": {"minLength": 1}}, "1", '""'),
        ({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, "1", "6"),
        ({"not": {"type": "string"}}, "1", '"a"'),
        ({"const": [1]}, "[1.0]", "[true]"),
        ({"enum": [{"a": [1]}, "b"]}, '{"a": [1]}', '"a"'),
        ({"unevaluatedItems": False, "prefixItems": [{}]}, "[1]", "[1, 2]"),
        ({"unevaluatedItems": False}, '"no array"', "[1]"),
        ({"unevaluatedItems": {"type": "string"}}, '["a"]', "[1]"),
        ({"unevaluatedProperties": False}, '"no object"', '{"a": 1}'),
    ],
)
def test_the_whole_standard_is_checked(schema: Any, good: str | None, bad: str | None) -> None:
    definitions = {"y": {"type": "string", "$anchor": "word"}}
    assert good is None or of_x(schema, good, **{"$defs": definitions}) is None
    if bad is not None:
        problem = of_x(schema, bad, **{"$defs": definitions})
        assert problem
        assert problem.code == "invalid_tool_arguments"


@table(
    ("schema", "value"),
    [
        ({"$ref": "#/$defs/missing"}, "1"),
        ({"$ref": "https://x.example/y.json"}, "1"),
        ({"$dynamicRef": "#meta"}, "1"),
        ({"$ref": "#/x-hidden"}, '"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!"'),
        ({"pattern": "\\p{Letter}"}, '"a"'),
        ({"patternProperties": {"^a": {}}, "unevaluatedProperties": False}, '{"b": 1}'),
    ],
)
def test_what_cannot_be_answered_is_not_held_against_the_call(schema: Any, value: str) -> None:
    hidden = {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}
    assert of_x(schema, value, **{"x-hidden": hidden}) is None


@table(
    ("schema", "value", "pattern"),
    [
        ({"pattern": "\\p{Script=Latin}"}, '"1"', "\\p{Script=Latin}"),
        ({"patternProperties": {"(": False}}, '{"a": 1}', "("),
        ({"patternProperties": {"(": {}, "[": {}}, "additionalProperties": False}, '{"b": 1}', "("),
    ],
)
def test_v41_a_pattern_that_cannot_be_read_is_remarked_on(schema: Any, value: str, pattern: str) -> None:
    problem = of_x(schema, value)
    assert problem is not None
    assert (problem.code, problem.remark) == ("unread_pattern", True)
    assert problem.message.startswith(f"the pattern '{pattern}' cannot be read here")


def test_references_are_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """S20: jsonschema's default registry does an HTTP GET for them."""

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket.connect", never)
    remote = {"$id": "http://127.0.0.1:9/", "properties": {"x": {"$ref": "http://127.0.0.1:9/x.json"}}}
    assert checker(remote)('{"x": 1}') is None


DOUBLED = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}


@table(
    ("schema", "text"),
    [
        pytest.param({"$ref": "#"}, "{}", id="itself"),
        pytest.param(
            {"$ref": "#/$defs/d0", "$defs": DOUBLED | {"d40": {"type": "string"}}}, "{}", id="doubled"
        ),
        pytest.param({"properties": {"x": {"multipleOf": 10**400}}}, '{"x": 1.5}', id="beyond floats"),
        pytest.param(
            {"properties": {"x": {"items": {"type": "integer"}}}}, f'{{"x": [{"1," * 250_000}1]}}', id="long"
        ),
    ],
)
def test_a_check_without_end_ends(schema: Any, text: str) -> None:
    """S21."""
    assert checker(schema)(text) is UNCHECKED


def test_three_thousand_objects_are_compared_in_one_pass() -> None:
    """S21: six seconds, each with each."""
    check = checker({"properties": {"x": {"uniqueItems": True}}})
    text = '{"x": [' + ",".join(f'{{"a": {number}}}' for number in range(3000)) + "]}"
    with quickly(0.2):
        check(text)


def test_arguments_nested_beyond_reason_do_not_fit() -> None:
    problem = checker({})('{"x":' + "[" * 70 + "]" * 70 + "}")
    assert problem
    assert "nested deeper than 64 levels" in problem.message


def test_the_deepest_arguments_are_checked() -> None:
    tree = {"properties": {"x": {"$ref": "#"}, "y": {"type": "string"}}}
    assert checker(tree)('{"x":' * 60 + "{}" + "}" * 60) is None
    assert checker(tree)('{"x":' * 60 + '{"y": 1}' + "}" * 60)


@table("bad", [{"type": "objekt", "required": 1}, {"anyOf": [{}] * 2001}])
def test_what_is_no_schema_or_a_bomb_is_never_compiled(bad: Any) -> None:
    with pytest.raises(ClientFault):
        checker(bad)("{}")


def test_a_message_shows_little_of_what_it_quotes() -> None:
    problem = of_x({"type": "integer"}, f'"{"a" * 5000}"')
    assert problem
    assert len(problem.message) == arguments.SHOWN


def test_a_usual_call_costs_little() -> None:
    """50 µs; a slow machine may take ten times as long."""
    tool = spec(WEATHER)
    arguments = '{"city": "Oslo", "days": [1, 2]}'
    with quickly(100 * 500e-6):
        for _ in range(100):
            briefly(tool, arguments, Allowance(BRIEF_UNITS))


# ── what is done briefly ──


def test_a_pattern_costs_what_it_takes_in_pythons_words() -> None:
    """Ten names of `\\p{L}`, each with a pattern of its own, held up everybody for a tenth of a second."""
    patterns = {f"p{number}": {"pattern": rf"^[\p{{L}}]{{{number}}}$"} for number in range(1, 11)}
    values = jsontext.compact({f"p{number}": "a" * number for number in range(1, 11)})
    tool = spec({"properties": patterns})
    assert briefly(tool, '{"p1":"a","p2":"aa"}', Allowance(BRIEF_UNITS)) is None
    with pytest.raises(TakesLong):
        briefly(tool, values, Allowance(BRIEF_UNITS))


@table(
    ("schema", "value", "fits"),
    [
        ({"pattern": "^[a-z]+-\\d{4}$"}, '"ab-2026"', True),
        ({"pattern": "^[a-z]+-\\d{4}$"}, '"ab-202"', False),
        ({"patternProperties": {"^n": {"type": "integer"}}}, '{"n1": "b"}', False),
        ({"pattern": "(a|b"}, "1", True),
        ({"enum": [1, 2]}, "2", True),
    ],
)
def test_what_is_certain_to_be_short_is_answered_at_once(schema: Any, value: str, fits: bool) -> None:
    problem = briefly(spec({"properties": {"x": schema}}), f'{{"x": {value}}}', Allowance(BRIEF_UNITS))
    assert (problem is None) is fits


@table(
    ("schema", "value"),
    [
        pytest.param({"pattern": "^((((a*){2}){2}){2}){2}$"}, '"aaa!"', id="attack-02"),
        pytest.param({"pattern": "^(a+)+$"}, '"aaa!"', id="nested"),
        pytest.param({"pattern": "a**"}, '"a"', id="unreadable"),
        pytest.param({"pattern": ".*.*.*=.*"}, f'"{"a" * 300}"', id="a high power"),
        pytest.param({"patternProperties": {"(a|b)": {}}}, '{"a": 1}', id="in a name"),
        pytest.param({"type": "string"}, f'"{"a" * BRIEF_BYTES}"', id="long"),
    ],
)
def test_what_could_take_long_is_not_even_begun(schema: Any, value: str) -> None:
    with pytest.raises(TakesLong):
        briefly(spec({"properties": {"x": schema}}), f'{{"x": {value}}}', Allowance(BRIEF_UNITS))


def spent(schema: Any, value: str) -> int:
    units = 10**9
    budget = Allowance(units)
    tool = spec({"properties": {"x": schema}})
    briefly(tool, "{}", Allowance(units))  # compiled
    briefly(tool, f'{{"x": {value}}}', budget)
    return units - budget.left


NUMBERS = [*range(1000)]
OBJECT = jsontext.dumps({f"p{number}": 1 for number in NUMBERS}).decode()
NAMES = [f"p{number}" for number in NUMBERS]


@table(
    ("schema", "value"),
    [
        ({"items": {}}, f"{NUMBERS}"),
        ({"items": {"enum": [*range(100)]}}, "[99, 99, 99, 99, 99, 99, 99, 99, 99, 99]"),
        ({"enum": NUMBERS}, "999"),
        ({"enum": [NUMBERS]}, "1"),
        ({"const": NUMBERS}, f"{NUMBERS}"),
        ({"contains": {}}, f"{NUMBERS}"),
        ({"contains": {"type": "string"}, "minContains": 0}, f"{NUMBERS}"),
        ({"prefixItems": [{}] * 900}, f"{NUMBERS}"),
        ({"propertyNames": {}}, OBJECT),
        ({"required": NAMES}, OBJECT),
        ({"properties": {name: {} for name in NAMES[:900]}}, OBJECT),
        ({"additionalProperties": {}}, OBJECT),
        ({"dependentRequired": {"p1": NAMES}}, OBJECT),
        ({"uniqueItems": True}, f"{NUMBERS}"),
        ({"unevaluatedItems": {}}, f"{NUMBERS}"),
        ({"unevaluatedProperties": {}}, OBJECT),
        ({"allOf": [{}] * 900}, "1"),
        ({"anyOf": [{"type": "string"}] * 900}, "1"),
        ({"anyOf": [{"type": "string"}] * 10}, f"{NUMBERS}"),
    ],
)
def test_whatever_a_keyword_loops_over_is_counted(schema: Any, value: str) -> None:
    """attack-10: a keyword cost one step, and 2 KB of arguments took 37 seconds."""
    assert spent(schema, value) >= 900


def test_a_check_of_twenty_million_comparisons_ends() -> None:
    """attack-10"""
    schema = {"properties": {"x": {"items": {"enum": [*range(20_000)]}}}}
    assert checker(schema)(f'{{"x": {[19_999] * 1000}}}') is UNCHECKED


def test_only_the_calls_of_tools_whose_input_is_json_are_checked() -> None:
    assert arguments.is_checked(spec(WEATHER))
    assert not arguments.is_checked(spec(None, ToolKind.CUSTOM))
