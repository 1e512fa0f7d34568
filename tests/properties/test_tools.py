"""Names, custom inputs and schemas, for whatever clients declare."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proxy.core.errors import ClientFault
from proxy.core.model import ToolKind, ToolName, ToolSpec
from proxy.core.schemas import loosening, validity
from proxy.core.tools.kinds import custom
from proxy.core.tools.names import NameTable
from proxy.core.work import Work

VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")

any_tool = st.builds(
    ToolName,
    st.one_of(st.text(max_size=70), st.sampled_from(["a", "b", "a__b", "x" * 64, "x" * 65, "\ud800"])),
    st.one_of(st.none(), st.sampled_from(["a", "a__b", "ns.1"])),
)
keys = st.lists(st.tuples(any_tool, st.sampled_from(ToolKind)), unique=True, max_size=12)


@given(declared=keys, history=keys)
def test_the_names_are_valid_and_a_bijection(
    declared: list[tuple[ToolName, ToolKind]], history: list[tuple[ToolName, ToolKind]]
) -> None:
    names = NameTable([ToolSpec(tool, kind) for tool, kind in declared])
    for tool, kind in declared:
        upstream = names.upstream(tool, kind)
        assert VALID.fullmatch(upstream)
        assert names.client(upstream) == (tool, kind)
    for tool, kind in history:
        upstream = names.upstream(tool, kind)
        assert VALID.fullmatch(upstream)
        assert names.client(upstream)[0] == tool


@given(st.text())
def test_wrapping_and_unwrapping_lose_nothing(text: str) -> None:
    """But for a fence or a shell command around it all, which are taken off on purpose."""
    if "```" not in text and "~~~" not in text and "apply_patch" not in text:
        assert custom.unwrap(custom.wrap(text)) == text


@given(st.text())
def test_unwrapping_never_raises(arguments: str) -> None:
    assert isinstance(custom.unwrap(arguments), str)


WORDS = ["type", "properties", "items", "required", "enum", "anyOf", "minLength", "minimum", "$ref", "x"]
any_schema = st.recursive(
    st.one_of(st.sampled_from(["object", "string", "#", 0, -1, 1.5, True]), st.just([])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(WORDS), inner, max_size=3)
    ),
    max_leaves=12,
).filter(lambda value: isinstance(value, dict))


@given(any_schema)
def test_taken_level_by_level_the_meta_schema_judges_as_the_whole_one_does(candidate: dict[str, Any]) -> None:
    mended = loosening.plain(candidate)
    try:
        validity.check_schema(candidate, "p", Work())
        accepted = True
    except ClientFault:
        accepted = False
    assert accepted == Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(mended)
