"""The table vouches for nothing that the validator would refuse (S21)."""

from typing import Any

from proxy.core.schemas import metaschema
from tests.support.tables import table

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 1.5, -0.0, 10**30, "", "string", "^a", "#", "#/a", "no such type",
    [], ["a"], ["string"], ["string", "null"], ["string", "string"], ["string", 1], [1], [{}], [True], [{}, 1], [[]],
    {}, {"a": {}}, {"a": True}, {"a": 1}, {"a": ["b"]}, {"a": [1]}, {"type": 7},
]  # fmt: skip


def _valid(value: Any) -> bool:
    return next(metaschema._META.iter_errors(value), None) is None


def _keywords() -> list[str]:
    found: set[str] = set(metaschema._META.schema["properties"])
    return sorted(found)


@table("keyword", [*_keywords(), "no keyword", "x-ours"])
def test_every_keyword_with_every_kind_of_value(keyword: str) -> None:
    for value in VALUES:
        here = {keyword: value}
        if metaschema.is_right(here):
            assert _valid(here), here


def test_every_keyword_of_the_meta_schema_stands_in_one_place() -> None:
    """A new one would else be taken for one that means nothing."""
    assert {*_keywords()} == {*metaschema.KEYWORDS, *metaschema.HARD}
    assert not metaschema.HARD.keys() & metaschema.KEYWORDS.keys()


@table("value", [True, False])
def test_schemas_that_are_no_objects(value: bool) -> None:
    assert metaschema.is_right(value)


@table("value", [None, 1, "a", []])
def test_what_is_no_schema(value: Any) -> None:
    assert not metaschema.is_right(value)


@table("keyword", sorted(metaschema.KEYWORDS))
def test_what_is_right_is_not_left_to_the_validator(keyword: str) -> None:
    """Else the table would be of no use: it agrees with the validator on ordinary values."""
    for value in VALUES:
        if _valid({keyword: value}) and value not in ([], ["string", "string"], -0.0):
            assert metaschema.is_right({keyword: value}), value


@table("keyword", _keywords())
def test_of_every_keyword_it_is_known_what_it_must_be(keyword: str) -> None:
    """And of what is inside it, where something may be: the validator's own words tell nobody what to do."""
    for value in VALUES:
        error = next(metaschema._META.iter_errors({keyword: value}), None)
        if error is not None:
            assert metaschema.wanted(tuple(error.absolute_path))
