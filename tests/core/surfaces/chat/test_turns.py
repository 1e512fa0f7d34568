"""C02: calls in a chat's history, in the present form and in the one before there were tools."""

from proxy.core.ledger import Ledger
from proxy.core.model import Call, Result, ToolKind, ToolName
from tests.support.chat_asks import HI, assistant, called, refused, returned, turns
from tests.support.responses_asks import called as said_call
from tests.support.responses_asks import spoken
from tests.support.tables import table

PATCH = {"id": "p", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}


def old_call(name="weather", arguments="{}"):
    return {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": arguments}}


def old_result(name="weather", content="sunny"):
    return {"role": "function", "name": name, "content": content}


@table(
    ("call", "expected"),
    [
        (called(arguments='{"city": "Oslo"'), said_call("a", arguments='{"city": "Oslo"')),
        (called(arguments=""), said_call("a", arguments="")),
        (called(arguments=None), said_call("a", arguments="")),
        (called(arguments={"b": 1, "a": 2}), said_call("a", arguments='{"b":1,"a":2}')),
        (called(type=None), said_call("a")),
        (called(index=0), said_call("a")),
        (called(""), said_call("call_1")),
        (PATCH, Call("p", ToolName("patch"), ToolKind.CUSTOM, "*** Begin")),
    ],
)
def test_a_call_is_what_the_model_wrote(call, expected):
    """Broken arguments too: they are told as they were."""
    _, said, _ = turns(HI, assistant(call))
    assert said[1] == [expected]


@table(
    ("call", "place"),
    [
        (called(None), ".id"),
        (called(5), ".id"),
        (called(type="web_search"), ".type"),
        (called(type=5), ".type"),
        (called(function=None), ".function"),
        (called(function="f"), ".function"),
        (called(name=None), ".function.name"),
        (called(name=""), ".function.name"),
        (called(arguments=5), ".function.arguments"),
        (called(arguments=[]), ".function.arguments"),
        (PATCH | {"custom": None}, ".custom"),
        (PATCH | {"custom": {"input": "x"}}, ".custom.name"),
        (PATCH | {"custom": {"name": "p", "input": []}}, ".custom.input"),
    ],
)
def test_a_call_that_cannot_be_read_is_refused_where_it_is_wrong(call, place):
    """C02."""
    fault = refused(messages=[HI, assistant(called("first"), call)])
    assert fault.param == f"messages[1].tool_calls[1]{place}"


def test_the_old_form_is_understood():
    """Its calls get ids from their places: the same in every request of a conversation."""
    said = turns(
        HI,
        old_call(),
        old_result(),
        assistant(content="Sunny."),
        HI,
        old_call("clock"),
        old_result("clock", "noon"),
    )
    assert spoken(*said[1:3], *said[5:]) == [
        ("assistant", [said_call("function_call_1")]),
        ("tool", [Result("function_call_1", ["sunny"])]),
        ("assistant", [said_call("function_call_5", "clock")]),
        ("tool", [Result("function_call_5", ["noon"])]),
    ]


def test_the_newest_call_of_a_name_is_answered():
    said = turns(HI, old_call(arguments="1"), HI, old_call(arguments="2"), old_result(content="two"))
    assert said[-1][1] == [Result("function_call_3", ["two"])]


@table(
    ("said", "param"),
    [
        ([old_result()], "messages[0].name"),
        ([HI, old_call("clock"), old_result()], "messages[2].name"),
        ([HI, old_call(), old_result(), old_result()], "messages[3].name"),
        ([HI, old_result(), old_call()], "messages[1].name"),
        ([HI, old_call(), {"role": "function", "content": "x"}], "messages[2].name"),
        ([HI, old_call(), old_result(content=None)], "messages[2].content"),
        ([HI, assistant(called()), old_result()], "messages[2].name"),
        ([HI, assistant(content=None, function_call=5)], "messages[1].function_call"),
        ([HI, old_call(None)], "messages[1].function_call.name"),
        ([HI, old_call(arguments=5)], "messages[1].function_call.arguments"),
    ],
)
def test_the_old_form_has_the_same_rules(said, param):
    """C02: what is answered was asked before."""
    fault = refused(messages=said)
    assert fault.param == param


def test_the_roles_are_named_when_one_is_not_among_them():
    """C01."""
    message = refused(messages=[{"role": "bot", "content": "x"}]).message
    assert message == (
        "messages[0].role must be one of system, developer, user, assistant, tool, function, got 'bot'."
    )


def test_results_keep_their_calls_whatever_comes_between():
    """C02: order is kept; each result follows its call."""
    said = turns(HI, assistant(called("a"), called("b")), returned("a", "A"), HI, returned("b", "B"))
    assert [role for role, _ in said] == ["user", "assistant", "tool", "user"]
    assert said[2][1] == [Result("a", ["A"]), Result("b", ["B"])]


def test_the_id_of_a_call_where_none_is_answered_is_ignored_with_a_warning():
    """C02"""
    ledger = Ledger()
    assert turns(HI | {"tool_call_id": "a"}, ledger=ledger) == turns(HI)
    assert ledger.warnings == ["tool_call_id was ignored in messages whose role is not tool."]
