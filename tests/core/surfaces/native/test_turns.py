"""N03–N05: calls and results in a history of the native surface."""

import pytest

from proxy.core.model import Reasoning, Result, Text
from proxy.core.surfaces.memory.call_ids import MAX_ID, CallMaps
from tests.support.chat_asks import HI, SIGNER, assistant, called, native, native_refused, returned
from tests.support.responses_asks import called as said_call
from tests.support.tables import table


def turns(*messages):
    return native(messages=list(messages)).request.turns


CALL = assistant(called(arguments={"city": "Oslo"}))


def test_arguments_come_back_as_the_object_they_were_given_as():
    """N04: in the same order, and exactly."""
    wild = {"z": 1, "a": [1.5, None, "é"], "n": 10**30}
    _, said, _ = turns(HI, assistant(called(arguments=wild)))
    assert said[1] == [said_call("a", arguments='{"z":1,"a":[1.5,null,"é"],"n":' + "1" + "0" * 30 + "}")]


@table(
    ("content", "text"),
    [
        ("sunny", "sunny"),
        ("", ""),
        ({"sky": "blue", "°C": 21.5}, '{"sky":"blue","°C":21.5}'),
        ([1, {"type": "text", "text": "x"}], '[1,{"type":"text","text":"x"}]'),
        (21, "21"),
        (False, "false"),
        (None, "null"),
    ],
)
def test_a_result_is_text_or_any_json(content, text):
    """N05: serialised for the backend."""
    assert turns(HI, CALL, returned(content=content))[-1][1] == [Result("a", [text])]


@table(("flag", "failed"), [(True, True), (False, False), (None, None)])
def test_a_result_may_say_that_the_tool_failed(flag, failed):
    """N05."""
    assert turns(HI, CALL, returned(is_error=flag))[-1][1] == [Result("a", ["sunny"], failed)]


@table("name", [None, "weather"])
def test_the_name_is_found_in_the_history(name):
    """N05: given, it must be the one that is found."""
    assert turns(HI, CALL, returned(name=name))[-1][1] == [Result("a", ["sunny"])]


@table(
    ("said", "param"),
    [
        ([HI, assistant(called(None))], "messages[1].tool_calls[0].id"),
        ([HI, assistant(called(""))], "messages[1].tool_calls[0].id"),
        ([HI, assistant(called(5))], "messages[1].tool_calls[0].id"),
        ([HI, assistant(called("x" * (MAX_ID + 1), arguments={}))], "messages[1].tool_calls[0].id"),
        (
            [HI, assistant(called(arguments={}), called(arguments={}))],
            "messages[1].tool_calls[1].id",
        ),
        ([HI, CALL, returned(), CALL], "messages[3].tool_calls[0].id"),
        ([HI, assistant(called(type="custom"))], "messages[1].tool_calls[0].type"),
        ([HI, assistant(called(function=None))], "messages[1].tool_calls[0].function"),
        ([HI, assistant(called(function=5))], "messages[1].tool_calls[0].function"),
        ([HI, assistant(called(name=None))], "messages[1].tool_calls[0].function.name"),
        ([HI, assistant(called(name=""))], "messages[1].tool_calls[0].function.name"),
        ([HI, assistant(called(arguments=None))], "messages[1].tool_calls[0].function.arguments"),
        ([HI, assistant(called(arguments="{}"))], "messages[1].tool_calls[0].function.arguments"),
        ([HI, assistant(called(arguments=[]))], "messages[1].tool_calls[0].function.arguments"),
        ([HI, assistant(content=None)], "messages[1].content"),
        ([HI, assistant(function_call={"name": "f"})], "messages[1].function_call"),
        ([HI, assistant(content="hm", function_call={"name": "f"})], "messages[1].function_call"),
        ([HI, {"role": "function", "name": "f", "content": "x"}], "messages[1].role"),
        ([HI, CALL, {"role": "tool", "content": "x"}], "messages[2].tool_call_id"),
        ([HI, CALL, returned("")], "messages[2].tool_call_id"),
        ([HI, CALL, returned("z")], "messages[2].tool_call_id"),
        ([HI, CALL, returned("z", name="weather")], "messages[2].tool_call_id"),
        ([HI, returned(), CALL], "messages[1].tool_call_id"),
        ([HI, CALL, returned(), returned()], "messages[3].tool_call_id"),
        ([HI, CALL, returned(name="clock")], "messages[2].name"),
        ([HI, CALL, returned(name=5)], "messages[2].name"),
        ([HI, CALL, returned(is_error="yes")], "messages[2].is_error"),
        ([HI, CALL, {"role": "tool", "tool_call_id": "a"}], "messages[2].content"),
        ([HI | {"tool_call_id": "a"}], "messages[0].tool_call_id"),
    ],
)
def test_each_violation_names_its_field(said, param):
    """N02, N03, N04, N05: a result of nothing that was asked, a name that contradicts, arguments that are no object."""
    fault = native_refused(messages=said)
    assert fault.param == param
    assert fault.message.startswith(f"{param} ")


def test_a_call_of_the_old_form_is_told_its_replacement():
    """N02: even beside text, where leaving it out would go unnoticed."""
    fault = native_refused(messages=[HI, assistant(content="hm", function_call={"name": "f"})])
    assert "tool_calls" in fault.message


def test_a_contradicting_name_is_told_what_was_called():
    """N05."""
    assert native_refused(messages=[HI, CALL, returned(name="clock")]).message == (
        "messages[2].name is 'clock', but 'a' called 'weather': send that name, or none."
    )


@pytest.fixture
def maps():
    maps = CallMaps(SIGNER)
    kept = maps.fresh("")
    kept.note("a", "backend_7")
    maps.keep("ann", "", "c1", kept)
    return maps


def test_a_call_of_the_conversation_knows_its_backends_id(maps):
    """N03."""
    said = native(maps=maps, conversation_id="c1", messages=[HI, CALL, returned()]).request.turns
    assert said[1][1][0].call_id == "a"
    assert said[1][1][0].backend_id == "backend_7"


@table(
    ("said", "param"),
    [
        ([HI, assistant(called("z", arguments={})), returned("z")], "messages[1].tool_calls[0].id"),
        ([HI, assistant(called("backend_7", arguments={}))], "messages[1].tool_calls[0].id"),
        ([HI, CALL, returned("z")], "messages[2].tool_call_id"),
    ],
)
def test_an_id_outside_of_the_conversation_is_unknown(said, param, maps):
    """N03: with the way out."""
    fault = native_refused(maps=maps, conversation_id="c1", messages=said)
    assert fault.param == param
    assert "not given out in this conversation. Send tool_calls back as they came" in fault.message
    assert "or the same conversation_id" in fault.message


def test_the_models_reasoning_goes_back_here_too():
    extra = {"google": {"thought_signature": "SIG"}}
    call = called(arguments={}, extra_content=extra)
    _, said, _ = turns(HI, assistant(call, reasoning_content="Hm.", content="So."))
    assert [type(part) for part in said[1]] == [Reasoning, Text, Reasoning, type(said_call("a"))]
    assert said[1][2].extras["google"] == {"signatures": [{"signature": "SIG"}]}
