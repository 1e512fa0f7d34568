"""A whole stream, cut at every byte in turn: what was not proved to be whole is never told as a success (E3).

The body ends with its connection and without any framing, so that nothing but its own words shows the cut; only from
the word that the model has finished on may the reply count as completed, and from the last byte on it must (F19, F33,
F39-F41, F54).
"""

from collections.abc import Callable
from itertools import count

import pytest

from proxy.core import jsontext
from tests.contract.backends import BACKENDS
from tests.scripted.say import Say, SayCall
from tests.support.chat_streams import fold, read_chat_stream
from tests.support.outcomes import WEATHER, final, in_short
from tests.support.proxies import Proxy, StartProxy
from tests.support.replies import DONE, call_chunk, chunk
from tests.support.sockets import Line, ScriptedBackend

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
SAY = Say(text="Hello", calls=(SayCall("c1", "get_weather", {"city": "Rome"}),))
STREAM = b"".join(
    (
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        call_chunk(0, "a", "get_weather", '{"city":'),
        call_chunk(0, args='"Rome"}'),
        chunk({}, "tool_calls"),
        DONE,
    )
)
FINISH = STREAM.index(chunk({}, "tool_calls"))
WORDS = {
    "chat": (STREAM, FINISH),
    "anthropic": (b"".join(BACKENDS["anthropic"].provider.stream(SAY)), b"event: message_delta"),
    "google": (b"".join(BACKENDS["google"].provider.stream(SAY)), b'"finishReason"'),
    "responses": (b"".join(BACKENDS["responses"].provider.stream(SAY)), b"event: response.completed"),
}

FUNCTION = {"name": "get_weather", "description": "The weather.", "parameters": WEATHER["parameters"]}
INPUT = {"input": "Hi", "tools": [WEATHER]}
MESSAGES = {
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": FUNCTION}],
}


def _response(stream: bytes) -> tuple[bool, str]:
    said = in_short(final(stream))
    text = said.split(" | ")[1:2]
    return said.startswith("completed"), text[0].rstrip("…") if text else ""


def _chat(stream: bytes) -> tuple[bool, str]:
    chunks = read_chat_stream(stream)
    told = [each for each in chunks if "error" not in each]
    whole = fold(told)["choices"][0]
    return whole["finish_reason"] == "tool_calls" and told == chunks, whole["message"].get("content") or ""


def _native(stream: bytes) -> tuple[bool, str]:
    lines = [line[6:] for line in stream.split(b"\n") if line.startswith(b"data: {")]
    chunks = [jsontext.strict(line) for line in lines]
    choices = [each["choices"][0] for each in chunks if each.get("choices")]
    finishes = [choice["finish_reason"] for choice in choices if choice["finish_reason"]]
    failed = any("error" in each for each in chunks)
    assert failed != stream.endswith(b"data: [DONE]\n\n")
    return finishes == ["tool_calls"] and not failed, "".join(
        c["delta"].get("content") or "" for c in choices
    )


SURFACES: dict[str, tuple[str, dict[str, object], Callable[[bytes], tuple[bool, str]]]] = {
    "responses": ("/v1/responses", INPUT, _response),
    "chat": ("/v1/chat/completions", MESSAGES, _chat),
    "native": ("/native/v1/chat/completions", MESSAGES, _native),
}


def cut_further_each_time(backend: ScriptedBackend, stream: bytes) -> None:
    lengths = count()

    async def plays(line: Line) -> None:
        asked = await line.request()
        if asked.method == "POST":
            line.send(HEAD, stream[: next(lengths)])
        line.close()

    backend.plays(plays)


@pytest.mark.parametrize("language", WORDS)
@pytest.mark.parametrize("surface", SURFACES)
async def test_no_cut_is_a_success(
    surface: str, language: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    stream, finish = WORDS[language]
    proved = finish if isinstance(finish, int) else stream.index(finish)
    path, asked, read = SURFACES[surface]
    settings = {"profile": "default"} if language == "chat" else BACKENDS[language].settings
    proxy = await start_proxy(
        backend={"url": backend.root, "key": "a key", **settings},
        breaker={"consecutive_failures": 1_000_000, "minimum_requests": 1_000_000},
    )
    cut_further_each_time(backend, stream)
    successes = []
    for length in range(len(stream) + 1):
        success, text = await _told(
            proxy, path, asked | {"model": BACKENDS[language].model, "stream": True}, read
        )
        assert "Hello".startswith(text)
        if success:
            assert text == "Hello"
            successes.append(length)
    assert successes[0] > proved, stream[: successes[0]]
    assert successes == [*range(successes[0], len(stream) + 1)]


async def _told(
    proxy: Proxy, path: str, asked: dict[str, object], read: Callable[[bytes], tuple[bool, str]]
) -> tuple[bool, str]:
    async with proxy.session.post(proxy.url + path, json=asked) as response:
        data = await response.read()
    if response.status != 200:
        assert response.status in (502, 503)
        assert jsontext.strict(data)["error"]["code"].startswith("upstream_")
        return False, ""
    return read(data)


async def test_nor_is_it_one_without_a_stream(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """F23: a status of 200 means all of it."""
    proxy = await start_proxy(breaker={"consecutive_failures": 1_000_000, "minimum_requests": 1_000_000})
    cut_further_each_time(backend, STREAM)
    whole = 'completed | Hello | get_weather({"city":"Rome"})'
    for length in range(len(STREAM) + 1):
        async with proxy.post({"model": "m", **INPUT}) as response:
            said = await response.json()
        if response.status == 200:
            assert length > FINISH
            assert in_short(said) == whole
        else:
            assert response.status == 502
            assert length < len(STREAM) - len(DONE) - 1
