"""A second real backend: mlx-lm's own server, with a model that says what it is told.

It has no grammar, ignores `tool_choice` and `parallel_tool_calls`, tells thoughts apart only where a model's tokens are
known to it, and leaves the white space around calls in the text: what small servers do and llama.cpp does not.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import openai
import pytest
from openai.types.responses import Response

from tests.support.processes import ROOT, serving

PLACE = ROOT / ".mlx"
SERVER = Path(__file__).with_name("mlx_server.py")
MISSING = "LEFT OUT: these tests need mlx-lm; scripts/install mlx installs it"
MODEL = "default_model"
"""What the server calls the one that it was started with."""
CLOCK: Any = {
    "type": "function",
    "name": "get_time",
    "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}},
}


class Pair(NamedTuple):
    direct: openai.OpenAI
    proxied: openai.OpenAI

    def whole(self, word: str, **more: Any) -> Response:
        return self.proxied.responses.create(model=MODEL, input=word, **more)

    def streamed(self, word: str, **more: Any) -> Response:
        with self.proxied.responses.stream(model=MODEL, input=word, **more) as stream:
            return stream.get_final_response()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not (PLACE / "mlx.lock").exists():
        if os.environ.get("CI"):
            pytest.fail(MISSING, pytrace=False)
        pytest.skip(MISSING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        with serving(SERVER, tmp_path_factory.mktemp("told"), python=PLACE / "bin" / "python") as url:
            yield url


@pytest.fixture(scope="module")
def pair(server: str) -> Iterator[Pair]:
    with ExitStack() as stack:
        proxy = stack.enter_context(serving("-m", "proxy", "serve", "--port", "0", "--backend", server))
        how: Any = {"api_key": "none", "max_retries": 0}
        yield Pair(
            *[stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", **how)) for url in (server, proxy)]
        )


def kinds(response: Response) -> list[str]:
    return [item.type for item in response.output]


def calls(response: Response) -> list[str]:
    return [item.arguments for item in response.output if item.type == "function_call"]


def warnings(response: Response) -> list[str]:
    return (response.model_extra or {}).get("_proxy", {}).get("warnings", [])


def test_text_and_usage_are_the_servers_own(pair: Pair) -> None:
    """V36: to the byte."""
    direct = pair.direct.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "greet"}])
    assert direct.usage is not None
    for response in (pair.whole("greet"), pair.streamed("greet")):
        assert response.output_text == direct.choices[0].message.content == "Hello there!"
        assert response.usage is not None
        assert response.usage.output_tokens == direct.usage.completion_tokens


def test_v21_thoughts_alone_are_told_as_they_are(pair: Pair) -> None:
    for response in (pair.whole("brood"), pair.streamed("brood")):
        assert (response.status, kinds(response)) == ("completed", ["reasoning"])
        assert [warning.partition(":")[0] for warning in warnings(response)] == ["no_answer"]


def test_v24_white_space_around_calls_is_no_message(pair: Pair) -> None:
    """The server itself tells it as text."""
    direct = pair.direct.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "act"}],
        tools=[{"type": "function", "function": {"name": "get_time", "parameters": CLOCK["parameters"]}}],
    )
    assert not (direct.choices[0].message.content or "x").strip()
    for response in (pair.whole("act", tools=[CLOCK]), pair.streamed("act", tools=[CLOCK])):
        assert kinds(response) == ["function_call", "function_call"]
        assert calls(response) == ['{"zone": "utc"}', '{"zone": "cet"}']


def test_v23_one_call_comes_where_one_is_wanted(pair: Pair) -> None:
    """The server pays no heed to it."""
    one: Any = {"tools": [CLOCK], "parallel_tool_calls": False}
    for response in (pair.whole("act", **one), pair.streamed("act", **one)):
        assert calls(response) == ['{"zone": "utc"}']
        assert warnings(response)


def test_v25_a_thought_that_the_server_does_not_know_is_learned(pair: Pair) -> None:
    """Who does not stream gets even the first one right. What says nothing of a tag was an answer, and undoes it."""
    for response in (pair.whole("ponder"), pair.streamed("ponder"), pair.whole("ponder")):
        assert (kinds(response), response.output_text) == (["reasoning", "message"], "Four.")
    undoing = pair.streamed("greet")
    assert (kinds(undoing), undoing.output_text) == (["reasoning", "message"], "Hello there!")
    assert kinds(pair.streamed("greet")) == ["message"]
    assert pair.streamed("ponder").output_text == "Hm.</think>\n\nFour."
    assert pair.whole("greet").output_text == "Hello there!"  # undone again, and seen by nobody
