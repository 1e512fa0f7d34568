import pytest

from proxy.core.backends.target import Target
from proxy.core.dialects.registry import DIALECTS
from proxy.core.errors import ClientFault, Empty, Garbled, Unauthorized
from proxy.core.events import Ending
from proxy.core.examination.heard import Received, heard_of
from proxy.core.examination.material import SKY, WEATHER_TOOL, ask
from proxy.core.flow.request import Preparation, prepared_for
from proxy.core.ledger import Ledger
from proxy.core.profile import DEFAULT, overridden

TARGET = Target(
    "b", "http://localhost:1/v1", overridden(DEFAULT, {"dialect": "chat"}), key="sk-1", forwarded=True
)
TEXT = b'data: {"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":%s}]}\n\n'
DONE = b"data: [DONE]\n\n"


def prepared(counter: str = "", target: Target = TARGET) -> Preparation:
    counting = DIALECTS["chat"]().counters[counter] if counter else None
    request = ask(SKY, tools=[WEATHER_TOOL])
    return prepared_for(request, target, "m", "http://localhost:1/v1/chat/completions", Ledger(), counting)


def test_a_reply() -> None:
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}\n\n'
    heard = heard_of(prepared(), Received(200, {}, TEXT % (b"Blue.", b'"stop"') + usage + DONE, 0.5))
    assert (heard.text, heard.input_tokens, heard.ending, heard.seconds) == (
        "Blue.",
        9,
        Ending.COMPLETED,
        0.5,
    )
    assert heard.fault is None


def test_thoughts_that_the_prompt_has_opened() -> None:
    body = TEXT % (b"Hm.</think>Blue.", b'"stop"') + DONE
    heard = heard_of(prepared(), Received(200, {}, body))
    assert (heard.thoughts, heard.text, heard.closer) == ("Hm.", "Blue.", "</think>")


def test_what_the_proxy_learns_from_a_reply() -> None:
    heard = heard_of(prepared(), Received(200, {}, TEXT % (b"Hm.</think>Blue.", b'"stop"') + DONE))
    assert heard.taught == {"thoughts_until", "usage_when_whole"}


def test_calls_in_the_text() -> None:
    said = rb"<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}</tool_call>"
    heard = heard_of(prepared(), Received(200, {}, TEXT % (said, b'"stop"') + DONE))
    assert [call.tool.name for call in heard.calls] == ["get_weather"]
    assert heard.leaked == ["hermes"]


@pytest.mark.parametrize("finish", [b"null", b'"stop"'])
def test_who_has_left_hears_no_failure(finish: bytes) -> None:
    body = TEXT % (b"Blue.", finish) + (DONE if finish != b"null" else b"")
    heard = heard_of(prepared(), Received(200, {}, body, whole=False))
    assert heard.fault is None
    assert heard.input_tokens is None


def test_failures_within() -> None:
    assert isinstance(heard_of(prepared(), Received(200, {}, b"")).fault, Empty)


def test_refusals() -> None:
    body = b'{"error": {"message": "System message must be at the beginning"}}'
    heard = heard_of(prepared(), Received(400, {}, body))
    assert isinstance(heard.fault, ClientFault)
    assert (heard.status, heard.lesson) == (400, "late_system")
    assert heard_of(prepared(), Received(400, {}, b"{}")).lesson == ""
    assert isinstance(heard_of(prepared(), Received(401, {}, b"{}")).fault, Unauthorized)


def test_counters() -> None:
    assert heard_of(prepared("vllm"), Received(200, {}, b'{"count": 7}')).count == 7
    assert isinstance(heard_of(prepared("vllm"), Received(200, {}, b"{}")).fault, Garbled)


def test_of_other_dialects_no_spelling_is_looked_at() -> None:
    target = Target("b", "http://localhost:1", overridden(DEFAULT, {"dialect": "anthropic"}))
    received = Received(200, {}, b'data: {"choices":[{"delta":{"reasoning":"Hm."}}]}\n\n')
    assert not heard_of(prepared(target=target), received).spelling.thoughts
