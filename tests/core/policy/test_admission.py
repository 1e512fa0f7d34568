"""P06, P07: what a tenant may declare, and what becomes of a request that declares more."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.core.errors import ClientFault, Forbidden
from proxy.core.ledger import Ledger
from proxy.core.model import Hosted, Request, ToolKind, ToolName, ToolSpec
from proxy.core.policy.admission import admit, depth
from proxy.core.surfaces.responses.decode import decode
from proxy.core.tenants import ANYBODY, Mode, Tenant, ToolLimits
from proxy.core.work import Work
from tests.support.tables import table

STRING: dict[str, Any] = {"type": "string"}


def objects(levels: int) -> dict[str, Any]:
    """The schema of so many objects inside one another."""
    schema = STRING
    for _ in range(levels):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


def tool(name: str = "f", namespace: str | None = None, **more: Any) -> ToolSpec:
    return ToolSpec(ToolName(name, namespace), **more)


def asking(*tools: ToolSpec) -> Request:
    """As the Chat API declares them."""
    placed = [replace(spec, path=f"tools[{index}].{spec.kind}") for index, spec in enumerate(tools)]
    return Request("m", [], tools=placed)


def fault_of(request: Request, tenant: Tenant = ANYBODY, *, strict: bool = True) -> ClientFault:
    with pytest.raises(ClientFault) as raised:
        admit(request, tenant, strict=strict, ledger=Ledger())
    assert len(raised.value.message) <= 250
    return raised.value


def warnings_of(request: Request, tenant: Tenant = ANYBODY) -> list[str]:
    return ledger_of(request, tenant).warnings


def ledger_of(request: Request, tenant: Tenant = ANYBODY, *, strict: bool = False) -> Ledger:
    ledger = Ledger()
    admit(request, tenant, strict=strict, ledger=ledger)
    return ledger


AT_THE_LIMIT = asking(
    tool("n" * 64, description="d" * 1024, parameters=objects(5)),
    *(tool(f"f{number}", "ns") for number in range(127)),
)

BREACHES = [
    (
        asking(*(tool(f"f{number}") for number in range(129))),
        "tools",
        "tools declares 129 tools, more than 128",
    ),
    (
        asking(tool(), tool(), tool(description="d" * 1025)),
        "tools[2].function.description",
        "of the tool 'f' is longer than 1024 characters",
    ),
    (
        asking(tool("g", "ns", kind=ToolKind.CUSTOM, description="d" * 1025)),
        "tools[0].custom.description",
        "of the tool 'ns.g' is longer than 1024",
    ),
    (asking(tool(parameters=objects(6))), "tools[0].function.parameters", "more than 5 levels"),
]


def test_p06_what_keeps_to_the_limits_is_admitted_in_silence() -> None:
    ledger = ledger_of(AT_THE_LIMIT, strict=True)
    assert not ledger.warnings
    assert not ledger.facts


@table(("request_", "param", "complaint"), BREACHES)
def test_p06_a_strict_surface_refuses_what_breaks_a_limit_and_names_the_field(
    request_: Request, param: str, complaint: str
) -> None:
    fault = fault_of(request_)
    assert (fault.status, fault.param) == (400, param)
    assert fault.code in {"tool_limit_exceeded", "array_above_max_length"}
    assert fault.message.startswith(param)
    assert complaint in fault.message
    assert fault.message.endswith(
        (
            " Send fewer: 128 is the most there is.",
            " Shorten it, or raise limits.description_characters (at most 4096).",
            " Flatten them, or raise limits.schema_depth (at most 10).",
        )
    )


@table(("request_", "param", "complaint"), BREACHES)
def test_p06_the_other_surfaces_warn(request_: Request, param: str, complaint: str) -> None:
    ledger = ledger_of(request_)
    (warning,) = ledger.warnings
    assert complaint in warning
    assert "." not in warning.removeprefix(param).removesuffix(".").replace("ns.g", ""), "no order follows"
    assert ledger.facts == {"over_limits": 1}


@table(("request_", "param", "complaint"), BREACHES)
def test_p06_a_tenant_may_be_spared_all_of_it(request_: Request, param: str, complaint: str) -> None:
    ledger = ledger_of(request_, Tenant("t", limits_mode=Mode.OFF), strict=True)
    assert not ledger.warnings
    assert not ledger.facts


@table(("request_", "param", "complaint"), BREACHES)
def test_p06_a_tenant_may_be_held_to_it_anywhere(request_: Request, param: str, complaint: str) -> None:
    assert fault_of(request_, Tenant("t", limits_mode=Mode.ENFORCE), strict=False).param == param


def test_p06_a_tenants_own_limits_count() -> None:
    tenant = Tenant("t", limits=ToolLimits(description_characters=4096, schema_depth=6))
    admit(asking(tool(description="d" * 4096, parameters=objects(6))), tenant, strict=True, ledger=Ledger())
    assert fault_of(asking(tool(description="d" * 4097)), tenant).message.endswith(
        "is longer than 4096 characters. Shorten it: 4096 is the most there is."
    )


STRICT = Request("m", [], tools=[tool(strict=True)], strict_alone=True)


@table(
    ("request_", "mode", "parallel", "warned"),
    [
        (replace(STRICT, parallel_wanted=True), Mode.WARN, True, True),
        (replace(STRICT, parallel_wanted=True), Mode.OFF, True, False),
        (STRICT, Mode.WARN, True, False),
        (STRICT, Mode.ENFORCE, False, False),
        (replace(STRICT, parallel_calls=False), Mode.ENFORCE, False, False),
        (replace(STRICT, strict_alone=False, parallel_wanted=True), Mode.ENFORCE, True, False),
    ],
)
def test_c03_v04_the_clients_word_goes_on_beside_a_strict_tool_where_nothing_is_enforced(
    request_: Request, mode: Mode, parallel: bool, warned: bool
) -> None:
    request = replace(request_)
    ledger = ledger_of(request, Tenant("t", limits_mode=mode))
    assert request.parallel_calls is parallel
    assert bool(ledger.warnings) is warned
    assert ledger.facts == ({"strict_in_parallel": 1} if warned else {})


def test_c03_v04_where_limits_are_enforced_it_is_refused() -> None:
    fault = fault_of(replace(STRICT, parallel_wanted=True), Tenant("t", limits_mode=Mode.ENFORCE))
    assert (fault.code, fault.param) == ("invalid_value", "parallel_tool_calls")
    assert fault.message.endswith("Set it to false, or leave it out.")


def test_p06_of_many_warnings_the_first_are_told_and_all_are_counted() -> None:
    """An agent's hundred tools may all be described at length."""
    ledger = ledger_of(asking(*(tool(f"f{number}", description="d" * 2000) for number in range(100))))
    assert len(ledger.warnings) == 4
    assert "f0" in ledger.warnings[0]
    assert ledger.warnings[3] == "And 97 more like it."
    assert ledger.facts == {"over_limits": 100}


@table(
    ("schema", "levels"),
    [
        ({}, 0),
        (STRING, 0),
        ({"type": "object", "properties": {}}, 0),
        (objects(1), 1),
        (objects(7), 7),
        ({"type": "array", "items": STRING}, 1),
        ({"items": {"items": {"properties": {"a": STRING, "b": objects(1)}}}}, 4),
        ({"additionalProperties": objects(1)}, 2),
        ({"additionalProperties": False}, 0),
        ({"prefixItems": [STRING, objects(2)]}, 3),
        ({"patternProperties": {"^x": objects(1)}}, 2),
        ({"anyOf": [objects(1), objects(3)]}, 3),
        ({"$defs": {"node": objects(2)}, "properties": {"a": {"$ref": "#/$defs/node"}}}, 2),
        ({"properties": {"properties": STRING, "items": STRING}}, 1),
        ({"default": {"properties": {"properties": {"properties": {}}}}}, 0),
        ({"properties": {"default": objects(1)}}, 2),
        ({"properties": {"a": True}}, 1),
        ({"$defs": {"items": STRING}}, 0),
        ({"items": [STRING, objects(1)]}, 2),
        ({"x-remarks": {"properties": 5, "items": "none", "$defs": []}}, 0),
        (objects(3) | {"description": "d" * 100_000}, 3),
    ],
)
def test_p06_the_depth_of_a_schema_is_that_of_the_arguments_it_describes(
    schema: dict[str, Any], levels: int
) -> None:
    assert depth(schema, Work()) == levels


ALLOWED = Tenant("t", tool_allowlist=("get_weather", "mcp__docs.*", "read_?ile"))


@table(
    "spec",
    [
        tool("get_weather"),
        tool("get_weather", "functions"),
        tool("search", "mcp__docs"),
        tool("read_file"),
        tool("get_weather", kind=ToolKind.CUSTOM),
    ],
)
def test_p07_a_tool_is_allowed_by_its_name_with_or_without_its_namespace(spec: ToolSpec) -> None:
    assert not warnings_of(asking(spec), ALLOWED)


@table(
    "spec",
    [
        tool("get_weather2"),
        tool("xget_weather"),
        tool("GET_WEATHER"),
        tool("search"),
        tool("search", "mcp__mail"),
        tool("read_files"),
    ],
)
def test_p07_any_other_tool_is_refused_by_its_place_and_name(spec: ToolSpec) -> None:
    fault = fault_of(asking(tool("get_weather"), spec), ALLOWED, strict=False)
    assert isinstance(fault, Forbidden)
    assert (fault.status, fault.code, fault.param) == (403, "tool_not_allowed", "tools[1].function.name")
    assert fault.message.startswith("tools[1].function.name: ")
    assert spec.tool.name in fault.message


def test_p07_an_empty_list_allows_nothing_and_none_everything() -> None:
    assert fault_of(asking(tool()), Tenant("t", tool_allowlist=())).code == "tool_not_allowed"
    assert not warnings_of(asking(tool()), Tenant("t", tool_allowlist=None))
    assert not warnings_of(asking(), Tenant("t", tool_allowlist=()))


def test_p07_a_list_may_only_warn_or_be_switched_off() -> None:
    request = asking(tool("a"), tool("b"))
    ledger = ledger_of(request, replace(ALLOWED, tool_allowlist_mode=Mode.WARN))
    assert [warning.split(":")[0] for warning in ledger.warnings] == [
        "tools[0].function.name",
        "tools[1].function.name",
    ]
    assert ledger.facts == {"tools_not_allowed": 2}
    assert not warnings_of(request, replace(ALLOWED, tool_allowlist_mode=Mode.OFF))


def test_p07_tools_of_the_backend_are_listed_by_type_and_label() -> None:
    mcp = {"type": "mcp", "server_label": "docs"}
    tenant = replace(ANYBODY, tool_allowlist=("web_search", "mcp.docs"))
    request = Request("m", [], hosted=Hosted([{"type": "web_search"}, mcp]))
    admit(request, tenant, strict=False, ledger=Ledger())
    admit(request, ANYBODY, strict=False, ledger=Ledger())
    for other in ({"type": "mcp"}, {"type": "mcp", "server_label": "mail"}, {"type": "image_generation"}):
        fault = fault_of(Request("m", [], hosted=Hosted([other])), tenant)
        assert (fault.code, fault.param) == ("tool_not_allowed", "tools")


def test_p06_tools_that_come_again_are_judged_by_the_limits_of_who_asks() -> None:
    body = {
        "model": "m",
        "input": "Hi",
        "tools": [{"type": "function", "name": "f", "description": "d" * 30}],
    }
    narrow = Tenant("narrow", limits=ToolLimits(description_characters=20))
    for _ in range(2):
        request = decode(body, Ledger())
        assert warnings_of(request) == []
        assert len(warnings_of(request, narrow)) == 1
