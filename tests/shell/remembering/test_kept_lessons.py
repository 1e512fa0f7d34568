"""What was learned outlives the process that has learned it, for its owner, for its time, where something is kept."""

from pathlib import Path
from typing import Any

import pytest

from proxy import app
from proxy.core.backends.learned import LASTS_SECONDS
from proxy.core.tenants import digest
from proxy.shell.remembering import kept_lessons as module
from proxy.shell.remembering.memos import Memos
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import DONE, END, HEAD, ScriptedBackend, answer, finish, reply, text
from tests.support.two_tenants import TENANTS, shown_by

ANN, BOB = shown_by("ann"), shown_by("bob")
REPLY = reply(text("Hello"))
NO_USAGE = answer(400, {"error": {"message": "Unknown parameter: 'stream_options'."}})


@pytest.fixture
def store(tmp_path: Path) -> dict[str, Any]:
    return {"url": f"sqlite:{tmp_path}"}


async def asked(proxy: Proxy, who: dict[str, str] | None = None, **body: Any) -> None:
    async with proxy.post({"model": "m", "input": "Hi"} | body, **who or {}) as response:
        assert response.status == 200, await response.text()


def counted(backend: ScriptedBackend) -> list[bool]:
    """Of which requests was usage asked for?"""
    return ["stream_options" in each.json for each in backend.received]


async def test_a_proxy_that_starts_anew_goes_on_with_what_was_learned(
    backend: ScriptedBackend, start_proxy: StartProxy, store: dict[str, Any]
) -> None:
    backend.answers(NO_USAGE, REPLY)
    await asked(await start_proxy(store=store))
    again = await start_proxy(store=store)
    for _ in range(2):
        await asked(again)
    assert counted(backend) == [True, False, False, False]
    (line,) = again.log.named("lessons_recalled")
    assert (line["backend"], line["model"], line["fields"]) == ("backend", "m", ["usage"])
    async with again.session.get(f"{again.url}/metrics") as response:
        told = await response.text()
    assert 'lessons_total{backend="backend",lesson="usage",source="store",worker="0"} 1.0' in told
    assert 'lessons_held{backend="backend",field="usage",worker="0"} 1.0' in told


async def test_what_a_reply_has_taught_is_kept_too(
    backend: ScriptedBackend, start_proxy: StartProxy, store: dict[str, Any]
) -> None:
    opened = reply(text("Hm."), text("</think>Hello"))
    backend.answers(opened)
    await (await start_proxy(store=store)).stream()
    again = await start_proxy(store=store)
    last = (await again.stream())[-2].data["response"]
    assert [item["type"] for item in last["output"]] == ["reasoning", "message"]


async def test_a_lesson_that_was_taken_back_does_not_return(
    backend: ScriptedBackend, start_proxy: StartProxy, store: dict[str, Any]
) -> None:
    uncounted = b"".join((HEAD, text("Hello"), finish(), DONE, END))
    backend.answers(uncounted, REPLY)
    first = await start_proxy(store=store)
    await asked(first)
    await asked(first, stream=True)
    await asked(await start_proxy(store=store))
    assert [each.json["stream"] for each in backend.received] == [True, True, True]


async def test_it_ends_when_it_would_have_ended(
    backend: ScriptedBackend,
    start_proxy: StartProxy,
    store: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend.answers(NO_USAGE, REPLY)
    await asked(await start_proxy(store=store))
    then = app._now()
    monkeypatch.setattr(app, "_now", lambda: then + LASTS_SECONDS + 1)
    await asked(await start_proxy(store=store))
    assert counted(backend) == [True, False, True]


async def test_what_one_tenant_has_taught_returns_to_that_tenant_only(
    backend: ScriptedBackend, start_proxy: StartProxy, store: dict[str, Any]
) -> None:
    """A hostile request harms nobody else after a restart either."""
    backend.answers(NO_USAGE, REPLY)
    await asked(await start_proxy(store=store, tenants=TENANTS), ANN)
    again = await start_proxy(store=store, tenants=TENANTS)
    await asked(again, BOB)
    await asked(again, ANN)
    assert counted(backend) == [True, False, True, False]


async def test_what_two_have_brought_holds_for_all(
    backend: ScriptedBackend, start_proxy: StartProxy, store: dict[str, Any]
) -> None:
    tenants = TENANTS | {"cid": {"keys": [digest("cid's key")]}}
    cid = {"Authorization": "Bearer cid's key"}
    backend.answers(NO_USAGE, REPLY, NO_USAGE, REPLY)
    first = await start_proxy(store=store, tenants=tenants)
    await asked(first, ANN)
    await asked(first, BOB)
    again = await start_proxy(store=store, tenants=tenants)
    for who in (cid, ANN, BOB, cid):
        await asked(again, who)
    assert counted(backend) == [True, False, True, False, True, False, False, False]


async def test_another_configuration_has_other_lessons(
    backend: ScriptedBackend, start_proxy: StartProxy, store: dict[str, Any]
) -> None:
    backend.answers(NO_USAGE, REPLY)
    await asked(await start_proxy(store=store))
    await asked(await start_proxy(store=store, backend={"overrides": {"audio": False}}))
    assert counted(backend) == [True, False, True]


async def test_where_nothing_is_kept_each_process_learns_anew(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(NO_USAGE, REPLY, NO_USAGE, REPLY)
    for _ in range(2):
        await asked(await start_proxy(store={"url": "off"}))
    assert counted(backend) == [True, False, True, False]


async def test_only_a_young_process_looks_for_lessons_and_once_for_each(
    backend: ScriptedBackend,
    start_proxy: StartProxy,
    store: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A store that is slow holds up no second request."""
    looked: list[str] = []
    recall = Memos.recall

    async def noted(self: Memos, tenant: str, keys: Any) -> Any:
        looked.extend(key for key in keys if key.startswith(module.LESSONS))
        return await recall(self, tenant, keys)

    monkeypatch.setattr(Memos, "recall", noted)
    proxy = await start_proxy(store=store)
    for model in ("a", "a", "b"):
        await asked(proxy, model=model)
    assert len(looked) == 2
    monkeypatch.setattr(module, "MOST_OWNERS", 2)
    await asked(proxy, model="c")
    assert len(looked) == 2
    monkeypatch.setattr(module, "LASTS_SECONDS", 0.0)
    await asked(await start_proxy(store=store))
    assert len(looked) == 2


async def test_replies_that_renew_a_lesson_are_not_all_written(
    backend: ScriptedBackend,
    start_proxy: StartProxy,
    store: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[float] = []
    send = Memos.send

    def noted(self: Memos, tenant: str, memos: Any, seconds: float = 0.0) -> Any:
        sent.extend(seconds for key in memos if key.startswith(module.LESSONS))
        return send(self, tenant, memos, seconds)

    monkeypatch.setattr(Memos, "send", noted)
    proxy = await start_proxy(store=store)
    backend.answers(reply(text("Hm."), text("</think>Hello")))
    for _ in range(3):
        await proxy.stream()
    assert sent == [LASTS_SECONDS]
    monkeypatch.setattr(module, "RENEWED_SECONDS", 0.0)
    await proxy.stream()
    assert sent == [LASTS_SECONDS] * 2
