"""A Responses backend that says given items, whatever it is asked, and keeps what it was asked."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import aiohttp
from aiohttp import web

from proxy.core import jsontext
from tests.scripted import responses

Json = dict[str, Any]


class Asked(NamedTuple):
    path: str
    body: Json
    query: str


class ItemBackend(NamedTuple):
    url: str
    asked: list[Asked]


@asynccontextmanager
async def saying(*replies: Sequence[Json], missing: Sequence[str] = ()) -> AsyncIterator[ItemBackend]:
    """One reply after another; the last one is said again and again. `missing`: how paths end that are not there."""
    asked: list[Asked] = []

    async def handle(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.json_response(responses.MODELS)
        asked.append(Asked(request.path, jsontext.strict(await request.read()), request.query_string))
        if request.path.endswith(tuple(missing)):
            return web.Response(status=404, text="404 page not found")
        output = replies[min(len(asked), len(replies)) - 1]
        response = responses.EMPTY | {"status": "completed", "output": [*output]}
        events = [
            *(
                {"type": "response.output_item.done", "output_index": place, "item": item}
                for place, item in enumerate(output)
            ),
            {"type": "response.completed", "response": response},
        ]
        return web.Response(body=b"".join(map(responses.event, events)), content_type="text/event-stream")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        yield ItemBackend(f"http://{host}:{port}", asked)
    finally:
        await runner.cleanup()


async def post(url: str, path: str, body: Json) -> Json:
    async with aiohttp.ClientSession() as session, session.post(url + path, json=body) as response:
        told: Json = jsontext.strict(await response.read())
        assert response.status == 200, told
        return told
