"""What is asked of other processes before a request goes to its backend: no more than is needed."""

import pytest

from proxy.shell.remembering.kept_lessons import LESSONS
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import ScriptedBackend, reply, text
from tests.support.store_failing import Failing, failing_live
from tests.support.whole_talks import WholeTalk, chat, native, thinking, thoughts

__all__ = ["failing_live"]

THINKS = {"overrides": {"replay": "reasoning_content"}}


def asked(live: Failing) -> list[str]:
    """Of calls. What was learned of the backend is looked for once, by each process that has just begun."""
    return [
        name
        for name, words in zip(live.asked, live.words, strict=True)
        if name in ("recall", "remember") and not any(key.startswith(LESSONS) for key in words[1])
    ]


async def rounds(talk: WholeTalk, proxy: Proxy, count: int) -> None:
    for _ in range(count):
        status, answer = await talk.ask(proxy.url)
        assert status == 200, answer


async def test_u01_who_knows_all_calls_asks_nobody(
    backend: ScriptedBackend, failing_live: Failing, start_proxy: StartProxy
) -> None:
    """D10, U57: it only tells the others."""
    backend.answers(thinking("One."), thinking("Two."), reply(text("x")))
    talk = chat()
    await rounds(talk, await start_proxy(backend=THINKS), 3)
    assert thoughts(backend) == ["One.", "Two."]
    assert asked(failing_live) == ["remember", "remember"]


async def test_u01_for_a_backend_that_wants_no_thoughts_nothing_is_told_or_asked(
    backend: ScriptedBackend, failing_live: Failing, start_proxy: StartProxy
) -> None:
    """D10: with calls from anywhere in the history."""
    backend.answers(thinking())
    talk = chat()
    unwanted = {"overrides": {"replay": "none"}}
    await rounds(talk, await start_proxy(backend=unwanted), 2)
    await rounds(talk, await start_proxy(backend=unwanted), 1)
    assert asked(failing_live) == []


async def test_u01_what_a_client_carries_or_does_not_want_kept_is_nobodys(
    backend: ScriptedBackend, failing_live: Failing, start_proxy: StartProxy
) -> None:
    """T02, D10."""
    backend.answers(thinking())
    user = {"role": "user", "content": "Hi"}
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}]
    for wish in ({"store": False}, {"include": ["reasoning.encrypted_content"]}):
        body = {"model": "m", "tools": tools, **wish}
        proxy = await start_proxy(backend=THINKS)
        async with proxy.post(body | {"input": [user]}) as response:
            output = [item for item in (await response.json())["output"] if item["type"] != "message"]
        again = {"type": "function_call_output", "call_id": "call_1", "output": "done"}
        other = await start_proxy(backend=THINKS)
        async with other.post(body | {"input": [user, *output[-1:], again]}) as response:
            assert response.status == 200
    assert asked(failing_live) == []


async def test_what_nobody_remembers_is_asked_for_once(
    backend: ScriptedBackend, failing_live: Failing, start_proxy: StartProxy
) -> None:
    """But the newest call, which another process may just be telling of."""
    backend.answers(reply(text("x")))
    proxy, talk = await start_proxy(backend=THINKS), chat()
    for number in range(3):
        talk.messages += [
            {
                "role": "assistant",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": NAMED}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": "done"},
        ]
    for _ in range(3):
        status, _ = await talk.ask(proxy.url)
        assert status == 200
        talk.messages.pop()
    assert asked(failing_live) == ["recall"] * 3
    talk.messages.append(
        {"role": "assistant", "tool_calls": [{"id": "c9", "type": "function", "function": NAMED}]}
    )
    await talk.ask(proxy.url)
    assert len(asked(failing_live)) == 4


NAMED = {"name": "f", "arguments": "{}"}


@pytest.mark.parametrize("talk", [chat(), native()])
async def test_u57_a_store_that_is_down_has_forgotten(
    backend: ScriptedBackend, failing_live: Failing, start_proxy: StartProxy, talk: WholeTalk
) -> None:
    """Nobody is refused who would not be without a store."""
    failing_live.down = {"recall", "remember"}
    backend.answers(thinking())
    proxy = await start_proxy(backend=THINKS)
    await rounds(talk, proxy, 3)
    assert thoughts(backend) == ["Hm.", "Hm."]
    other = await start_proxy(backend=THINKS)
    status, answer = await talk.ask(other.url)
    if status == 200:
        assert thoughts(backend) == [None, None, None]
    else:
        assert (status, answer["error"]["code"]) == (400, "invalid_value")
    assert "recall" in asked(failing_live)
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        assert 'memos_lost_total{reason="store_down"' in await response.text()


async def test_thoughts_are_of_the_model_whatever_its_clients_call_it(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(thinking("One."), thinking("Two."), reply(text("x")))
    proxy = await start_proxy(backend=THINKS, routing={"aliases": {"fast": "m"}})
    talk = WholeTalk("/v1/chat/completions", model="fast")
    await rounds(talk, proxy, 1)
    other = chat()
    other.messages = talk.messages
    await rounds(other, proxy, 1)
    await rounds(talk, proxy, 1)
    assert thoughts(backend) == ["One.", "Two."]
