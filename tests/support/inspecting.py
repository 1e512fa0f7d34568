"""Proxies whose inspector shows what was said, and what its data are."""

from typing import Any

import pytest

from proxy import app
from proxy.settings.root import Settings
from proxy.shell.inspector.ring import Ring
from tests.support.proxies import Proxy
from tests.support.watching import Onlooker, have_watch

MOST_BYTES = 1 << 20


def keep_content(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a recorder kept all that is said, in proxies that are started from now on."""

    def ring_of(settings: Settings) -> Ring:
        return Ring(settings.inspector.requests, MOST_BYTES, keeps_content=lambda watch: True)

    have_watch(monkeypatch, Onlooker(content=True), room=MOST_BYTES)
    monkeypatch.setattr(app, "ring_of", ring_of)


async def asked(proxy: Proxy, name: str, headers: dict[str, str] | None = None, **query: Any) -> Any:
    """The inspector's data of this name."""
    url = f"{proxy.url}/inspector/data/{name}"
    async with proxy.session.get(url, params=query, headers=headers or {}) as response:
        return await response.json()


async def only_request(proxy: Proxy) -> dict[str, Any]:
    (request,) = (await asked(proxy, "requests"))["requests"]
    found: dict[str, Any] = request
    return found
