"""Work in the background, as its client begins and follows it, and a backend that says what it is told to say."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from tests.support.proxies import Event, Proxy, events
from tests.support.sockets import DONE, END, HEAD, PROMPTLY, Line, finish, usage

FINAL = {"completed", "incomplete", "failed", "cancelled"}


class Talker:
    """A backend for one request at a time."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.left = asyncio.Event()
        self._line: Line | None = None

    async def __call__(self, line: Line) -> None:
        await line.request()
        self._line = line
        line.send(HEAD)
        self.asked.set()
        try:
            await line.closed()
        finally:
            self.left.set()

    async def says(self, *pieces: bytes) -> None:
        async with asyncio.timeout(PROMPTLY):
            await self.asked.wait()
        assert self._line is not None
        self._line.send(*pieces)

    async def ends(self) -> None:
        await self.says(finish(), usage(), DONE, END)
        assert self._line is not None
        self._line.close()


async def got(proxy: Proxy, path: str, **query: Any) -> tuple[int, Any]:
    async with proxy.session.get(f"{proxy.url}/v1/responses/{path}", params=query) as response:
        return response.status, await response.json()


async def posted(proxy: Proxy, path: str) -> tuple[int, Any]:
    async with proxy.session.post(f"{proxy.url}/v1/responses/{path}") as response:
        return response.status, await response.json()


async def cancelled(proxy: Proxy, id: str) -> tuple[int, Any]:
    return await posted(proxy, f"{id}/cancel")


async def deleted(proxy: Proxy, id: str) -> tuple[int, Any]:
    async with proxy.session.delete(f"{proxy.url}/v1/responses/{id}") as response:
        return response.status, await response.json()


async def begun(proxy: Proxy, **body: Any) -> dict[str, Any]:
    async with proxy.post({"model": "m", "input": "Hi", "background": True} | body) as response:
        assert response.status == 200, await response.text()
        found: dict[str, Any] = await response.json()
        return found


async def until(proxy: Proxy, id: str, *statuses: str) -> dict[str, Any]:
    """Polls until it has one of these."""
    async with asyncio.timeout(PROMPTLY):
        while True:
            status, found = await got(proxy, id)
            assert status == 200, found
            if found["status"] in statuses:
                return dict(found)
            await asyncio.sleep(0.02)


async def ended(proxy: Proxy, id: str) -> dict[str, Any]:
    return await until(proxy, id, *FINAL)


class FollowingClient:
    """One client with a stream of events before it."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._data = b""

    async def until(self, name: str) -> list[Event]:
        async with asyncio.timeout(PROMPTLY):
            while not self._data.endswith(b"\n\n") or name not in [
                event.name for event in events(self._data)
            ]:
                data = await self._response.content.readany()
                assert data, f"it ended without {name}:\n{self._data.decode()}"
                self._data += data
        return events(self._data)

    async def until_text(self, text: str) -> None:
        async with asyncio.timeout(PROMPTLY):
            while f'"delta":"{text}"'.encode() not in self._data:
                self._data += await self._response.content.readany()

    async def all(self, seconds: float = PROMPTLY) -> list[Event]:
        async with asyncio.timeout(seconds):
            self._data += await self._response.read()
        return events(self._data)


class FollowingClients(AsyncExitStack):
    """Clients that follow, each closed at the end at the latest."""

    def __init__(self, proxy: Proxy) -> None:
        super().__init__()
        self._proxy = proxy

    async def begin(self, **body: Any) -> FollowingClient:
        body = {"model": "m", "input": "Hi", "background": True, "stream": True} | body
        response = await self.enter_async_context(self._proxy.post(body))
        assert response.status == 200, await response.text()
        return FollowingClient(response)

    async def resume(self, id: str, **query: Any) -> FollowingClient:
        url = f"{self._proxy.url}/v1/responses/{id}"
        response = await self.enter_async_context(
            self._proxy.session.get(url, params={"stream": "true"} | query)
        )
        assert response.status == 200, await response.text()
        return FollowingClient(response)


def id_of(found: list[Event]) -> str:
    id: str = found[0].data["response"]["id"]
    return id


def numbers(found: list[Event]) -> list[int]:
    return [event.data["sequence_number"] for event in found if event.name not in ("done", "comment")]
