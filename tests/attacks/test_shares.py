"""Nobody's request changes another's: what strangers share is shared out among tenants, and where there are none, among
addresses. 127.0.0.1 and 127.0.0.2 are two strangers here.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
import pytest

from proxy.core.surfaces.memory import call_ids
from proxy.shell import concurrency
from proxy.shell.websocket import open_sockets
from tests.attacks.strangers import BUSY, GOOD, silent, stranger
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import PROMPTLY, ScriptedBackend, delta, finish, reply, scripted
from tests.support.two_tenants import TENANTS, shown_by

ASK = {"model": "m", "input": "Hi"}


# ── requests at backends (16) ──


async def outcome(proxy: Proxy, model: str, **headers: str) -> int:
    async with proxy.post(ASK | {"model": model}, **headers) as response:
        status: int = response.status
        return status


@asynccontextmanager
async def hanging(proxy: Proxy, times: int, slow: ScriptedBackend, **headers: str) -> AsyncIterator[None]:
    """So many requests at a backend that answers nothing."""
    before = len(slow.received)
    loop = asyncio.get_running_loop()
    asked = [loop.create_task(outcome(proxy, "slow", **headers)) for _ in range(times)]
    async with asyncio.timeout(PROMPTLY):
        while len(slow.received) < before + times:
            await asyncio.wait(asked, timeout=0.01)
    yield
    for each in asked:
        each.cancel()
    await asyncio.wait(asked)


def beside(slow: ScriptedBackend) -> dict[str, Any]:
    return {
        "backends": {"slow": {"url": slow.url, "profile": "default"}},
        "routing": {"models": {"slow": "slow"}},
    }


async def test_attack_16_a_backend_that_hangs_takes_nothing_from_another(
    start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency, "MAX_EXCHANGES", 8)
    async with scripted() as slow:
        slow.plays(silent)
        proxy = await start_proxy(**beside(slow))
        async with hanging(proxy, 4, slow):
            assert await outcome(proxy, "slow") == BUSY
            assert await outcome(proxy, "quick") == GOOD


async def test_attack_16_a_tenant_leaves_room_for_the_others_at_the_same_backend(
    start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency, "MAX_EXCHANGES", 8)
    async with scripted() as slow:
        slow.plays(silent)
        proxy = await start_proxy(tenants=TENANTS, **beside(slow))
        async with hanging(proxy, 4, slow, **shown_by("ann")):
            assert await outcome(proxy, "slow", **shown_by("ann")) == BUSY
            async with hanging(proxy, 2, slow, **shown_by("bob")):
                assert await outcome(proxy, "quick", **shown_by("bob")) == GOOD


# ── WebSockets (17) ──


async def held(stack: AsyncExitStack, proxy: Proxy, times: int, **headers: str) -> list[int]:
    """What became of so many attempts to open one and keep it."""
    return [await opened(stack, proxy, headers) for _ in range(times)]


async def opened(stack: AsyncExitStack, proxy: Proxy, headers: dict[str, str]) -> int:
    connecting = proxy.session.ws_connect(f"{proxy.url}/v1/responses", headers=headers)
    try:
        await stack.enter_async_context(connecting)
    except aiohttp.WSServerHandshakeError as refusal:
        return refusal.status if (refusal.headers or {}).get("Retry-After") == "1" else 0
    return GOOD


async def test_attack_17_no_address_takes_all_sockets(
    start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_sockets, "MAX_OPEN", 8)
    proxy = await start_proxy()
    async with AsyncExitStack() as stack, stranger(proxy) as other:
        assert await held(stack, proxy, 5) == [GOOD] * 4 + [BUSY]
        assert await held(stack, other, 1) == [GOOD]
    async with AsyncExitStack() as stack:
        assert await held(stack, proxy, 4) == [GOOD] * 4, "those that were closed are given back"


async def test_attack_17_no_tenant_takes_all_sockets(
    start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever addresses it has."""
    monkeypatch.setattr(open_sockets, "MAX_OPEN", 8)
    proxy = await start_proxy(tenants=TENANTS)
    async with AsyncExitStack() as stack, stranger(proxy) as other:
        assert await held(stack, proxy, 3, **shown_by("ann")) == [GOOD] * 3
        assert await held(stack, other, 2, **shown_by("ann")) == [GOOD, BUSY]
        assert await held(stack, proxy, 1, **shown_by("bob")) == [GOOD]


# ── what is remembered (15) ──

TOOLS = [
    {"type": "function", "function": {"name": "f", "description": "f", "parameters": {"type": "object"}}}
]
HI = {"role": "user", "content": "Hi"}
CALLED = delta(tool_calls=[{"index": 0, "id": "x", "function": {"name": "f", "arguments": "{}"}}])


async def asked_natively(proxy: Proxy, name: str, conversation: str, *messages: Any) -> dict[str, Any]:
    body = {"model": "m", "messages": [*messages], "tools": TOOLS, "conversation_id": conversation}
    url = f"{proxy.url}/native/v1/chat/completions"
    async with proxy.session.post(url, json=body, headers=shown_by(name)) as response:
        said: dict[str, Any] = await response.json()
        return said


async def test_attack_15_no_tenant_makes_another_forget_its_conversations(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither with requests that are refused nor with good ones."""
    monkeypatch.setattr(call_ids, "MAX_BYTES", 6000)
    backend.answers(reply(CALLED, finish("tool_calls")))
    proxy = await start_proxy(tenants=TENANTS)
    said = (await asked_natively(proxy, "ann", "c", HI))["choices"][0]["message"]
    for number in range(10):
        refused = await asked_natively(proxy, "bob", f"bad-{number}", 5)
        assert refused["error"]["param"] == "messages[0]"
        assert "choices" in await asked_natively(proxy, "bob", f"good-{number}", HI)
    result = {"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "1"}
    assert "choices" in await asked_natively(proxy, "ann", "c", HI, said, result)
