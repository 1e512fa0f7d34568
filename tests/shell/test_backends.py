"""P01 with several backends: each model's requests reach its own, with its own key, and are listed once."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import ScriptedBackend, answer, reply, scripted, text


@pytest.fixture
async def other() -> AsyncIterator[ScriptedBackend]:
    async with scripted() as backend:
        backend.answers(reply(text("There")))
        yield backend


@pytest.fixture
async def both(start_proxy: StartProxy, other: ScriptedBackend) -> Proxy:
    return await start_proxy(
        backend={"key": "sk-here"},
        backends={
            "there": {"url": other.url, "profile": "default", "key": "sk-there", "models": {"b": "bb"}}
        },
        routing={"models": {"there-*": "there", "b": "there"}, "aliases": {"fast": "there-1"}},
    )


async def said(proxy: Proxy, model: str) -> str:
    async with proxy.post({"model": model, "input": "Hi"}) as response:
        assert response.status == 200, await response.text()
        words: str = (await response.json())["output"][0]["content"][0]["text"]
        return words


async def test_each_model_has_its_backend(
    backend: ScriptedBackend, other: ScriptedBackend, both: Proxy
) -> None:
    assert await said(both, "anything") == "Hello"
    assert await said(both, "there-2") == "There"
    assert await said(both, "fast") == "There"
    assert await said(both, "b") == "There"
    assert [request.json["model"] for request in other.received] == ["there-2", "there-1", "bb"]


async def test_no_backend_sees_anothers_key(
    backend: ScriptedBackend, other: ScriptedBackend, both: Proxy
) -> None:
    await said(both, "anything")
    await said(both, "there-2")
    assert [request.headers["authorization"] for request in backend.received] == ["Bearer sk-here"]
    assert [request.headers["authorization"] for request in other.received] == ["Bearer sk-there"]


async def test_the_log_says_which_it_was(both: Proxy) -> None:
    await said(both, "fast")
    line = both.log.request
    assert (line["backend"], line["model"], line["backend_model"]) == ("there", "fast", "there-1")


async def test_a_model_that_belongs_to_none_is_refused(
    start_proxy: StartProxy, other: ScriptedBackend
) -> None:
    proxy = await start_proxy(
        backend={"url": None},
        backends={"a": {"url": other.url}, "b": {"url": other.url}},
        routing={"models": {"x": "a"}},
    )
    status, error = await proxy.refused(model="y")
    assert (status, error["code"], error["param"]) == (404, "model_not_found", "model")
    assert "Choose one of: x." in error["message"]


async def test_models_are_listed_where_their_requests_lead(
    backend: ScriptedBackend, other: ScriptedBackend, both: Proxy
) -> None:
    def listing(*names: str) -> bytes:
        return answer(200, {"data": [{"id": name} for name in names]})

    backend.answers(listing("mine", "there-1"))
    other.answers(listing("there-1", "mine"))
    async with both.session.get(f"{both.url}/v1/models") as response:
        listed: list[dict[str, Any]] = (await response.json())["data"]
    assert [model["id"] for model in listed] == ["fast", "mine", "b", "there-1"]
    async with both.session.get(f"{both.url}/v1/models/there-1") as response:
        assert (await response.json())["id"] == "there-1"


async def test_the_clients_key_is_forwarded_only_where_that_is_switched_on(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    for forward_key, expected in ((False, None), (True, "Bearer sk-client")):
        proxy = await start_proxy(backend={"forward_key": forward_key})
        async with proxy.post({"model": "m", "input": "Hi"}, Authorization="Bearer sk-client"):
            assert backend.received[-1].headers.get("authorization") == expected
