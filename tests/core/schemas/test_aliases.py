"""Names of properties that a provider refuses go out and come back; whatever else is in a schema or a text stays."""

from typing import Any

from proxy.core.schemas.aliases import aliased, renamed
from tests.support.tables import table


def alias_of(name: str, **others: Any) -> str:
    _, names = aliased({"properties": {name: {}, **others}})
    ((alias, original),) = names.items()
    assert original == name
    return alias


def test_plain_names_stay() -> None:
    schema = {"properties": {"a.b-c_D9": {"properties": {"x": {}}}}, "required": ["a.b-c_D9"]}
    assert aliased(schema) == (schema, {})


@table(
    ("name", "stem"),
    [
        ("$filter", "filter_"),
        ("@odata.type", "odata_type_"),
        ("Größe", "Gr_e_"),
        ("城市", "property_"),
        ("", "property_"),
        ("\ud800", "property_"),
        ("x" * 65, "x" * 40 + "_"),
    ],
)
def test_an_alias_is_readable_short_and_always_the_same(name: str, stem: str) -> None:
    alias = alias_of(name)
    assert alias.startswith(stem)
    assert len(alias) == len(stem) + 8
    assert alias == alias_of(name, other={})


def test_an_alias_is_never_a_name_that_there_is() -> None:
    taken = alias_of("$filter")
    assert alias_of("$filter", **{taken: {}}) not in (taken, "$filter")


def test_the_same_name_has_one_alias_wherever_it_stands() -> None:
    schema = {
        "type": "object",
        "properties": {
            "$filter": {"type": "string", "description": "Which."},
            "x": {"items": {"properties": {"$filter": {}}}},
        },
        "required": ["$filter", "x"],
        "dependentRequired": {"$filter": ["x"], "x": ["$filter"]},
        "dependentSchemas": {"$filter": {"required": ["$filter"]}},
        "default": {"$filter": "$filter"},
    }
    alias = alias_of("$filter")
    assert aliased(schema) == (
        {
            "type": "object",
            "properties": {
                alias: {"type": "string", "description": "`$filter`: Which."},
                "x": {"items": {"properties": {alias: {"description": "`$filter`"}}}},
            },
            "required": [alias, "x"],
            "dependentRequired": {alias: ["x"], "x": [alias]},
            "dependentSchemas": {alias: {"required": [alias]}},
            "default": {alias: "$filter"},
        },
        {alias: "$filter"},
    )


@table("judge", [{"patternProperties": {"^[$]": {}}}, {"propertyNames": {"maxLength": 9}}])
def test_what_judges_names_would_judge_an_alias(judge: dict[str, Any]) -> None:
    schema = {"properties": {"x": {"properties": {"$filter": {}}} | judge, "$filter": {}, "$top": {}}}
    assert list(aliased(schema)[1].values()) == ["$top"]


@table(
    ("text", "expected"),
    [
        ('{"a": 1.0, "b" : "a"}', '{"$a": 1.0, "b" : "a"}'),
        ('{"x":{"a":["a",{"a":null}]}}', '{"x":{"$a":["a",{"$a":null}]}}'),
        ('{"\\u0061":1}', '{"$a":1}'),
        ('{"k": "\\", \\"a\\": 1", "a" :2}', '{"k": "\\", \\"a\\": 1", "$a" :2}'),
        ('{"a":1,"k":"cut \\"a\\": \\"', '{"$a":1,"k":"cut \\"a\\": \\"'),
        ('{"a":1,"k":"cut\\', '{"$a":1,"k":"cut\\'),
        ('{"a\\x":1, "a":2}', '{"a\\x":1, "$a":2}'),
        ("no JSON", "no JSON"),
        ("", ""),
    ],
)
def test_only_keys_change(text: str, expected: str) -> None:
    assert renamed(text, {"a": "$a"}) == expected


def test_a_long_cut_string_is_read_once() -> None:
    text = '{"k":"' + '\\"' * 200_000
    assert renamed(text, {"a": "$a"}) == text
