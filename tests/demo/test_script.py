"""What a newcomer sees of the demo model, rule by rule."""

from typing import Any

import orjson
import pytest

from proxy.demo.refusals import Refused, read
from proxy.demo.script import MAX_QUOTE, PERSONAS, Answer, answer, persona


def tool(name: str, *properties: str, description: str = "") -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {p: {"type": "string"} for p in properties},
        "required": properties,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


WEATHER = tool("get_weather", "city", description="The weather of a city")
CLOCK = tool("get_time", "place", description="The time of day somewhere")
FORCED = {"type": "function", "function": {"name": "get_time"}}


def ask(text: str, *later: dict[str, Any], **fields: Any) -> Answer:
    messages = [{"role": "user", "content": text}, *later]
    return answer(read(orjson.dumps({"model": "demo", "messages": messages, **fields})))


def calls(reply: Answer) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, orjson.loads(call.arguments)) for call in reply.calls]


def asked(*names_and_ids: tuple[str, str]) -> dict[str, Any]:
    made = [
        {"id": ident, "type": "function", "function": {"name": name, "arguments": '{"city":"Paris"}'}}
        for name, ident in names_and_ids
    ]
    return {"role": "assistant", "tool_calls": made}


def said(ident: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": ident, "content": content}


def test_text_quotes_the_prompt_and_tells_what_to_try_next() -> None:
    reply = ask("good morning")
    assert "“good morning”" in reply.text
    assert "get_weather" in reply.text
    assert (reply.calls, reply.reasoning, reply.refusal) == ((), "", "")


def test_a_long_prompt_is_quoted_in_short() -> None:
    assert len(ask("x" * 5000).text) < MAX_QUOTE + 200


def test_only_the_last_user_message_is_answered() -> None:
    assert (
        "“two”" in ask("one", {"role": "assistant", "content": "so"}, {"role": "user", "content": "two"}).text
    )


def test_what_was_said_before_is_told_to_show_that_a_conversation_goes_on() -> None:
    later = {"role": "assistant", "content": "so"}, {"role": "user", "content": "two"}
    assert "You said “two”, and before that “one”. " in ask("one", *later).text
    three = ask("one", *later, {"role": "user", "content": "three"})
    assert "You said “three”, and before that “two”. " in three.text


def test_a_tool_that_fits_the_prompt_is_called() -> None:
    assert calls(ask("weather in Paris", tools=[CLOCK, WEATHER])) == [("get_weather", {"city": "Paris"})]
    assert calls(ask("please get_time somewhere", tools=[WEATHER, CLOCK]))[0][0] == "get_time"
    assert calls(ask("use a tool", tools=[WEATHER, CLOCK]))[0][0] == "get_weather"


def test_a_prompt_that_no_tool_fits_is_answered_in_text() -> None:
    reply = ask("good morning", tools=[WEATHER])
    assert not reply.calls
    assert "one of your tools" in reply.text


def test_two_places_make_two_calls_with_different_ids() -> None:
    reply = ask("weather in Paris and London", tools=[WEATHER])
    assert calls(reply) == [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "London"})]
    assert [call.id for call in reply.calls] == ["call_demo_1", "call_demo_2"]


def test_one_call_takes_both_places_where_the_tool_wants_two() -> None:
    reply = ask("route from Paris to London", tools=[tool("plan_route", "origin", "destination")])
    assert calls(reply) == [("plan_route", {"origin": "Paris", "destination": "London"})]


def test_two_tools_are_called_when_the_prompt_wants_both() -> None:
    both = [("get_weather", {"city": "Oslo"}), ("get_time", {"place": "Oslo"})]
    assert calls(ask("weather and time in Oslo", tools=[WEATHER, CLOCK])) == both
    assert calls(ask("both tools for Oslo", tools=[WEATHER, CLOCK])) == both
    assert len(calls(ask("weather in Oslo and then rest", tools=[WEATHER, CLOCK]))) == 1


def test_a_client_that_wants_no_parallel_calls_gets_one() -> None:
    tools = [WEATHER, CLOCK]
    assert len(ask("weather and time in Paris and London", tools=tools, parallel_tool_calls=False).calls) == 1


def test_tool_choice_is_obeyed() -> None:
    tools = [WEATHER, CLOCK]
    assert not ask("weather in Paris", tools=tools, tool_choice="none").calls
    assert calls(ask("hello", tools=tools, tool_choice="required")) == [("get_weather", {"city": "hello"})]
    assert calls(ask("weather in Paris", tools=tools, tool_choice=FORCED)) == [
        ("get_time", {"place": "Paris"})
    ]


def test_the_second_turn_uses_what_the_tool_said() -> None:
    reply = ask("weather in Paris", asked(("get_weather", "a")), said("a", "18 °C"), tools=[WEATHER])
    assert (reply.text, reply.calls) == ('get_weather({"city":"Paris"}) says: 18 °C', ())


def test_all_results_since_the_user_spoke_are_used_and_no_older_ones() -> None:
    first = [asked(("get_weather", "a")), said("a", "old"), {"role": "assistant", "content": "It is old."}]
    again = [
        {"role": "user", "content": "weather?"},
        asked(("get_weather", "b"), ("get_time", "c")),
        said("b", "new"),
    ]
    reply = ask("weather", *first, *again, said("c", "noon"), tools=[WEATHER])
    assert ("new" in reply.text, "noon" in reply.text, "old" in reply.text) == (True, True, False)


def test_what_a_tool_returned_beside_text_is_nothing_that_the_user_said() -> None:
    """Chat's results hold text alone: an image comes behind them. The model asked for a new one without end."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    brought = [{"type": "text", "text": "[returned by get_weather]"}, picture]
    turn = [asked(("get_weather", "a")), said("a", "[more in the next message]")]
    once = {"role": "user", "content": brought}
    reply = ask("weather in Paris", *turn, once, tools=[WEATHER])
    assert (reply.text, reply.calls) == ('get_weather({"city":"Paris"}) says: [more in the next message]', ())
    twice = {"role": "user", "content": brought * 2}
    assert ask("weather in Paris", *turn, twice, tools=[WEATHER]) == reply
    spoken = {"role": "user", "content": [*brought, {"type": "text", "text": "And the weather in Rome?"}]}
    assert calls(ask("weather in Paris", *turn, spoken, tools=[WEATHER])) == [
        ("get_weather", {"city": "Rome"})
    ]
    later = [once, {"role": "assistant", "content": "Here."}, {"role": "user", "content": "Hello"}]
    assert "and before that “weather in Paris”" in ask("weather in Paris", *turn, *later).text


def test_required_calls_again_after_a_result_with_an_id_not_used_before() -> None:
    reply = ask(
        "weather in Paris",
        asked(("get_weather", "a")),
        said("a", "18"),
        tools=[WEATHER],
        tool_choice="required",
    )
    assert [call.id for call in reply.calls] == ["call_demo_2"]


@pytest.mark.parametrize(
    ("text", "fields"),
    [("hi", {"reasoning_effort": "low"}), ("think about it", {}), ("hi", {"model": "demo-think"})],
)
def test_reasoning_comes_when_asked_for_by_effort_word_or_model(text: str, fields: dict[str, Any]) -> None:
    reply = ask(text, **fields)
    assert "directly" in reply.reasoning
    assert reply.text


def test_reasoning_names_the_tools_and_effort_none_means_none() -> None:
    assert "get_weather" in ask("weather in Paris", tools=[WEATHER], reasoning_effort="high").reasoning
    assert ask("hi", reasoning_effort="none").reasoning == ""


def test_a_prompt_that_says_refuse_is_refused() -> None:
    reply = ask("Refuse this", tools=[WEATHER], tool_choice="required")
    assert reply.refusal
    assert not reply.text
    assert not reply.calls


def test_structured_output_conforms_and_uses_results() -> None:
    schema = {"type": "object", "properties": {"temp": {"type": "integer"}}, "required": ["temp"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    fields = {"response_format": wanted, "tools": [WEATHER]}
    assert ask("weather in Paris", **fields).calls
    after = [
        asked(("get_weather", "a"), ("get_weather", "b")),
        said("a", '{"temp": 18}'),
        said("b", "no json"),
    ]
    assert orjson.loads(ask("weather in Paris", *after, **fields).text) == {"temp": 18}
    after[1:] = [said("a", "[1]"), said("b", "2")]
    assert orjson.loads(ask("weather at 7 in Paris", *after, **fields).text) == {"temp": 7}


def test_json_mode_answers_with_an_object_and_text_format_with_text() -> None:
    assert orjson.loads(ask("hi", response_format={"type": "json_object"}).text) == {"answer": "hi"}
    assert "“hi”" in ask("hi", response_format={"type": "text"}).text


def test_the_talking_model_speaks_before_it_calls() -> None:
    reply = ask("weather in Paris", model="demo-talk", tools=[WEATHER])
    assert (reply.text, len(reply.calls)) == ("Let me ask get_weather.", 1)


@pytest.mark.parametrize(("model", "name"), [("demo-leak", "get_weather"), ("demo-guess", "weather")])
def test_calls_are_leaked_into_the_text(model: str, name: str) -> None:
    reply = ask("weather in Paris", model=model, tools=[WEATHER])
    assert not reply.calls
    call = reply.text.removeprefix("Let me look. <tool_call>").removesuffix("</tool_call>")
    assert orjson.loads(call) == {"name": name, "arguments": {"city": "Paris"}}
    assert "<tool_call>" not in ask("hello", model=model, tools=[WEATHER]).text


def test_any_model_name_is_played_but_one_that_claims_to_be_a_demo() -> None:
    assert persona("gpt-5") is PERSONAS["demo"]
    with pytest.raises(Refused) as caught:
        persona("demo-nope")
    assert (caught.value.status, caught.value.body["error"]["code"]) == (404, "model_not_found")
