"""A server that nobody knows gets its model's thoughts back in the field in which it sends them, as its replies
show it; a refusal ends that, and what clients keep names the field, so that a proxy that was restarted goes on."""

from pathlib import Path
from typing import Any

import pytest

from proxy import app
from proxy.core.backends.learned import LASTS_SECONDS
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import Line, ScriptedBackend, answer, delta, reply, text
from tests.support.two_tenants import TENANTS, shown_by

ANN, BOB = shown_by("ann"), shown_by("bob")
THOUGHT = "The user greets."
FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
SIGNED = {"server": {"signing_key": "a key that stays the same"}}


def thinking(field: str = "reasoning_content") -> bytes:
    return reply(delta(**{field: THOUGHT}), text("Hello."))


async def turn(proxy: Proxy, history: list[Any], who: dict[str, str] | None = None) -> None:
    """Asks once more with all that was said, and adds the answer."""
    history.append({"role": "user", "content": "Hi"})
    body = {"model": "m", "input": history, "include": ["reasoning.encrypted_content"], "store": False}
    async with proxy.post(body, **who or {}) as response:
        assert response.status == 200, await response.text()
        history += (await response.json())["output"]


def carried(backend: ScriptedBackend) -> list[set[str]]:
    """The fields of thoughts in the messages of each request."""
    return [
        {field for message in asked.json["messages"] for field in FIELDS if field in message}
        for asked in backend.received
    ]


async def test_thoughts_go_back_in_the_field_that_they_came_in(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(thinking("reasoning"))
    history: list[Any] = []
    for _ in range(3):
        await turn(proxy, history)
    assert carried(backend) == [set(), {"reasoning"}, {"reasoning"}]
    said = backend.received[-1].json["messages"]
    assert [message.get("reasoning") for message in said if message["role"] == "assistant"] == [THOUGHT] * 2
    (line,) = proxy.log.named("reply_learned")
    assert line["fields"] == {"replay": "reasoning", "replay_scope": "all"}


async def test_a_restarted_proxy_goes_on_with_what_its_client_keeps(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(thinking())
    history: list[Any] = []
    await turn(await start_proxy(**SIGNED), history)
    await turn(await start_proxy(**SIGNED), history)
    assert carried(backend) == [set(), {"reasoning_content"}]


async def test_what_another_model_thought_names_no_field(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(thinking())
    history: list[Any] = []
    await turn(await start_proxy(**SIGNED), history)
    other = await start_proxy(backend={"models": {"m": "another"}}, **SIGNED)
    await turn(other, history)
    assert carried(backend) == [set(), set()]


async def test_what_clients_write_names_no_field(backend: ScriptedBackend, proxy: Proxy) -> None:
    """A thought that the proxy has not sealed."""
    backend.answers(reply(text("Hello.")))
    invented = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "replay reasoning_content"}],
    }
    history: list[Any] = [
        {"role": "user", "content": "Hi"},
        invented,
        {"role": "assistant", "content": "Hello."},
    ]
    await turn(proxy, history)
    assert carried(backend) == [set()]
    assert proxy.log.named("reply_learned") == []


async def strict(line: Line) -> None:
    """Refuses the field, in words that nobody knows."""
    while True:
        asked = await line.request()
        if any("reasoning_content" in message for message in asked.json["messages"]):
            line.send(answer(422, {"error": {"message": "Ungültige Nachricht."}}))
        else:
            line.send(thinking())


async def test_a_refusal_in_any_words_ends_it(backend: ScriptedBackend, proxy: Proxy) -> None:
    """No client notices. The replies that still have the field teach nothing for a while."""
    backend.plays(strict)
    history: list[Any] = []
    for _ in range(4):
        await turn(proxy, history)
    field = {"reasoning_content"}
    assert carried(backend) == [set(), field, set(), set(), set()]
    assert len(proxy.log.named("reply_learned")) == 1
    (line,) = proxy.log.named("refusal_learned")
    assert line["lessons"] == ["evidence"]


async def test_a_refusal_for_another_reason_ends_nothing(backend: ScriptedBackend, proxy: Proxy) -> None:
    async def plays(line: Line) -> None:
        while True:
            asked = await line.request()
            bad = "poison" in str(asked.json)
            line.send(answer(400, {"error": {"message": "No."}}) if bad else thinking())

    backend.plays(plays)
    history: list[Any] = []
    await turn(proxy, history)
    poisoned = [*history, {"role": "user", "content": "poison"}]
    async with proxy.post({"model": "m", "input": poisoned}) as response:
        assert response.status == 400
    await turn(proxy, history)
    assert carried(backend)[-1] == {"reasoning_content"}
    assert proxy.log.named("refusal_learned") == []


async def test_one_tenant_teaches_itself_only(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """As with all lessons. Thoughts that a tenant was given name the field anyway."""
    backend.answers(thinking())
    proxy = await start_proxy(tenants=TENANTS)
    await turn(proxy, [], ANN)
    await turn(proxy, [], BOB)
    assert len(proxy.log.named("reply_learned")) == 2


async def test_what_the_operator_says_is_not_learned(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(thinking())
    proxy = await start_proxy(backend={"overrides": {"replay": "none"}})
    history: list[Any] = []
    for _ in range(2):
        await turn(proxy, history)
    assert carried(backend) == [set(), set()]
    assert proxy.log.named("reply_learned") == []


async def test_what_is_stored_names_the_field_when_the_lesson_has_ended(
    backend: ScriptedBackend,
    start_proxy: StartProxy,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first turn after a restart has its thoughts, whichever process has learned what."""
    backend.answers(thinking("reasoning"))
    store = {"url": f"sqlite:{tmp_path}"}
    first = await start_proxy(store=store, **SIGNED)
    async with first.post({"model": "m", "input": "Hi"}) as response:
        said = await response.json()
    then = app._now()
    monkeypatch.setattr(app, "_now", lambda: then + LASTS_SECONDS + 1)
    second = await start_proxy(store=store, **SIGNED)
    async with second.post({"model": "m", "input": "And?", "previous_response_id": said["id"]}) as response:
        assert response.status == 200, await response.text()
    assert second.log.named("lessons_recalled") == []
    assert carried(backend) == [set(), {"reasoning"}]
