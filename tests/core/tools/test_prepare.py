"""R02: what is left of the tools once the client's choice and the backend's limits are applied."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.core.backends.profiles import PROFILES
from proxy.core.errors import ClientFault, Incompatible
from proxy.core.ledger import Ledger
from proxy.core.model import ChoiceMode, Request, ToolChoice, ToolKind, ToolName, ToolSpec
from proxy.core.profile import DEFAULT
from proxy.core.surfaces.responses.decode import decode
from proxy.core.tools.kinds import custom
from proxy.core.tools.prepare import Prepared, prepare
from proxy.core.work import MAX_GROWTH
from tests.support.tables import table

A, B, C = ToolName("a"), ToolName("b"), ToolName("c", "ns")
TOOLS = [ToolSpec(A), ToolSpec(B), ToolSpec(C)]
NONE = ToolChoice(ChoiceMode.NONE)
REQUIRED = ToolChoice(ChoiceMode.REQUIRED)
FORCED_B = ToolChoice(ChoiceMode.REQUIRED, frozenset({B}))
ONLY_A_C = ToolChoice(ChoiceMode.AUTO, frozenset({A, C}))


def prepared(
    tools: list[ToolSpec], choice: ToolChoice | None = None, ledger: Ledger | None = None, **profile: Any
) -> Prepared:
    request = Request("m", [], tools=tools, choice=choice or ToolChoice())
    return prepare(request, replace(DEFAULT, **profile), ledger or Ledger())


def names(result: Prepared) -> list[str]:
    return [tool.name for tool in result.tools]


def test_no_tools_no_list() -> None:
    assert prepared([]).tools == []


@table(
    ("choice", "force_tool", "left", "forced"),
    [
        (ToolChoice(), "object", ["a", "b", "ns__c"], None),
        (NONE, "object", ["a", "b", "ns__c"], None),
        (NONE, "required", ["a", "b", "ns__c"], None),
        (NONE, "auto", [], None),
        (REQUIRED, "object", ["a", "b", "ns__c"], None),
        (FORCED_B, "object", ["a", "b", "ns__c"], "b"),
        (FORCED_B, "required", ["b"], None),
        (FORCED_B, "any", ["b"], None),
        (FORCED_B, "auto", ["b"], None),
        (ONLY_A_C, "object", ["a", "ns__c"], None),
        (ONLY_A_C, "auto", ["a", "ns__c"], None),
        (ToolChoice(ChoiceMode.REQUIRED, frozenset({A, C})), "object", ["a", "ns__c"], None),
        (ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("x")})), "object", ["a", "b", "ns__c"], None),
    ],
)
def test_a_choice_is_told_as_strongly_as_the_backend_understands_and_kept_by_leaving_out(
    choice: ToolChoice, force_tool: str, left: list[str], forced: str | None
) -> None:
    result = prepared(TOOLS, choice, force_tool=force_tool)
    assert (names(result), result.forced, result.mode) == (left, forced, choice.mode)


@table(
    ("choice", "permitted"),
    [
        (ToolChoice(), {"a", "b", "x"}),
        (NONE, set()),
        (REQUIRED, {"a", "b", "x"}),
        (FORCED_B, {"b"}),
        (ONLY_A_C, {"a"}),
    ],
)
def test_the_names_know_at_reply_time_what_may_be_called(choice: ToolChoice, permitted: set[str]) -> None:
    result = prepared(TOOLS, choice)
    assert {name for name in ("a", "b", "x") if result.names.permits(name)} == permitted


def test_the_surplus_is_dropped_namespaced_tools_first_and_the_order_kept() -> None:
    """An agent's own tools have no namespace; those of its MCP servers do."""
    ledger = Ledger()
    tools = [ToolSpec(C), ToolSpec(A), ToolSpec(ToolName("d", "ns")), ToolSpec(B)]
    assert names(prepared(tools, ledger=ledger, max_tools=3)) == ["ns__c", "a", "b"]
    assert ledger.dropped == {"tool": 1}


def test_a_forced_tool_is_never_surplus() -> None:
    result = prepared([ToolSpec(A), ToolSpec(B)], FORCED_B, max_tools=1, force_tool="object")
    assert (names(result), result.forced) == (["b"], "b")


def test_a_backend_without_tools_refuses_requests_that_need_them() -> None:
    request = Request("m", [], tools=[ToolSpec(A, path="tools[0]")])
    with pytest.raises(ClientFault, match=r"\(perplexity\) cannot call tools") as caught:
        prepare(request, PROFILES["perplexity"], Ledger())
    assert caught.value.param == "tools"
    assert caught.value.details == {"incompatible_features": ["tools"]}


def test_a_backend_without_tools_serves_requests_that_want_none_called() -> None:
    assert prepared(TOOLS, NONE, max_tools=0, force_tool="auto").tools == []


def test_schemas_are_reduced_as_the_backend_needs() -> None:
    """G6."""
    spec = ToolSpec(A, parameters={"properties": {"x": {"type": "string", "pattern": "^a"}}}, strict=True)
    (tool,) = prepared([spec], schema=frozenset({"plain", "bounded"})).tools
    assert tool.parameters == {"type": "object", "properties": {"x": {"type": "string"}}}
    assert tool.strict is True


def test_v22_an_encoder_that_cannot_tell_what_is_strict_leaves_that_to_us() -> None:
    ledger = Ledger()
    result = prepared([ToolSpec(A), ToolSpec(B, strict=False), ToolSpec(ToolName("c", "ns"), strict=True)])
    result.drop_strict(result.tools[:2], ledger)
    assert (result.untold, ledger.dropped) == (set(), {})
    result.drop_strict(result.tools, ledger)
    assert (result.untold, ledger.dropped) == ({ToolName("c", "ns")}, {"strict": 1})


UNION = {"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object"}]}


def test_what_a_backend_cannot_be_told_of_is_refused_with_the_tools_name() -> None:
    """P02, V44: and with the names of backend and model."""
    bad = ToolSpec(
        ToolName("query", "db"), parameters=UNION | {"properties": {"x": {"$ref": "#/$defs/gone"}}}
    )
    with pytest.raises(
        Incompatible, match=r"the tool 'db__query' uses '\$ref' \(in .properties.x\), 'oneOf'"
    ) as caught:
        prepared([ToolSpec(A), bad], schema=frozenset({"plain", "anthropic"}), name="claude")
    assert "the backend (claude, model m) does not support" in caught.value.message
    assert caught.value.details == {"incompatible_features": ["$ref", "oneOf"]}
    assert (caught.value.code, caught.value.type, caught.value.status) == (
        "tool_schema_incompatible",
        "semantic_error",
        400,
    )


def test_what_a_backend_is_only_told_of_is_reported_by_tool_and_counted() -> None:
    ledger = Ledger()
    spec = ToolSpec(ToolName("9"), parameters={"properties": {"x": {"type": "string", "pattern": "^a"}}})
    result = prepared(
        [spec, ToolSpec(A)], ledger=ledger, schema=frozenset({"google"}), tool_names="letter_first"
    )
    assert result.relaxed == {"_9": ["pattern"]}
    assert ledger.dropped == {"schema:pattern": 1}
    assert ledger.warnings == [
        "The backend does not enforce parts of the schemas of these tools: 9 (pattern). "
        "Set request_options.validate_tool_arguments to have arguments checked."
    ]


def test_v47_a_reference_that_leads_nowhere_is_told_as_what_it_is() -> None:
    ledger = Ledger()
    spec = ToolSpec(A, parameters={"properties": {"x": {"$ref": "#/$defs/none"}}})
    prepared([spec], ledger=ledger)
    assert ledger.dropped == {"schema:$ref": 1}
    assert ledger.warnings == [
        "References in the parameters of a lead nowhere, or to more than can be told: the backend was told that "
        "anything fits there."
    ]


def test_names_of_properties_that_a_backend_refuses_are_told_by_tool() -> None:
    spec = ToolSpec(A, parameters={"type": "object", "properties": {"$top": {}}})
    result = prepared([spec, ToolSpec(ToolName("b"))], schema=frozenset({"anthropic"}))
    (alias,) = result.tools[0].parameters["properties"]
    assert result.aliases == {A: {alias: "$top"}}
    assert prepared([spec]).aliases == {}


def test_of_many_such_tools_the_first_are_named() -> None:
    ledger = Ledger()
    parameters = {"properties": {"x": {"type": "string", "pattern": "^a", "minLength": 1}}}
    specs = [ToolSpec(ToolName(f"t{number}", "ns"), parameters=parameters) for number in range(5)]
    prepared(specs, ledger=ledger, schema=frozenset({"google"}))
    assert ledger.dropped == {"schema:minLength": 5, "schema:pattern": 5}
    (warning,) = ledger.warnings
    assert (
        "ns__t0 (minLength, pattern), ns__t1 (minLength, pattern), ns__t2 (minLength, pattern) and 2 more."
        in warning
    )


@table("description", [None, ""])
def test_an_absent_description_stays_absent(description: str | None) -> None:
    (tool,) = prepared([ToolSpec(A, description=description)]).tools
    assert tool.description is None


def test_a_custom_tool_is_a_function_of_one_string() -> None:
    spec = ToolSpec(A, ToolKind.CUSTOM, "Edits.", grammar={"definition": "start: x"})
    result = prepared([spec])
    assert result.tools[0].parameters == custom.PARAMETERS
    assert "start: x" in (result.tools[0].description or "")
    assert result.names.client("a") == (A, ToolKind.CUSTOM)


# ── the same tools again ──


def asking(*tools: dict[str, Any], **more: Any) -> Request:
    """As a client sends it."""
    body = {"model": "m", "input": "Hi", "tools": [{"type": "function"} | tool for tool in tools]}
    return decode(body | more, Ledger())


def test_what_a_backend_is_only_told_of_is_reported_each_time() -> None:
    long = {"type": "object", "properties": {"x": {"type": "string", "minLength": 3}}}
    seen = []
    for _ in range(2):
        ledger = Ledger()
        request = asking({"name": "f", "parameters": long}, {"name": "g"})
        made = prepare(request, replace(PROFILES["openai"], max_tools=1), ledger)
        seen.append((made.tools, made.relaxed, ledger.warnings, ledger.dropped))
    assert seen[0] == seen[1]
    assert seen[0][0] is seen[1][0]
    assert seen[1][3]["tool"] == 1


def test_names_of_one_history_are_unknown_in_the_next_request() -> None:
    first, again = (prepare(asking({"name": "f"}), DEFAULT, Ledger()).names for _ in range(2))
    assert first.upstream(ToolName("g", "ns")) == "ns__g"
    assert first.client("ns__g")[0] == ToolName("g", "ns")
    assert again.client("ns__g")[0] == ToolName("ns__g")


def test_another_choice_or_profile_is_prepared_anew() -> None:
    none = asking({"name": "f"}, {"name": "g"}, tool_choice="none")
    only = asking({"name": "f"}, {"name": "g"}, tool_choice={"type": "function", "name": "g"})
    by_words = replace(DEFAULT, force_tool="auto")
    for request, profile, left in (
        (none, DEFAULT, ["f", "g"]),
        (none, by_words, []),
        (only, DEFAULT, ["f", "g"]),
        (only, by_words, ["g"]),
    ):
        assert names(prepare(request, profile, Ledger())) == left


def test_what_schemas_have_grown_by_is_spent_each_time() -> None:
    twice = {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}}}
    defined = twice | {"$defs": {"x": {"type": "string", "description": "d" * 1000}}}
    inlining = replace(DEFAULT, schema=frozenset({"plain", "inline"}))
    left = []
    for _ in range(2):
        ledger = Ledger()
        prepare(asking({"name": "f", "parameters": defined}), inlining, ledger)
        left.append(ledger.work.growth_left)
    assert left[0] == left[1] < MAX_GROWTH
