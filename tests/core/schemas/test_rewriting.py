"""P02: whole schemas before each provider. What is lost is told to the model and to us, or the tool is refused."""

from typing import Any

from proxy.core.schemas.rewriting import MAX_DESCRIBED, rewritten
from proxy.core.work import Work
from tests.support.tables import table

TREE = {
    "properties": {"tree": {"$ref": "#/$defs/node"}},
    "required": ["tree"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "inside": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["name", "inside"],
        }
    },
}
ALL = ("anthropic", "google", "google_proto")


@table("provider", ALL)
def test_a_usual_tool_stays_as_it_is(provider: str) -> None:
    weather = {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Where."}, "days": {"type": "integer"}},
        "required": ["city"],
    }
    result = rewritten(weather, provider, Work(), of_tool=True)
    assert (result.schema, result.relaxed, result.incompatible) == (weather, (), ())


@table("provider", ALL)
def test_references_are_inlined(provider: str) -> None:
    schema = {
        "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "string"}},
        "type": "object",
    }
    result = rewritten(schema, provider, Work(), of_tool=True)
    assert result.schema == {"type": "object", "properties": {"x": {"type": "string"}}}


@table(
    ("provider", "schema", "refused"),
    [
        ("anthropic", {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, ["oneOf"]),
        ("anthropic", {"anyOf": [{"properties": {"a": {}}}, {"required": ["b"]}]}, ["anyOf"]),
        ("anthropic", {"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, ["allOf"]),
        ("anthropic", {"properties": {"$filter": {}}, "patternProperties": {"^x": {}}}, ["properties"]),
        ("anthropic", {"properties": {"$filter": {}}, "propertyNames": {"maxLength": 9}}, ["properties"]),
        ("anthropic", TREE, ["$ref"]),
        ("google_proto", TREE, ["$ref"]),
        ("google", TREE, []),
        ("google", {"properties": {"x": {"$ref": "https://x.example/y.json"}}}, ["$ref"]),
        ("google", {"properties": {"x": {"not": {"type": "null"}}}, "if": {}}, ["if", "not"]),
        ("google_proto", {"properties": {"x": {"const": None}}}, []),
        ("google", {"properties": {"x": {"$dynamicRef": "#node"}}}, ["$dynamicRef"]),
        ("google", {"properties": {"x": {"$recursiveRef": "#"}}}, ["$recursiveRef"]),
        ("google", {"properties": {"x": {"disallow": "string"}}}, ["disallow"]),
        ("google", {"properties": {"x": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}}, ["oneOf"]),
        ("anthropic", {"properties": {"x": False}, "required": ["x"]}, ["not"]),
        ("anthropic", {"properties": {"x": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}}, []),
        ("anthropic", {"properties": {"x": {"if": {"type": "string"}, "then": {"minLength": 1}}}}, []),
    ],
)
def test_what_decides_and_cannot_be_written_is_refused(
    provider: str, schema: Any, refused: list[str]
) -> None:
    assert list(rewritten(schema, provider, Work(), of_tool=True).incompatible_features) == refused


def test_anthropic_reads_the_whole_standard_below_the_root() -> None:
    inside = {"oneOf": [{"type": "number"}, {"minimum": 3}], "allOf": [{"minLength": 1}], "pattern": "^a"}
    schema = {
        "type": "object",
        "properties": {"x": inside},
        "anyOf": [{"required": ["x"]}, {"required": ["y"]}],
        "allOf": [{"properties": {"x": {"title": "X"}, "y": {"type": ["string", "null"]}}}],
    }
    result = rewritten(schema, "anthropic", Work(), of_tool=True)
    assert result.schema == {
        "type": "object",
        "properties": {"x": inside | {"title": "X"}, "y": {"type": ["string", "null"]}},
        "description": 'Constraint: anyOf [{"required":["x"]},{"required":["y"]}]',
    }
    assert (result.relaxed, result.incompatible_features) == (("anyOf",), ())


@table(
    ("provider", "expected"),
    [
        ("anthropic", {"prefixItems": [{"type": "string"}], "maxItems": 1}),
        ("google", {"type": "array", "prefixItems": [{"type": "string"}], "maxItems": 1}),
        (
            "google_proto",
            {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 1,
                "description": 'Constraint: prefixItems [{"type":"string"}]',
            },
        ),
    ],
)
def test_a_tuple_of_draft_7_stays_as_short_as_it_was(provider: str, expected: Any) -> None:
    tuple_of_one = {"items": [{"type": "string"}], "additionalItems": False}
    result = rewritten({"properties": {"x": tuple_of_one}}, provider, Work(), of_tool=True)
    assert result.schema["properties"]["x"] == expected


def test_constraints_stand_after_the_description_in_alphabetical_order() -> None:
    schema = {
        "properties": {"x": {"type": "string", "pattern": "^a", "minLength": 2, "description": "An a."}}
    }
    result = rewritten(schema, "google", Work(), of_tool=True)
    assert result.schema["properties"]["x"] == {
        "type": "string",
        "description": 'An a.\nConstraint: minLength 2, pattern "^a"',
    }
    assert result.relaxed == ("minLength", "pattern")


def test_a_constraint_that_nobody_would_read_to_its_end_is_cut() -> None:
    schema = {"properties": {"x": {"type": "array", "enum": [[number] for number in range(1000)]}}}
    description = rewritten(schema, "google", Work(), of_tool=True).schema["properties"]["x"]["description"]
    assert description.startswith("Constraint: enum [[0],[1],")
    assert description.endswith("…")
    assert len(description) < MAX_DESCRIBED + 30


def test_recursion_is_only_behind_what_may_be_left_out() -> None:
    """Gemini unrolls definitions that lead back to themselves, in properties that are not required."""
    result = rewritten(TREE, "google", Work(), of_tool=True)
    node = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "inside": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        },
        "required": ["name"],
        "description": 'Constraint: required ["inside"]',
    }
    assert result.schema == {
        "type": "object",
        "properties": {"tree": node},
        "required": ["tree"],
        "$defs": {"node": node},
    }
    assert result.relaxed == ("required",)


@table(
    "back",
    [
        {"$ref": "#"},
        {"anyOf": [{"type": "null"}, {"$ref": "#"}]},
        {"prefixItems": [{"$ref": "#"}], "type": "array"},
        {"type": "object", "additionalProperties": {"$ref": "#"}},
        {
            "type": "object",
            "properties": {"y": {"$ref": "#"}},
            "required": ["y"],
            "additionalProperties": False,
        },
    ],
)
def test_all_ways_back_are_found(back: Any) -> None:
    schema = {"type": "object", "properties": {"x": back, "z": {"type": "object", "properties": {"x": back}}}}
    result = rewritten(schema | {"required": ["x", "z"]}, "google", Work(), of_tool=True)
    assert result.incompatible_features == ()
    assert "required" in result.relaxed
    assert result.schema["required"] in (["z"], ["x", "z"])


def test_an_answer_is_closed_and_of_what_a_grammar_can_be_made_of() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": ["integer", "null"], "minimum": 1}, "k": {"const": "a"}},
        "required": ["n", "k"],
    }
    result = rewritten(schema, "anthropic", Work(), of_tool=False)
    assert result.schema == {
        "type": "object",
        "properties": {
            "n": {"anyOf": [{"type": "integer", "description": "Constraint: minimum 1"}, {"type": "null"}]},
            "k": {"type": "string", "enum": ["a"]},
        },
        "required": ["n", "k"],
        "additionalProperties": False,
    }
    assert rewritten(
        {"type": "array", "items": {"type": "object"}}, "anthropic", Work(), of_tool=False
    ).incompatible_features == ("additionalProperties",)


def test_a_rewriting_leaves_the_clients_schema_alone_and_comes_out_the_same_again() -> None:
    before = repr(TREE)
    assert rewritten(TREE, "google", Work(), of_tool=True) == rewritten(TREE, "google", Work(), of_tool=True)
    assert repr(TREE) == before
