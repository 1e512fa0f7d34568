"""Turns whose answers are kept."""

from typing import Any

from tests.support.proxies import Proxy
from tests.support.sockets import ScriptedBackend


async def asked(proxy: Proxy, **body: Any) -> dict[str, Any]:
    async with proxy.post({"model": "m", "input": "Hi"} | body) as response:
        assert response.status == 200, await response.text()
        answer: dict[str, Any] = await response.json()
        return answer


async def refused(proxy: Proxy, **body: Any) -> tuple[int, str | None, str | None]:
    status, error = await proxy.refused(**body)
    return status, error["code"], error["param"]


async def made(proxy: Proxy, **body: Any) -> str:
    """A new conversation."""
    async with proxy.session.post(f"{proxy.url}/v1/conversations", json=body) as response:
        assert response.status == 200, await response.text()
        id: str = (await response.json())["id"]
        return id


async def items(proxy: Proxy, conversation: str) -> list[dict[str, Any]]:
    """All of them, oldest first."""
    url = f"{proxy.url}/v1/conversations/{conversation}/items?order=asc&limit=100"
    async with proxy.session.get(url) as response:
        found: list[dict[str, Any]] = (await response.json())["data"]
        return found


def sent(backend: ScriptedBackend) -> list[tuple[str, Any]]:
    """What the backend was asked last, by role."""
    return [(message["role"], message.get("content")) for message in backend.received[-1].json["messages"]]
