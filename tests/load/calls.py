"""Calls to a proxy that may be killed meanwhile."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import aiohttp

from proxy.core import jsontext
from tests.load.requests import KEY

ANSWER_SECONDS = 60.0


class Cut(Exception):
    """The connection ended before the answer did."""


class Waited(Protocol):
    """Hears how long each call took, however it ended; of one that follows, the longest silence in it."""

    def __call__(self, kind: str, began: float, seconds: float) -> None: ...


def nobody(kind: str, began: float, seconds: float) -> None:
    pass


STATELESS, ANSWERED, BEGUN, FOLLOWED, ASKED = "stateless", "answered", "begun", "followed", "asked about"


def kind_of(path: str, body: Any) -> str:
    if path == "/responses" and body:
        if body.get("background"):
            return FOLLOWED if body.get("stream") else BEGUN
        return STATELESS if body.get("store") is False else ANSWERED
    return FOLLOWED if "stream=true" in path else ASKED


class Calls:
    """To a proxy of several processes: each call is a connection of its own, so any of them may answer."""

    def __init__(self, session: aiohttp.ClientSession, url: str, waited: Waited = nobody) -> None:
        self._session = session
        self._url = f"{url}/v1"
        self._waited = waited

    @asynccontextmanager
    async def _open(self, method: str, path: str, body: Any = None) -> AsyncIterator[aiohttp.ClientResponse]:
        data = None if body is None else jsontext.dumps(body)
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        kind, began = kind_of(path, body), time.monotonic()
        try:
            async with (
                asyncio.timeout(ANSWER_SECONDS),
                self._session.request(method, self._url + path, data=data, headers=headers) as response,
            ):
                yield response
        except (aiohttp.ClientError, ConnectionError, TimeoutError) as cut:
            raise Cut(type(cut).__name__) from cut
        finally:
            if kind != FOLLOWED:
                self._waited(kind, began, time.monotonic() - began)

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        async with self._open(method, path, body) as response:
            return response.status, jsontext.loads(await response.read())

    async def raw(self, method: str, path: str, body: Any = None) -> bytes:
        async with self._open(method, path, body) as response:
            assert response.status == 200, await response.text()
            return await response.read()

    async def events(
        self, path: str, body: Any = None, enough: Callable[[list[Any]], bool] = lambda events: False
    ) -> list[Any]:
        """Those that came until it was enough, or until the end. A refusal is an event of the type `refused`."""
        found: list[Any] = []
        await self.follow(found, path, body, enough)
        return found

    async def follow(
        self,
        found: list[Any],
        path: str,
        body: Any = None,
        enough: Callable[[list[Any]], bool] = lambda e: False,
    ) -> bool:
        """The same, into a list that stays when the connection breaks. Did it come to its end?"""
        kind, last = kind_of(path, body), time.monotonic()
        async with self._open("POST" if body else "GET", path, body) as response:
            if response.status != 200:
                refusal = jsontext.loads(await response.read())["error"]
                found.append(refusal | {"type": "refused", "status": response.status})
                return True
            async for line in response.content:
                if kind == FOLLOWED:
                    self._waited(kind, last, (came := time.monotonic()) - last)
                    last = came
                if line.startswith(b"data: {"):
                    found.append(jsontext.loads(line[6:]))
                    if enough(found):
                        return False
                elif line.startswith(b"data: [DONE]"):
                    return True
        return False
