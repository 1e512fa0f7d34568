"""A Responses backend that says given items, whatever it is asked, and keeps what it was asked."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import aiohttp
from aiohttp import web

from proxy.core import jsontext
from tests.scripted import responses
from tests.support.serving import serving_all

Json = dict[str, Any]


class Asked(NamedTuple):
    path: str
    body: Json
    query: str


class ItemBackend(NamedTuple):
    url: str
    asked: list[Asked]


@asynccontextmanager
async def saying(
    *replies: Sequence[Json], refuse: Callable[[Json], str | None] = lambda _: None
) -> AsyncIterator[ItemBackend]:
    """One reply after another; the last one is said again and again. `refuse` says what is wrong with a body."""
    asked: list[Asked] = []
    left = list(replies)

    async def handle(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.json_response(responses.MODELS)
        body = jsontext.strict(await request.read())
        asked.append(Asked(request.path, body, request.query_string))
        if words := refuse(body):
            return web.json_response({"error": {"message": words}}, status=400)
        output = left.pop(0) if len(left) > 1 else left[0]
        response = responses.EMPTY | {"status": "completed", "output": [*output]}
        events = [
            *(
                {"type": "response.output_item.done", "output_index": place, "item": item}
                for place, item in enumerate(output)
            ),
            {"type": "response.completed", "response": response},
        ]
        return web.Response(body=b"".join(map(responses.event, events)), content_type="text/event-stream")

    async with serving_all(handle) as url:
        yield ItemBackend(url, asked)


async def post(url: str, path: str, body: Json) -> Json:
    async with aiohttp.ClientSession() as session, session.post(url + path, json=body) as response:
        told: Json = jsontext.strict(await response.read())
        assert response.status == 200, told
        return told
