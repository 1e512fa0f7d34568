"""The demo over real sockets, seen by the Chat Completions client that most people use."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import orjson
import pytest

from proxy import demo

USER = {"role": "user", "content": "hello there"}


@pytest.fixture
async def recorded() -> list[demo.Recorded]:
    return []


@pytest.fixture
async def server(recorded: list[demo.Recorded]) -> AsyncIterator[demo.Demo]:
    started = await demo.start(pace_s=0, record=recorded)
    yield started
    await started.stop()


@pytest.fixture
async def client(server: demo.Demo) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0) as client:
        yield client


async def test_it_listens_on_loopback_on_a_port_of_its_own(server: demo.Demo) -> None:
    assert server.url.startswith("http://127.0.0.1:")
    assert server.url.endswith("/v1")
    assert ":0/" not in server.url


async def test_its_models_are_listed(client: openai.AsyncOpenAI) -> None:
    names = [model.id async for model in client.models.list()]
    assert names[0] == "demo"
    assert "demo-think" in names


async def test_streamed_and_whole_answers_are_equal_and_the_same_every_time(
    client: openai.AsyncOpenAI,
) -> None:
    ask: dict[str, Any] = {"model": "demo", "messages": [USER]}
    whole = [await client.chat.completions.create(**ask) for _ in range(2)]
    assert whole[0] == whole[1]
    stream = await client.chat.completions.create(**ask, stream=True)
    text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert text == whole[0].choices[0].message.content


async def test_requests_are_recorded_when_asked(
    client: openai.AsyncOpenAI, recorded: list[demo.Recorded]
) -> None:
    await client.chat.completions.create(model="demo", messages=[USER])
    assert [request.body for request in recorded] == [{"model": "demo", "messages": [USER]}]
    assert recorded[0].headers["Authorization"] == "Bearer none"


async def test_a_bad_request_is_refused_in_openais_words(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        await client.chat.completions.create(model="demo", messages=[])
    assert caught.value.param == "messages"


async def test_a_body_of_another_type_is_refused(server: demo.Demo) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/chat/completions", data=b"{}") as reply,
    ):
        assert reply.status == 415


@pytest.mark.parametrize(
    ("model", "error"),
    [
        ("demo-nope", openai.NotFoundError),
        ("demo-busy", openai.RateLimitError),
        ("demo-error", openai.InternalServerError),
        ("demo-cut", openai.APIConnectionError),
    ],
)
async def test_models_that_fail(
    client: openai.AsyncOpenAI,
    model: str,
    error: type[openai.APIError],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(error):
        await client.chat.completions.create(model=model, messages=[USER])
    assert capsys.readouterr().err == ""  # a failure that was asked for is no trouble


async def test_a_slow_model_takes_its_time_before_anything_comes() -> None:
    server = await demo.start(pace_s=0, slow_s=0.2)
    began = time.monotonic()
    async with openai.AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0) as client:
        await client.chat.completions.create(model="demo-slow", messages=[USER])
    assert time.monotonic() - began >= 0.2
    await server.stop()


@pytest.mark.parametrize(
    ("model", "error"), [("demo-error", openai.APIError), ("demo-cut", openai.APIConnectionError)]
)
async def test_models_that_fail_half_way_have_said_something(
    client: openai.AsyncOpenAI,
    model: str,
    error: type[openai.APIError],
    capsys: pytest.CaptureFixture[str],
) -> None:
    stream = await client.chat.completions.create(model=model, messages=[USER], stream=True)
    said = [(await anext(stream)).choices[0].delta.content for _ in range(3)]
    assert "".join(said).startswith("This is")
    with pytest.raises(error):
        await anext_until_the_end(stream)
    assert capsys.readouterr().err == ""  # a failure that was asked for is no trouble


async def anext_until_the_end(stream: openai.AsyncStream[Any]) -> None:
    async for _ in stream:
        pass


async def test_who_leaves_in_the_middle_does_no_harm(server: demo.Demo, client: openai.AsyncOpenAI) -> None:
    ask = {"model": "demo", "messages": [USER], "stream": True}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/chat/completions", json=ask) as reply,
    ):
        await reply.content.readany()
    assert (await client.chat.completions.create(model="demo", messages=[USER])).choices


async def test_a_client_that_leaves_is_nothing_to_speak_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl+C on curl would fill a newcomer's terminal with a traceback."""
    said: list[logging.LogRecord] = []
    monkeypatch.setattr(logging.getLogger("aiohttp.server"), "handle", said.append)
    server = await demo.start(pace_s=0.01)
    body = {"model": "demo", "stream": True, "messages": [{"role": "user", "content": "hello there " * 50}]}
    before = asyncio.all_tasks()
    async with aiohttp.ClientSession() as session:
        for _ in range(5):
            async with session.post(f"{server.url}/chat/completions", json=body) as response:
                await response.content.readany()
                response.close()
            await (await session.get(f"{server.url}/models")).read()
    await asyncio.wait(asyncio.all_tasks() - before)  # those that speak on, to nobody
    await server.stop()
    assert said == []


async def test_nor_is_one_that_leaves_before_the_answer_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[logging.LogRecord] = []
    monkeypatch.setattr(logging.getLogger("aiohttp.server"), "handle", said.append)
    asked = asyncio.Event()

    class Heard(list[demo.Recorded]):
        def append(self, _: demo.Recorded) -> None:
            asked.set()

    server = await demo.start(slow_s=0.05, record=Heard())
    before = asyncio.all_tasks()
    body = orjson.dumps({"model": "demo-slow", "stream": True, "messages": [USER]})
    _, writer = await asyncio.open_connection(*server.runner.addresses[0][:2])
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    writer.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    async with asyncio.timeout(5):
        await asked.wait()
    writer.close()
    await asyncio.wait(asyncio.all_tasks() - before)
    await server.stop()
    assert said == []
