"""llama.cpp's own Responses API behind the proxy, beside its Chat: both must say the same.

Its stream has no numbers and no places, its calls have no ids but their `call_id`, and the thoughts of its models are
plain text.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import openai
import pytest

from proxy.core import jsontext
from tests.backends import toy_model
from tests.backends.asks import CONTEXT, HELLO, SERVER, Pair, calls, said, tools
from tests.support.processes import serving


def pair(character: toy_model.Character, folder: Path) -> Iterator[Pair]:
    """Two proxies before one server: one asks it in Chat, the other in Responses."""
    toy_model.write(folder / "toy.gguf", character)
    with ExitStack() as stack:
        backend = stack.enter_context(serving(SERVER, folder / "toy.gguf", str(CONTEXT)))
        urls = []
        for wire in ("chat", "responses"):
            config = folder / f"{wire}.toml"
            config.write_text(f'[backend]\nurl = "{backend}"\noverrides = {{ wire = "{wire}" }}\n')
            urls.append(
                stack.enter_context(serving("-m", "proxy", "serve", "--port", "0", "--config", config))
            )
        how = {"api_key": "none", "max_retries": 0}
        yield Pair(*[stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", **how)) for url in urls])


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    yield from pair(toy_model.TALKER, tmp_path_factory.mktemp("talker"))


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    yield from pair(toy_model.CALLER, tmp_path_factory.mktemp("caller"))


def both(of: Pair, **ask: Any) -> tuple[Any, Any]:
    asked = {"model": "toy", "temperature": 0, **ask}
    return of.direct.responses.create(**asked), of.proxied.responses.create(**asked)


def test_text_and_usage(talker: Pair) -> None:
    chat, responses = both(talker, input=HELLO, instructions="Be brief.")
    assert responses.status == "completed"
    assert responses.output_text == chat.output_text != ""
    assert responses.usage.input_tokens == chat.usage.input_tokens
    assert responses.usage.output_tokens == chat.usage.output_tokens


def test_a_stream(talker: Pair) -> None:
    texts = []
    for client in talker:
        with client.responses.stream(model="toy", input=HELLO, temperature=0) as stream:
            texts.append([event.delta for event in stream if event.type == "response.output_text.delta"])
            assert stream.get_final_response().output_text == "".join(texts[-1])
    assert texts[0] == texts[1]
    assert len(texts[0]) > 3


def test_a_history_with_calls(talker: Pair) -> None:
    history = [
        *HELLO,
        {"type": "message", "role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "call_1", "name": "get_time", "arguments": '{"zone":"utc"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "noon"},
        {"role": "user", "content": "And now?"},
    ]
    chat, responses = both(talker, input=history)
    assert responses.output_text == chat.output_text
    assert responses.usage.input_tokens == chat.usage.input_tokens


def test_thoughts_of_a_history_are_taken(talker: Pair) -> None:
    history = [
        *HELLO,
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": "I look."},
        {"role": "user", "content": "And now?"},
    ]
    _, responses = both(talker, input=history)
    assert responses.status == "completed"


def test_a_call(caller: Pair) -> None:
    ask = {"input": HELLO, "tools": tools("get_time"), "tool_choice": "required"}
    chat, responses = both(caller, **ask)
    assert said(calls(responses)) == said(calls(chat))
    made = said(calls(responses))
    assert {name for name, _ in made} == {"get_time"}
    assert all(jsontext.strict(arguments)["zone"] in ("utc", "cet") for _, arguments in made)
    with caller.proxied.responses.stream(model="toy", temperature=0, **ask) as stream:
        kinds = [event.type for event in stream]
        assert said(calls(stream.get_final_response())) == made
    assert "response.function_call_arguments.delta" in kinds


def test_a_chat_client_before_it(caller: Pair) -> None:
    tool = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}
    made = caller.proxied.chat.completions.create(
        model="toy", messages=HELLO, tools=[tool], tool_choice="required", temperature=0
    )
    told = made.choices[0].message.tool_calls or ()
    assert {call.function.name for call in told if call.type == "function"} == {"get_time"}
