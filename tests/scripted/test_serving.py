"""The scripted servers' own promises: nothing wrong passes, nothing is left unsaid, any pieces make the same bytes."""

from contextlib import AsyncExitStack

import aiohttp
import pytest

from tests.scripted import chat
from tests.scripted.say import Say
from tests.scripted.serving import at_once, in_halves, one_by_one, serving

GOOD = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
BAD = GOOD | {"messages": [{"role": "user", "content": ""}]}


async def post(url: str, body: object) -> tuple[int, bytes]:
    async with aiohttp.ClientSession() as session, session.post(url + chat.PATH, json=body) as response:
        return response.status, await response.read()


async def test_a_wrong_request_is_refused_and_fails_its_test_at_the_latest_at_the_end() -> None:
    ending = AsyncExitStack()
    backend = await ending.enter_async_context(serving(chat.provider()))
    status, body = await post(backend.url, BAD)
    assert status == 400
    assert b"an empty user message" in body
    with pytest.raises(AssertionError, match="an empty user message"):
        await ending.aclose()


async def test_more_requests_than_answers() -> None:
    with pytest.raises(AssertionError, match="one request more than there are answers"):
        async with serving(chat.provider()) as backend:
            await post(backend.url, GOOD)


async def test_more_answers_than_requests() -> None:
    with pytest.raises(AssertionError, match="never asked for"):
        async with serving(chat.provider(), Say(text="Hello")):
            pass


@pytest.mark.parametrize("pieces", [one_by_one, at_once, in_halves])
async def test_pieces_change_nothing(pieces: object) -> None:
    say = Say(text="Hello")
    async with serving(chat.provider(), say, pieces=pieces) as backend:
        assert await post(backend.url, GOOD) == (200, b"".join(chat.stream(say)))
        assert backend.last.body == GOOD


async def test_the_list_of_models_is_no_question_to_a_model() -> None:
    async with serving(chat.provider()) as backend, aiohttp.ClientSession() as session:
        async with session.get(f"{backend.url}/api/v1/models") as response:
            assert (await response.json())["data"][0]["id"] == "m"
        assert backend.requests == []
