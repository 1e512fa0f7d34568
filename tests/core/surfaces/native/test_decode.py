"""N01–N06: from a body of the native surface to a request, and the map of its call ids."""

from proxy.core.model import ChoiceMode, Request, Role, ToolChoice, ToolName
from proxy.core.surfaces.memory.call_ids import HEADER, CallMaps
from tests.support.chat_asks import (
    HI,
    SIGNER,
    assistant,
    called,
    native,
    native_refused,
    native_tool,
    refused,
    returned,
)
from tests.support.tables import table

LOOP = [HI, assistant(called(arguments={})), returned()]


def test_the_least_request():
    asked = native()
    assert asked.request == Request(model="m", turns=[(Role.USER, ["Hi"])])
    assert (asked.include_usage, asked.conversation_id) == (False, None)


def test_every_field_arrives():
    asked = native(
        tools=[native_tool()],
        tool_choice="required",
        parallel_tool_calls=False,
        stream=True,
        stream_options={"include_usage": True},
        max_tokens=9,
        request_options={"validate_tool_arguments": True},
        conversation_id="c1",
    )
    assert asked.request.choice == ToolChoice(ChoiceMode.REQUIRED)
    assert asked.request.parallel_calls is False
    assert asked.request.sampling.max_tokens == 9
    assert asked.request.validate_arguments is True
    assert (asked.include_usage, asked.conversation_id) == (True, "c1")


@table(
    ("choice", "expected"),
    [
        (None, ToolChoice()),
        ("auto", ToolChoice()),
        ("none", ToolChoice(ChoiceMode.NONE)),
        ("required", ToolChoice(ChoiceMode.REQUIRED)),
        (
            {"type": "function", "function": {"name": "weather"}},
            ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("weather")})),
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"tools": [native_tool()]}},
            ToolChoice(ChoiceMode.AUTO, frozenset({ToolName("weather")})),
        ),
    ],
)
def test_all_choices_are_equal(choice, expected):
    """N06."""
    assert native(tools=[native_tool()], tool_choice=choice).request.choice == expected


@table(
    ("choice", "param"),
    [
        ("any", "tool_choice"),
        ({"type": "any"}, "tool_choice.type"),
        ({"type": "tool", "name": "weather"}, "tool_choice.type"),
        ({"type": "function", "function": {"name": "clock"}}, "tool_choice.function.name"),
    ],
)
def test_a_choice_that_is_none_is_refused(choice, param):
    """N06."""
    assert native_refused(tools=[native_tool()], tool_choice=choice).param == param


@table(
    ("fields", "param", "instead"),
    [
        ({"functions": [{"name": "f"}]}, "functions", "tools"),
        ({"functions": []}, "functions", "tools"),
        ({"functions": {"f": 1}}, "functions", "tools"),
        ({"function_call": "auto"}, "function_call", "tool_choice"),
        ({"function_call": {"name": "f"}}, "function_call", "tool_choice"),
    ],
)
def test_the_form_before_there_were_tools_is_refused_with_its_replacement(fields, param, instead):
    """N02."""
    fault = native_refused(**fields)
    assert (fault.param, fault.code) == (param, "unsupported_value")
    assert instead in fault.message


@table(
    "fields",
    [
        {"model": ""},
        {"messages": []},
        {"temperature": 3},
        {"stream_options": {}},
        {"n": 2},
        {"tool_choice": "required"},
        {"messages": [assistant(content="")]},
    ],
)
def test_the_rules_of_the_chat_surface_hold_here_too(fields):
    """C04."""
    assert native_refused(**fields).message == refused(**fields).message


# ── the map ──


@table("conversation_id", ["", "x" * 129, "a b", "ü", "a/b", 5, "a\n"])
def test_a_conversation_id_is_short_and_safe(conversation_id):
    """N03: it is a key, and stands in logs."""
    assert native_refused(conversation_id=conversation_id).param == "conversation_id"


def keeping(ours, backends, tenant=""):
    maps = CallMaps(SIGNER)
    kept = maps.fresh("")
    kept.note(ours, backends)
    maps.keep("ann", tenant, "c1", kept)
    return maps


def test_a_conversation_is_remembered():
    """N03: what was noted in one request is known in the next."""
    maps = keeping("a", "backend_7")
    known = native(maps=maps, conversation_id="c1", messages=LOOP).call_map
    assert (known.backends("a"), known.ours("backend_7")) == ("backend_7", "a")
    assert (
        native_refused(maps=maps, conversation_id="c2", messages=LOOP).param == "messages[1].tool_calls[0].id"
    )


def test_each_tenant_has_its_own_conversations():
    maps = keeping("a", "backend_7", tenant="t1")
    assert native(maps=maps, tenant="t1", conversation_id="c1").call_map.has("a")
    assert not native(maps=maps, tenant="t2", conversation_id="c1").call_map.has("a")


def token(*pairs):
    fresh = CallMaps(SIGNER).fresh("")
    for ours, backends in pairs:
        fresh.note(ours, backends)
    return fresh.token()


@table("place", ["header", "body", "both"])
def test_a_client_may_bring_the_map_itself(place):
    """N03: no matter which proxy gave it out, and nothing is kept."""
    brought = token(("a", "backend_7"))
    headers = {HEADER: brought} if place != "body" else {}
    fields = {"_proxy": {"call_ids": brought, "warnings": []}} if place != "header" else {}
    asked = native(headers, messages=LOOP, **fields)
    assert asked.call_map.backends("a") == "backend_7"
    assert asked.request.turns[1][1][0].backend_id == "backend_7"
    unknown = [HI, assistant(called("z", arguments={}))]
    assert native_refused(headers, messages=unknown, **fields).param == "messages[1].tool_calls[0].id"


def test_a_brought_map_joins_the_kept_one():
    """A client that begins to name its conversation goes on in it."""
    maps = keeping("b", "backend_8")
    both = [HI, assistant(called("a", arguments={}), called("b", arguments={}))]
    asked = native({HEADER: token(("a", "backend_7"))}, maps, conversation_id="c1", messages=both)
    assert [part.backend_id for part in asked.request.turns[1][1]] == ["backend_7", "backend_8"]


@table(
    ("headers", "fields", "param"),
    [
        ({HEADER: "nonsense"}, {}, HEADER),
        ({HEADER: token() + "A"}, {}, HEADER),
        ({HEADER: SIGNER.summary("x")}, {}, HEADER),
        ({}, {"_proxy": {"call_ids": "nonsense"}}, "_proxy.call_ids"),
        ({}, {"_proxy": {"call_ids": 5}}, "_proxy.call_ids"),
        ({}, {"_proxy": "x"}, "_proxy"),
    ],
)
def test_a_token_that_is_not_ours_is_refused(headers, fields, param):
    """N03."""
    assert native_refused(headers, **fields).param == param


@table(
    "fields", [{"_proxy": None}, {"_proxy": {}}, {"_proxy": {"call_ids": None}}, {"_proxy": {"call_ids": ""}}]
)
def test_nothing_brought(fields):
    """N03: then the history itself says which calls there are, and its ids stay what they are."""
    asked = native({HEADER: ""}, messages=LOOP, **fields)
    assert asked.call_map.backends("a") == "a"
    assert asked.request.turns[1][1][0].backend_id is None


def test_a_history_from_elsewhere_is_in_the_first_token():
    """N03: else the second request would not know the calls of the first."""
    first = native(messages=LOOP).call_map
    first.note("b", "backend_8")
    more = [*LOOP, assistant(called("b", arguments={})), returned("b")]
    asked = native({HEADER: first.token()}, messages=more)
    assert asked.request.turns[3][1][0].backend_id == "backend_8"
