"""A real backend: llama.cpp's own server, asked directly and through the proxy; both must say the same.

The proxy is told its URL and nothing else, so this is also a test of finding out what a backend is.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import openai
import pytest

from proxy.core import jsontext
from proxy.core.policy.breaker import BreakerRules
from tests.backends import toy_model
from tests.backends.asks import (
    CONTEXT,
    FORECAST,
    FORECAST_TEXT,
    HELLO,
    SCHEMAS,
    SERVER,
    WEATHER,
    Pair,
    calls,
    chat_tools,
    direct_calls,
    said,
    tools,
)
from tests.support.doctoring import doctor
from tests.support.processes import serving


def pair(character: toy_model.Character, folder: Path, overrides: str = "") -> Iterator[Pair]:
    toy_model.write(folder / "toy.gguf", character)
    with ExitStack() as stack:
        backend = stack.enter_context(serving(SERVER, folder / "toy.gguf", str(CONTEXT)))
        options = ["--backend", backend]
        if overrides:
            config = folder / "proxy.toml"
            config.write_text(f"[backend.overrides]\n{overrides}\n")
            options += ["--config", str(config)]
        proxy = stack.enter_context(serving("-m", "proxy", "serve", "--port", "0", *options))
        how = {"api_key": "none", "max_retries": 0}
        yield Pair(
            *[stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", **how)) for url in (backend, proxy)]
        )


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    yield from pair(toy_model.TALKER, tmp_path_factory.mktemp("talker"))


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    yield from pair(toy_model.CALLER, tmp_path_factory.mktemp("caller"))


def test_text_and_usage_are_the_servers_own(talker: Pair) -> None:
    direct = talker.direct.chat.completions.create(model="toy", messages=HELLO, temperature=0)
    response = talker.proxied.responses.create(model="toy", input=HELLO, temperature=0)
    assert response.status == "completed"
    assert response.output_text == direct.choices[0].message.content != ""
    assert response.usage is not None
    assert direct.usage is not None
    assert response.usage.input_tokens == direct.usage.prompt_tokens
    assert response.usage.output_tokens == direct.usage.completion_tokens


def test_text_is_streamed_as_the_server_streams_it(talker: Pair) -> None:
    ask: Any = {"model": "toy", "temperature": 0}
    chunks = talker.direct.chat.completions.create(messages=HELLO, stream=True, **ask)
    direct = [
        chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content
    ]
    with talker.proxied.responses.stream(input=HELLO, **ask) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        assert stream.get_final_response().output_text == "".join(direct)
    assert deltas == direct
    assert len(deltas) > 3


def test_a_history_with_calls_renders_as_it_does_directly(talker: Pair) -> None:
    function = {"name": "get_time", "arguments": '{"zone":"utc"}'}
    call = {"id": "call_1", "type": "function", "function": function}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "noon"}
    direct = talker.direct.chat.completions.create(
        model="toy", messages=[*HELLO, {"role": "assistant", "tool_calls": [call]}, result], temperature=0
    )
    items: Any = [
        *HELLO,
        {"type": "function_call", "call_id": "call_1", **function},
        {"type": "function_call_output", "call_id": "call_1", "output": "noon"},
    ]
    response = talker.proxied.responses.create(model="toy", input=items, temperature=0)
    assert response.output_text == direct.choices[0].message.content
    assert response.usage is not None
    assert direct.usage is not None
    assert response.usage.input_tokens == direct.usage.prompt_tokens


def test_tokens_are_counted_by_the_server_before_they_are_paid_for(talker: Pair) -> None:
    """T101: for a turn of its own, and for one that continues another."""
    first = talker.proxied.responses.create(model="toy", input=HELLO, temperature=0)
    asks: list[Any] = [
        {"input": HELLO},
        {"input": "Hello", "instructions": "Be brief."},
        {"input": "Again", "previous_response_id": first.id},
    ]
    for ask in asks:
        counted = talker.proxied.responses.input_tokens.count(model="toy", **ask)
        response = talker.proxied.responses.create(model="toy", **ask)
        assert response.usage is not None
        assert counted.object == "response.input_tokens"
        assert counted.input_tokens == response.usage.input_tokens > 0


def test_structured_output_is_forced_by_the_servers_grammar(talker: Pair) -> None:
    direct = talker.direct.chat.completions.create(
        model="toy",
        messages=HELLO,
        temperature=0,
        response_format={"type": "json_schema", "json_schema": FORECAST},
    )
    response = talker.proxied.responses.create(model="toy", input=HELLO, temperature=0, text=FORECAST_TEXT)
    assert response.output_text == direct.choices[0].message.content
    jsonschema.validate(jsontext.loads(response.output_text), WEATHER)


def test_a_length_limit_cuts_where_the_server_cuts(talker: Pair) -> None:
    limit = 16
    direct = talker.direct.chat.completions.create(
        model="toy",
        messages=HELLO,
        temperature=0,
        max_tokens=limit,
        response_format={"type": "json_schema", "json_schema": FORECAST},
    )
    response = talker.proxied.responses.create(
        model="toy", input=HELLO, temperature=0, max_output_tokens=limit, text=FORECAST_TEXT
    )
    assert (direct.choices[0].finish_reason, response.status) == ("length", "incomplete")
    assert response.output_text == direct.choices[0].message.content != ""


def test_a_required_call_is_the_servers_own(caller: Pair) -> None:
    ask: Any = {"model": "toy", "temperature": 0, "tool_choice": "required"}
    direct = caller.direct.chat.completions.create(messages=HELLO, tools=chat_tools("get_weather"), **ask)
    with caller.proxied.responses.stream(input=HELLO, tools=tools("get_weather"), **ask) as stream:
        deltas = [event.delta for event in stream if event.type == "response.function_call_arguments.delta"]
        response = stream.get_final_response()
    assert response.status == "completed"
    assert said(calls(response)) == direct_calls(direct)
    assert "".join(deltas) == "".join(call.arguments for call in calls(response))
    assert len(deltas) > 3 * len(calls(response)) > 0
    for call in calls(response):
        jsonschema.validate(jsontext.loads(call.arguments), WEATHER)


def test_parallel_calls_come_whole_and_in_order(caller: Pair) -> None:
    ask: Any = {"model": "toy", "temperature": 0, "tool_choice": "required"}
    both = ("get_weather", "get_time")
    direct = caller.direct.chat.completions.create(
        messages=HELLO, tools=chat_tools(*both), parallel_tool_calls=True, **ask
    )
    with caller.proxied.responses.stream(input=HELLO, tools=tools(*both), **ask) as stream:
        indexes = [event.output_index for event in stream if hasattr(event, "output_index")]
        response = stream.get_final_response()
    made = calls(response)
    assert said(made) == direct_calls(direct)
    assert len(made) > 1
    assert len({call.call_id for call in made}) == len(made)
    assert indexes == sorted(indexes)
    for call in made:
        jsonschema.validate(jsontext.loads(call.arguments), SCHEMAS[call.name])


def test_a_forced_function_is_the_only_one_called(caller: Pair) -> None:
    """The server itself would take an object in tool_choice for auto, in silence."""
    response = caller.proxied.responses.create(
        model="toy",
        input=HELLO,
        temperature=0,
        tools=tools("get_time", "get_weather"),
        tool_choice={"type": "function", "name": "get_weather"},
    )
    assert {call.name for call in calls(response)} == {"get_weather"}


def test_a_conversation_that_is_too_long_says_so(talker: Pair) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        talker.proxied.responses.create(model="toy", input="word " * CONTEXT)
    assert caught.value.code == "context_length_exceeded"


def test_a_backend_that_sees_no_images_is_told_of_them(talker: Pair) -> None:
    """It refuses them with 500; the proxy learns that, and says in words that there was one."""
    url = "data:image/png;base64,AAAA"
    part: Any = {"type": "image_url", "image_url": {"url": url}}
    with pytest.raises(openai.InternalServerError):
        talker.direct.chat.completions.create(model="toy", messages=[{"role": "user", "content": [part]}])
    content: Any = [{"type": "input_image", "image_url": url, "detail": "auto"}]
    response = talker.proxied.responses.create(model="toy", input=[{"role": "user", "content": content}])
    assert response.status == "completed"


def test_what_the_server_refuses_keeps_its_reason(caller: Pair) -> None:
    """The toy's vocabulary and a free choice of tools do not go together in this server."""
    with pytest.raises(openai.APIStatusError, match="Grammar trigger word"):
        caller.proxied.responses.create(model="toy", input=HELLO, tools=tools("get_time"))


async def test_the_doctor_finds_what_this_server_is(talker: Pair) -> None:
    """It was not told the profile. The toy sees no images, and a free choice of tools fails with its vocabulary."""
    ended = await doctor("--backend", str(talker.direct.base_url), "--json")
    [found] = jsontext.loads(ended.out)
    rows = {row["aspect"]: row for row in found["rows"]}
    worse = {name for name, row in rows.items() if row["standing"] == "worse"}
    assert (ended.code, found["profile"]) == (1, "llamacpp")
    assert worse == {"images", "sound", "tools"}
    assert found["overrides"]["images"] == "none"
    for well in ("text", "token counts", "structured output", "counter of tokens", "conversation too long"):
        assert rows[well]["standing"] == "same", rows[well]
    assert rows["structured output beside tools"]["seen"] == "yes: ignored (no call came)"


async def test_the_doctor_asks_this_server_by_responses(talker: Pair, tmp_path: Path) -> None:
    """There it takes a form for answers, and does nothing about it; and it has other words for log probabilities."""
    config = tmp_path / "responses.toml"
    config.write_text(f'[backend]\nurl = "{talker.direct.base_url}"\noverrides = {{ wire = "responses" }}\n')
    ended = await doctor("--config", str(config), "--json")
    [found] = jsontext.loads(ended.out)
    rows = {row["aspect"]: row for row in found["rows"]}
    worse = {name for name, row in rows.items() if row["standing"] == "worse"}
    assert (ended.code, found["profile"]) == (1, "llamacpp")
    assert worse == {"images", "tools", "structured output", "options"}
    assert rows["structured output"]["seen"].startswith("json_schema: ignored")
    assert "top_logprobs requires logprobs" in rows["options"]["seen"]
    for well in (
        "text",
        "token counts",
        "options beside the API",
        "counter of tokens",
        "conversation too long",
    ):
        assert rows[well]["standing"] == "same", rows[well]


@pytest.fixture(scope="module")
def faithful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """A proxy that passes on what this server is known to fail at."""
    yield from pair(toy_model.TALKER, tmp_path_factory.mktemp("faithful"), 'schema = ["plain"]')


IMPOSSIBLE: Any = {
    "type": "json_schema",
    "json_schema": {"name": "form", "schema": {"type": "integer", "minimum": 5, "maximum": 2}},
}
"""The server finds out in the middle of a reply that nothing can come of it. (What its templates raise is a 400.)"""


def test_v20_what_the_server_fails_at_closes_it_to_nobody(faithful: Pair) -> None:
    """Its 500 is that of one client's request, and tells in no word that it is."""
    poisoned: Any = {"model": "toy", "messages": HELLO, "response_format": IMPOSSIBLE}
    for client in (faithful.direct, *[faithful.proxied] * 2 * BreakerRules().volume):
        with pytest.raises(openai.InternalServerError, match="empty grammar stack"):
            client.chat.completions.create(**poisoned)
    elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(transport=elsewhere) as way:
        other = openai.OpenAI(
            base_url=faithful.proxied.base_url, api_key="none", max_retries=0, http_client=way
        )
        for client in (other, faithful.proxied):
            assert client.responses.create(model="toy", input=HELLO, temperature=0).status == "completed"


def test_bounds_between_which_there_is_nothing_are_left_out(talker: Pair) -> None:
    """The server fails at some, and never comes to an end with others, which would keep its place from everybody."""
    form = {
        "name": "form",
        "schema": {"type": "array", "minItems": 3, "maxItems": 1, "items": {"type": "null"}},
    }
    ask: Any = {"model": "toy", "messages": HELLO, "temperature": 0, "max_tokens": 8}
    for schema in (IMPOSSIBLE, {"type": "json_schema", "json_schema": form}):
        assert talker.proxied.chat.completions.create(**ask, response_format=schema).choices
