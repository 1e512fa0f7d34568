"""What one process remembers of calls, found by another on the same store: their ids and the thoughts before them."""

from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import aiohttp
import pytest

from tests.support.postgres import fresh_url
from tests.support.processes import serving
from tests.support.sockets import ScriptedBackend, reply, text
from tests.support.whole_talks import chat, ids, native, thinking, thoughts

TURNS = 12
"""So many requests in a row are not answered by one of two workers alone, but once in two thousand times."""


def config(tmp_path: Path, backend: ScriptedBackend, store: str = "") -> Path:
    path = tmp_path / "proxy.toml"
    path.write_text(
        f"""
        [server]
        port = 0
        grace_seconds = 0.1
        [backend]
        url = "{backend.url}"
        profile = "default"
        [backend.overrides]
        replay = "reasoning_content"
        [store]
        url = "{store or f"sqlite:{tmp_path / 'state'}"}"
        """
    )
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
async def two(
    request: pytest.FixtureRequest, backend: ScriptedBackend, tmp_path: Path
) -> AsyncIterator[tuple[str, str]]:
    """Two processes on one store: of one machine, or of two."""
    path = config(tmp_path, backend, await fresh_url() if request.param == "postgresql" else "")
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(serving("-m", "proxy", "serve", "--config", path)) for _ in range(2)
        )
        yield first, second


async def test_u57_thoughts_are_found_by_another_process(
    backend: ScriptedBackend, two: tuple[str, str]
) -> None:
    backend.answers(thinking("One."), thinking("Two."), thinking("Three."), reply(text("x")))
    talk = chat()
    for url in (two[0], two[1], two[0], two[1]):
        assert (await talk.ask(url))[0] == 200
    assert thoughts(backend) == ["One.", "Two.", "Three."]


async def test_u57_stored_responses_share_them_too_and_others_keep_them(
    backend: ScriptedBackend, two: tuple[str, str]
) -> None:
    """T02: of `store: false` nothing goes to the store."""
    backend.answers(*(thinking(id=f"call_{number}") for number in range(4)))
    first, second = two
    user = {"role": "user", "content": "Hi"}
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}]
    found = []
    for store in (True, False):
        body = {"model": "m", "store": store, "tools": tools, "input": [user]}
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{first}/v1/responses", json=body) as response:
                output = (await response.json())["output"]
            (made,) = [item for item in output if item["type"] == "function_call"]
            result = {"type": "function_call_output", "call_id": made["call_id"], "output": "done"}
            body["input"] = [user, made, result]
            async with session.post(f"{second}/v1/responses", json=body) as response:
                assert response.status == 200
        found += thoughts(backend)
    assert found == ["Hm.", None]


async def test_n03_a_conversation_is_known_to_every_process(
    backend: ScriptedBackend, two: tuple[str, str]
) -> None:
    """U57. A call that one of them has never heard of is refused by both."""
    backend.answers(*(thinking(id=f"theirs-{number}") for number in range(4)))
    talk = native()
    for url in (two[0], two[1], two[0], two[0], two[1]):
        status, answer = await talk.ask(url)
        assert status == 200, answer
    assert ids(backend) == ["theirs-0", "theirs-1", "theirs-2", "theirs-3"]
    talk.messages.append({"role": "tool", "tool_call_id": "call_never", "content": "x"})
    for url in two:
        status, answer = await talk.ask(url)
        assert (status, "not given out in this conversation" in answer["error"]["message"]) == (400, True)
    elsewhere = native("c-2")
    elsewhere.messages = talk.messages[:-1]
    assert (await elsewhere.ask(two[0]))[0] == 400


async def test_n03_two_workers_are_one_proxy(backend: ScriptedBackend, tmp_path: Path) -> None:
    """U57: each request is a connection of its own, which any worker may get."""
    backend.answers(*(thinking(id=f"theirs-{number}") for number in range(TURNS)))
    path = config(tmp_path, backend)
    talk = native()
    with serving("-m", "proxy", "serve", "--config", path, "--workers", "2") as url:
        for _ in range(TURNS):
            status, answer = await talk.ask(url)
            assert status == 200, answer
    assert ids(backend) == [f"theirs-{number}" for number in range(TURNS - 1)]
    assert thoughts(backend) == ["Hm."] * (TURNS - 1)
