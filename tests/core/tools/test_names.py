"""S22: every tool has one upstream name of `[A-Za-z0-9_-]{1,64}`, no two the same, and the way back is exact."""

import pytest

from proxy.core.model import ToolKind, ToolName, ToolSpec
from proxy.core.tools.names import NameTable
from tests.support.tables import table


def spec(name: str, namespace: str | None = None, kind: ToolKind = ToolKind.FUNCTION) -> ToolSpec:
    return ToolSpec(ToolName(name, namespace), kind)


def names_of(*specs: ToolSpec, only: frozenset[ToolName] | None = None) -> NameTable:
    return NameTable(specs, only)


@table("name", ["get_weather", "a-b", "9", "x" * 64])
def test_a_plain_valid_name_stays_as_it_is(name: str) -> None:
    assert names_of(spec(name)).upstream(ToolName(name)) == name


@table(
    ("tool", "upstream"),
    [
        (ToolName("read", "mcp__files"), "mcp__files__read"),
        (ToolName("read file", "mcp.files"), "mcp_files__read_file"),
        (ToolName("größe"), "gr__e"),
        (ToolName(""), "_"),
    ],
)
def test_namespaces_are_joined_and_foreign_characters_replaced(tool: ToolName, upstream: str) -> None:
    names = NameTable([ToolSpec(tool)])
    assert names.upstream(tool) == upstream
    assert names.client(upstream) == (tool, ToolKind.FUNCTION)


def test_a_long_name_is_cut_and_told_apart_by_a_hash() -> None:
    first, second = ToolName("x" * 80 + "1", "ns"), ToolName("x" * 80 + "2", "ns")
    names = NameTable([ToolSpec(first), ToolSpec(second)])
    assert names.upstream(first) != names.upstream(second)
    assert {len(names.upstream(tool)) for tool in (first, second)} == {64}
    assert names.upstream(first).startswith("ns__xxx")


def test_a_plain_name_is_never_taken_by_a_namespaced_one_declared_before_it() -> None:
    names = names_of(spec("b", "a"), spec("a__b"))
    assert names.upstream(ToolName("a__b")) == "a__b"
    assert names.upstream(ToolName("b", "a")) != "a__b"
    assert names.client(names.upstream(ToolName("b", "a"))) == (ToolName("b", "a"), ToolKind.FUNCTION)


def test_one_name_of_two_kinds_is_two_tools() -> None:
    names = names_of(spec("exec"), spec("exec", kind=ToolKind.CUSTOM))
    function, custom = (
        names.upstream(ToolName("exec"), kind) for kind in (ToolKind.FUNCTION, ToolKind.CUSTOM)
    )
    assert function == "exec"
    assert names.client(custom) == (ToolName("exec"), ToolKind.CUSTOM)


def test_the_same_tool_twice_is_one() -> None:
    names = names_of(spec("a"), spec("a"))
    assert names.upstream(ToolName("a")) == "a"
    assert not names.declared(names.upstream(ToolName("b", "a")))


def test_a_history_that_remembers_another_kind_means_the_declared_tool() -> None:
    assert (
        names_of(spec("exec", kind=ToolKind.CUSTOM)).upstream(ToolName("exec"), ToolKind.FUNCTION) == "exec"
    )


def test_names_do_not_depend_on_what_is_declared_after_them() -> None:
    """Prompt caches begin with the tools."""
    few = [spec("read", "a"), spec("x" * 90), spec("y.z")]
    before, after = NameTable(few), NameTable([*few, spec("new", "b"), spec("new")])
    assert [before.upstream(each.tool) for each in few] == [after.upstream(each.tool) for each in few]


def test_a_tool_of_the_history_gets_a_name_though_it_is_not_declared() -> None:
    names = names_of(spec("a__b"))
    old = names.upstream(ToolName("b", "a"), ToolKind.CUSTOM)
    assert old != "a__b"
    assert not names.declared(old)
    assert names.client(old) == (ToolName("b", "a"), ToolKind.CUSTOM)
    assert names.upstream(ToolName("b", "a"), ToolKind.CUSTOM) == old


def test_a_name_nobody_has_heard_of_is_a_function_as_it_stands() -> None:
    assert names_of(spec("a")).client("rm -rf") == (ToolName("rm -rf"), ToolKind.FUNCTION)


def test_a_name_in_pieces_is_settled_when_no_longer_declared_one_can_follow() -> None:
    names = names_of(spec("get"), spec("get_weather"))
    assert [names.settled(name) for name in ("g", "get", "get_weather", "get_weathers")] == [
        False,
        False,
        True,
        False,
    ]


@table(
    ("only", "permitted"),
    [(None, {"a", "b", "x"}), (frozenset({ToolName("a")}), {"a"}), (frozenset(), set())],
)
def test_permits_only_what_the_choice_leaves(only: frozenset[ToolName] | None, permitted: set[str]) -> None:
    names = names_of(spec("a"), spec("b"), only=only)
    assert {name for name in ("a", "b", "x") if names.permits(name)} == permitted


def test_should_even_the_hashes_agree_the_next_round_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash of no digits agrees always; with rounds the names still differ, without them this would not end."""
    monkeypatch.setattr("proxy.core.tools.names.HASH_DIGITS", 2)
    long = [ToolName("x" * 70 + str(number)) for number in range(200)]
    names = NameTable([ToolSpec(tool) for tool in long])
    assert len({names.upstream(tool) for tool in long}) == len(long)


def test_the_space_of_plain_tools_adds_nothing_to_their_names() -> None:
    """Codex's smallest tool list puts `exec` into the namespace `functions`, and its models call it `exec`."""
    tool = ToolName("exec", "functions")
    names = NameTable([ToolSpec(tool), ToolSpec(ToolName("exec", "mcp"))])
    assert names.upstream(tool) == "exec"
    assert names.client("exec") == (tool, ToolKind.FUNCTION)
    assert names.upstream(ToolName("exec", "mcp")) == "mcp__exec"


@table(
    ("name", "upstream"),
    [("get", "get"), ("_a", "_a"), ("9", "_9"), ("-a", "_-a"), ("é", "_"), ("x" * 64, "x" * 64), ("", "_")],
)
def test_where_names_begin_with_a_letter_one_is_put_before_others(name: str, upstream: str) -> None:
    """P01: Gemini's rule."""
    names = NameTable([spec(name)], form="letter_first")
    assert names.upstream(ToolName(name)) == upstream
    assert names.client(upstream) == (ToolName(name), ToolKind.FUNCTION)


def test_a_letter_put_before_takes_nobodys_name_and_no_place_beyond_the_limit() -> None:
    names = NameTable([spec("9"), spec("_9"), spec("9" * 64)], form="letter_first")
    assert names.upstream(ToolName("_9")) == "_9"
    assert names.upstream(ToolName("9")).startswith("_9_")
    assert len(names.upstream(ToolName("9" * 64))) == 64
    assert names.upstream(ToolName("9" * 64)).startswith("_999")


def test_v47_a_call_that_is_not_permitted_is_told_with_what_is() -> None:
    tools = [spec("get_weather"), spec("other", "ns"), *(spec(f"f{number}") for number in range(4))]
    none = NameTable(tools, ())
    assert none.forbids("get_weather") == "The model called 'get_weather', which tool_choice none forbids."
    one = NameTable(tools, {ToolName("other", "ns")})
    assert one.forbids("get_weather") == (
        "The model called 'get_weather', but tool_choice allows only 'ns__other'."
    )
    many = NameTable(tools, {each.tool for each in tools[1:]})
    assert many.forbids("launch").endswith("allows only 'f0', 'f1', 'f2' and 2 more.")
