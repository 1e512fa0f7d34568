"""Proxies whose inspector shows what was said, and what its data are."""

from pathlib import Path
from typing import Any

from tests.support.proxies import Proxy


def recorded(directory: Path, **others: Any) -> dict[str, Any]:
    """Settings by which the recorder keeps all that is said, and the inspector shows it."""
    return {"recorder": {"keep": "all", "directory": str(directory), **others}}


async def asked(proxy: Proxy, name: str, headers: dict[str, str] | None = None, **query: Any) -> Any:
    """The inspector's data of this name."""
    url = f"{proxy.url}/inspector/data/{name}"
    async with proxy.session.get(url, params=query, headers=headers or {}) as response:
        return await response.json()


async def only_request(proxy: Proxy) -> dict[str, Any]:
    (request,) = (await asked(proxy, "requests"))["requests"]
    found: dict[str, Any] = request
    return found
