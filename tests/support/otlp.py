"""A collector of traces on a real socket, which reads what it gets as OpenTelemetry writes it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SECONDS = 10.0


class OtlpCollector:
    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[Any] = []
        self.status = 200
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self._news = asyncio.Event()
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.read())
        self.headers.append(request.headers.copy())
        self._news.set()
        await self.may_answer.wait()
        return web.Response(status=self.status)

    @property
    def spans(self) -> list[Any]:
        found: list[Span] = []
        for body in self.bodies:
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    found += scope.spans
        return found

    async def until(self, count: int) -> list[Any]:
        async with asyncio.timeout(SECONDS):
            while len(self.spans) < count:
                self._news.clear()
                await self._news.wait()
        return self.spans


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


@asynccontextmanager
async def collecting() -> AsyncIterator[OtlpCollector]:
    collector = OtlpCollector()
    app = web.Application()
    app.router.add_post("/v1/traces", collector.take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    collector.url = f"http://127.0.0.1:{port}/v1/traces"
    try:
        yield collector
    finally:
        collector.may_answer.set()
        await runner.cleanup()
