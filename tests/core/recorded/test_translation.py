"""What if the client had come by another surface? The backend is asked the same, or it is told why not."""

from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.recorded.outline import events_of
from proxy.core.recorded.recording import RecordedKnown, Recording
from proxy.core.recorded.replay import Replayed, replay
from proxy.core.recorded.translation import NoTranslation, OtherSurface, translated
from tests.support.recordings import HELLO, attempt, recording
from tests.support.replies import DONE, REQUEST, call_chunk, chunk
from tests.support.tables import table

CALL = (call_chunk(0, "call_1", "get_weather", '{"city":"Oslo"}'), chunk({}, "tool_calls"), DONE)
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "name": "get_weather", "description": "The weather.", "parameters": PARAMETERS}
CHAT_TOOL = {"type": "function", "function": {name: TOOL[name] for name in TOOL if name != "type"}}
SAMPLING = {"temperature": 0.5, "top_p": 0.9}
TALK = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city":"Rome"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "Sunny."},
        {"role": "user", "content": "And in Oslo?"},
    ],
    "tools": [TOOL],
    "tool_choice": {"type": "function", "name": "get_weather"},
    "max_output_tokens": 50,
    "parallel_tool_calls": False,
    "reasoning": {"effort": "low"},
    "user": "ann",
    **SAMPLING,
}
CHAT_TALK = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": "Sunny."},
        {"role": "user", "content": "And in Oslo?"},
    ],
    "tools": [CHAT_TOOL],
    "max_completion_tokens": 50,
    **SAMPLING,
}  # fmt: skip


def by(surface: OtherSurface, made: Recording) -> tuple[Replayed, list[str]]:
    told = translated(made, surface)
    return replay(told.recording), told.lost


def posts(again: Replayed) -> list[Any]:
    return [jsontext.loads(post) for post in again.posts]


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_with_calls_is_asked_the_same_by_chat(stream: bool) -> None:
    made = recording(TALK | {"stream": stream}, [attempt(*CALL)])
    again, lost = by("chat", made)
    assert lost == []
    assert posts(again) == posts(replay(made))
    if stream:
        chunks = [each for each in events_of(again.frames) if isinstance(each, dict)]
        assert {each["object"] for each in chunks} == {"chat.completion.chunk"}
        assert again.frames[-1] == b"data: [DONE]\n\n"
    else:
        assert again.answer is not None
        (call,) = again.answer["choices"][0]["message"]["tool_calls"]
        assert call["function"] == {"name": "get_weather", "arguments": '{"city":"Oslo"}'}


@pytest.mark.parametrize("stream", [False, True])
def test_and_the_other_way_around(stream: bool) -> None:
    made = recording(
        CHAT_TALK | {"stream": stream}, [attempt(*CALL)], surface="chat", framing="sse" if stream else None
    )
    again, lost = by("responses", made)
    assert lost == []
    assert posts(again) == posts(replay(made))
    if stream:
        assert events_of(again.frames)[0]["type"] == "response.created"
    else:
        assert again.answer is not None
        assert [item["type"] for item in again.answer["output"]] == ["function_call"]


def test_native_takes_what_is_right_there_and_refuses_the_rest_itself() -> None:
    asked = {"model": "m", "input": "Hi", "tools": [TOOL]}
    again, lost = by("native", recording(asked, [attempt(*CALL)]))
    assert (again.status, lost) == (200, [])
    assert again.answer is not None
    assert again.answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == {"city": "Oslo"}
    nameless = {name: TOOL[name] for name in TOOL if name != "description"}
    refused, _ = by("native", recording(asked | {"tools": [nameless]}, [attempt(*CALL)]))
    assert refused.status == 400
    assert refused.fault is not None
    assert "description" in refused.fault.message


def test_over_a_socket_it_is_asked_over_http() -> None:
    message = {"type": "response.create", "model": "m", "input": "Hi"}
    made = recording(jsontext.dumps(message), transport="websocket", framing="socket")
    told = translated(made, "chat").recording
    assert (told.request.transport, told.request.framing) == ("http", "sse")
    assert replay(told).frames[-1] == b"data: [DONE]\n\n"


KEPT = RecordedKnown(previous="resp_1", history=b'[{"role": "user", "content": "Before"}]')
LOST: dict[str, tuple[OtherSurface, Recording, str]] = {
    "kept": (
        "chat",
        recording(REQUEST | {"previous_response_id": "resp_1"}, conditions={"known": KEPT}),
        "written out as history",
    ),
    "warm": ("chat", recording(REQUEST | {"generate": False}), "generate"),
    "hosted": (
        "chat",
        recording(
            REQUEST | {"tools": [{"type": "web_search"}]}, conditions={"hosted_tools": ["web_search"]}
        ),
        "Tools that the backend runs itself",
    ),
    "custom": ("chat", recording(REQUEST | {"tools": [{"type": "custom", "name": "run"}]}), "no functions"),
    "namespace": (
        "chat",
        recording(
            REQUEST | {"tools": [{"type": "namespace", "name": "a", "description": "d", "tools": [TOOL]}]}
        ),
        "namespace",
    ),
    "validated": (
        "chat",
        recording(REQUEST | {"tools": [TOOL], "request_options": {"validate_tool_arguments": True}}),
        "validate_tool_arguments",
    ),
    "summary": ("chat", recording(REQUEST | {"reasoning": {"summary": "auto"}}), "summary of the thoughts"),
    "stop": (
        "responses",
        recording({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stop": ["a"], "seed": 7},
                  surface="chat"),
        "stop",
    ),
}  # fmt: skip


@table("name", LOST)
def test_what_cannot_be_said_there_is_told(name: str) -> None:
    surface, made, words = LOST[name]
    lost = translated(made, surface).lost
    assert any(words in line for line in lost), lost


def test_history_that_was_kept_goes_along() -> None:
    again, _ = by("chat", LOST["kept"][1])
    assert [message["content"] for message in posts(again)[0]["messages"]] == ["Before\n\nHi"]


@table(
    ("made", "surface"),
    [
        (recording({"model": "m", "input": "Hi"}, surface="input_tokens", framing=None), "chat"),
        (recording({"model": "m", "input": "Hi"}, surface="compact", framing=None), "native"),
        (recording(), "responses"),
    ],
)
def test_what_is_not_asked_there_is_said(made: Recording, surface: OtherSurface) -> None:
    with pytest.raises(NoTranslation):
        translated(made, surface)


def test_what_never_came_cannot_be_told() -> None:
    made = recording(attempts=[attempt(*HELLO)])
    made.request.body = None
    with pytest.raises(NoTranslation):
        translated(made, "chat")


def test_what_its_own_surface_refuses_is_refused() -> None:
    with pytest.raises(ClientFault):
        translated(recording({"model": "m", "input": 7}), "chat")
