"""The measuring stick: a proxy that only copies bytes, in the plainest way that aiohttp knows.

python -m tests.load.copying BACKEND prints its URL.
"""

import asyncio
import sys

import uvloop
from aiohttp import ClientSession, ClientTimeout, TCPConnector, web

BODY_LIMIT = 64 << 20
BACKLOG = 1024
"""As the proxy's own."""


async def main(backend: str) -> None:
    async with ClientSession(
        connector=TCPConnector(limit=0), auto_decompress=False, timeout=ClientTimeout(total=None)
    ) as session:

        async def copy(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            headers = {"Content-Type": "application/json"}
            async with session.request(
                request.method, backend + request.path, data=body, headers=headers
            ) as said:
                if "Content-Length" in said.headers:
                    return web.Response(
                        body=await said.read(), status=said.status, content_type=said.content_type
                    )
                response = web.StreamResponse(
                    status=said.status, headers={"Content-Type": said.headers["Content-Type"]}
                )
                await response.prepare(request)
                async for data in said.content.iter_any():
                    await response.write(data)
                await response.write_eof()
                return response

        app = web.Application(client_max_size=BODY_LIMIT)
        app.router.add_route("*", "/{path:.*}", copy)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=BACKLOG).start()
        host, port = runner.addresses[0][:2]
        sys.stdout.write(f"http://{host}:{port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
