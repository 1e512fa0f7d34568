"""C01: from a body to a request, the whole of it."""

from proxy.core.model import ChoiceMode, Request, Result, Role, ToolChoice, ToolName, ToolSpec
from proxy.core.surfaces.chat.decode import ChatRequest
from tests.support.chat_asks import HI, OBJECT, assistant, called, chat, refused, returned, tool
from tests.support.responses_asks import called as said_call
from tests.support.tables import table


def test_the_least_request():
    """Everything else has a default."""
    assert chat() == ChatRequest(Request(model="m", turns=[(Role.USER, ["Hi"])]))


def test_a_second_turn_as_agents_send_it():
    """C01: with all that their libraries spell out."""
    asked = chat(
        messages=[
            {"role": "system", "content": "Be brief.", "name": None},
            HI | {"tool_calls": None, "tool_call_id": None},
            assistant(called(), content=None, refusal=None, audio=None, function_call=None, annotations=[]),
            returned(name="weather"),
        ],
        tools=[tool()],
        tool_choice="auto",
        stream=True,
        stream_options={"include_usage": True},
        max_tokens=8192,
        temperature=0,
        user="ann",
        metadata={"a": "b"},
        top_k=40,
    )
    request = asked.request
    assert request.turns[1:] == [
        (Role.USER, ["Hi"]),
        (Role.ASSISTANT, [said_call("a")]),
        (Role.TOOL, [Result("a", ["sunny"])]),
    ]
    assert request.tools == [ToolSpec(ToolName("weather"), parameters=OBJECT)]
    assert request.choice == ToolChoice(ChoiceMode.AUTO)
    assert (asked.include_usage, asked.legacy_functions, request.parallel_calls) == (True, False, True)


@table(("field", "name"), [("model", "model"), ("messages", "messages")])
def test_what_must_be_there(field, name):
    """C04."""
    fault = refused(**{field: None})
    assert (fault.param, fault.code) == (name, "missing_required_parameter")
