"""A recorded exchange once more. The contract's exchanges are replayed where they are made: `tests/contract`."""

from dataclasses import astuple, replace
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.argument_problem import UNCHECKED
from proxy.core.backends.profiles import PROFILES
from proxy.core.jsontext import compact
from proxy.core.recorded.masking import masked
from proxy.core.recorded.outline import events_of
from proxy.core.recorded.recording import RecordedKnown, RecordedVerdict, Recording
from proxy.core.recorded.replay import How, Replayed, replay
from proxy.core.tenants import Mode, Tenant, Validation
from tests.support.observers import Seen
from tests.support.recordings import HELLO, attempt, fault, recording
from tests.support.replies import DONE, REQUEST, STOP, call_chunk, chunk
from tests.support.weather import WEATHER

ASKED = {"model": "m", "input": "Hi"}
CODEX = {"originator": "codex_cli_rs"}
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
CALL = (call_chunk(0, "call_1", "get_weather", '{"city": 7}'), chunk({}, "tool_calls"), DONE)


def kinds(again: Replayed) -> list[str]:
    return [event["type"] for event in events_of(again.frames) if isinstance(event, dict)]


def last(again: Replayed) -> Any:
    return next(event["response"] for event in reversed(events_of(again.frames)) if isinstance(event, dict))


def said(again: Replayed) -> str:
    text: str = last(again)["output"][0]["content"][0]["text"]
    return text


def test_a_stream() -> None:
    seen = Seen()
    again = replay(recording(conditions={"digits": ["ab" * 16], "dates": [5.0]}), How(observer=seen))
    assert said(again) == "Hello"
    assert last(again)["id"].startswith("resp_" + "ab" * 16)
    assert last(again)["created_at"] == 5
    assert b"".join(seen.bytes) == b"".join(HELLO)
    assert jsontext.loads(again.posts[0])["messages"] == [{"role": "user", "content": "Hi"}]
    assert (again.status, again.fault, again.answer) == (200, None, None)


@pytest.mark.parametrize("cut", ["bytes", "random", "whole"])
def test_it_does_not_matter_how_the_bytes_are_cut(cut: Any) -> None:
    assert said(replay(recording(), How(cut=cut))) == "Hello"


def test_a_whole_answer() -> None:
    answer = replay(recording(ASKED)).answer
    assert answer is not None
    assert answer["output"][0]["content"][0]["text"] == "Hello"


@pytest.mark.parametrize("surface", ["chat", "native"])
def test_other_surfaces(surface: Any) -> None:
    answer = replay(recording(CHAT, surface=surface)).answer
    assert answer is not None
    assert answer["choices"][0]["message"]["content"] == "Hello"


def test_work_in_the_background() -> None:
    body = ASKED | {"background": True}
    options = {"conditions": {"options": {"stores": True, "background": True}}}
    made = recording(body, framing="log")
    conditions = replace(
        made.request.conditions,
        options=replace(made.request.conditions.options, stores=True, background=True),
    )
    made = replace(made, request=replace(made.request, conditions=conditions))
    assert options
    assert kinds(replay(made))[-1] == "response.completed"
    refused = replay(replace(made, attempts=[], end=replace(made.end, status=502, fault=fault())))
    assert (refused.status, refused.outside) == (502, True)


def test_what_could_not_be_kept() -> None:
    made = recording(conditions={})
    options = replace(made.request.conditions.options, stores=True)
    request = replace(made.request, conditions=replace(made.request.conditions, options=options))
    kept = replace(made, request=request)
    assert last(replay(kept))["store"] is True
    lost = replace(kept, end=replace(kept.end, not_stored="The store was down."))
    again = replay(lost)
    assert last(again)["store"] is False
    assert "The store was down." in again.ledger.warnings
    known = RecordedKnown(conversation="conv_1", response="resp_1", stores=True)
    body = jsontext.dumps(REQUEST | {"conversation": "conv_1"})
    conditions = replace(request.conditions, known=known)
    in_conversation = replace(lost, request=replace(request, body=body, conditions=conditions))
    assert last(replay(in_conversation))["status"] == "failed"
    whole = jsontext.dumps(ASKED | {"conversation": "conv_1"})
    refused = replay(replace(lost, request=replace(request, body=whole, conditions=conditions)))
    assert refused.status == 503


def test_what_it_continues() -> None:
    history = jsontext.dumps([{"type": "message", "role": "user", "content": "Before"}])
    known = RecordedKnown(previous="resp_1", history=history)
    again = replay(recording(REQUEST | {"previous_response_id": "resp_1"}, conditions={"known": known}))
    assert "Before" in again.posts[0].decode()


def test_one_attempt_after_another() -> None:
    refused = attempt(b'{"error": {"message": "busy"}}', status=503)
    asked_otherwise = attempt(b'{"error": {"message": "still busy"}}', status=503, why="lesson")
    again = replay(recording(attempts=[refused, asked_otherwise, attempt(*HELLO, why="elsewhere")]))
    assert said(again) == "Hello"
    assert len(again.posts) == 2


def test_an_attempt_that_goes_well_is_the_last() -> None:
    again = replay(recording(attempts=[attempt(*HELLO), attempt(*HELLO)]))
    assert len(again.posts) == 1


def test_a_reply_that_breaks_off() -> None:
    broken = attempt(*HELLO[:2], failure=fault())
    assert kinds(replay(recording(attempts=[broken])))[-1] == "response.failed"
    whole = replay(recording(ASKED, [broken], status=502))
    assert (whole.status, whole.answer and whole.answer["error"]["message"]) == (502, "It broke off.")
    silent = replay(recording(attempts=[attempt(failure=fault())], status=502))
    assert silent.status == 502
    opened = replay(recording(attempts=[attempt(failure=fault())]))
    assert kinds(opened)[-1] == "response.failed"


def test_after_its_client_had_left_nothing_is_told() -> None:
    left = fault("ClientFault", "The client has left.", status=499)
    again = replay(recording(attempts=[attempt(*HELLO[:2], failure=left)], status=499))
    assert kinds(again)[-1] == "response.output_text.delta"


def test_signs_of_life_come_where_they_came() -> None:
    again = replay(recording(headers=CODEX, conditions={"signs": [0, 1, 9]}))
    assert len([kind for kind in kinds(again) if kind == "response.in_progress"]) == 4


def test_what_breaks_a_rule_is_refused_again() -> None:
    again = replay(recording(ASKED | {"input": 7}, [], status=400, end={"fault": fault("ClientFault")}))
    assert (again.status, again.outside) == (400, False)
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = {"type": "function", "name": "get_weather", "parameters": parameters}
    tenant = Tenant("ann", limits_mode=Mode.ENFORCE, tool_allowlist=("other",))
    forbidden = replay(recording(REQUEST | {"tools": [tool]}, tenant=tenant))
    assert forbidden.status == 403
    in_stream = replay(recording(REQUEST | {"tools": [tool]}, headers=CODEX, tenant=tenant))
    assert kinds(in_stream)[-1] == "response.failed"


def test_what_was_refused_outside_of_the_core_is_refused_so_again() -> None:
    busy = fault("TooMany", "Enough.", status=429)
    for body in (b"no JSON at all", REQUEST):
        again = replay(recording(body, [], status=429, end={"fault": busy}))
        assert (again.status, again.outside) == (429, True)
    gone = replay(recording(attempts=[], status=404, end={"fault": fault("NotFound", status=404)}))
    assert (gone.status, gone.outside) == (404, True)
    in_stream = replay(recording(attempts=[], headers=CODEX, end={"fault": fault("NotFound", status=404)}))
    assert kinds(in_stream)[-1] == "response.failed"
    made = recording(attempts=[], status=500)
    assert replay(replace(made, request=replace(made.request, body=None))).outside


def test_calls_are_checked_again() -> None:
    tool = WEATHER | {"strict": True, "parameters": {
        "type": "object", "properties": {"city": {"type": "string", "pattern": "^(a+)+$"}},
        "required": ["city"], "additionalProperties": False,
    }}  # fmt: skip
    tenant = Tenant("ann", validate_tool_arguments=Validation.ENFORCE)
    call = (call_chunk(0, "call_1", "get_weather", '{"city": "aaa!"}'), chunk({}, "tool_calls"), DONE)
    again = replay(recording(REQUEST | {"tools": [tool]}, [attempt(*call)], tenant=tenant))
    assert again.fault is not None
    assert again.fault.code == "invalid_tool_arguments"


ENDLESS = WEATHER | {"parameters": {
    "type": "object", "properties": {"city": {"type": "string", "pattern": "^((((a*){2}){2}){2}){2}$"}},
}}  # fmt: skip
ARGUMENTS = compact({"city": "a" * 40 + "!"})
ASKS_FOREVER = (call_chunk(0, "call_1", "get_weather", ARGUMENTS), chunk({}, "tool_calls"), DONE)


def checked_forever(*verdicts: RecordedVerdict) -> Recording:
    tenant = Tenant("ann", validate_tool_arguments=Validation.ENFORCE)
    return recording(
        REQUEST | {"tools": [ENDLESS]},
        [attempt(*ASKS_FOREVER)],
        tenant=tenant,
        conditions={"verdicts": list(verdicts)},
    )


@pytest.mark.parametrize("gave_up", [False, True])
@pytest.mark.parametrize("how", ["keep", "masked"])
def test_a_check_that_took_too_long_is_not_made_again(how: str, gave_up: bool) -> None:
    """Else a replay would differ, and might never end (attack-02)."""
    other = RecordedVerdict("other", len(ARGUMENTS))
    verdict = RecordedVerdict("get_weather", len(ARGUMENTS), *astuple(UNCHECKED), gave_up)
    made = checked_forever(other, verdict)
    again = replay(masked(made) if how == "masked" else made)
    assert again.fault is not None
    assert again.fault.code == UNCHECKED.code


def test_a_verdict_is_of_its_own_call_alone() -> None:
    fits = RecordedVerdict("get_weather", len(ARGUMENTS))
    assert replay(checked_forever(fits)).fault is None


def test_nothing_is_generated_where_nothing_was_wanted() -> None:
    warm = attempt(status=None)
    assert kinds(replay(recording(REQUEST | {"generate": False}, [warm])))[-1] == "response.completed"
    whole = replay(recording(ASKED | {"generate": False}, [warm])).answer
    assert whole is not None
    assert whole["output"] == []


def test_a_count_of_tokens() -> None:
    counting = {"surface": "input_tokens", "framing": None}
    counted = attempt(b'{"count": 7, "tokens": []}', profile="vllm")
    assert replay(recording(ASKED, [counted], **counting)).answer == {
        "object": "response.input_tokens", "input_tokens": 7,
    }  # fmt: skip
    refused = replay(recording(ASKED, [counted], status=502, end={"fault": fault(status=502)}, **counting))
    assert (refused.status, refused.outside) == (502, True)


def test_what_if_the_backend_were_another_one() -> None:
    again = replay(recording(), How(profile=PROFILES["anthropic"]))
    assert "max_tokens" in jsontext.loads(again.posts[0])


def test_what_if_another_client_had_asked() -> None:
    refused = attempt(b'{"error": {"message": "busy"}}', status=503)
    assert replay(recording(attempts=[refused], status=503)).status == 503
    as_codex = replay(recording(attempts=[refused], status=503), How(headers=CODEX))
    assert kinds(as_codex)[-1] == "response.failed"


def test_markup_in_text_becomes_a_call_again() -> None:
    markup = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
    leaked = attempt(chunk({"content": markup[:20]}), chunk({"content": markup[20:]}), STOP, DONE)
    again = replay(recording(REQUEST | {"tools": [WEATHER]}, [leaked]))
    assert last(again)["output"][0]["name"] == "get_weather"
    assert again.ledger.markup
