"""`responses-proxy serve`: runs the proxy until it is asked to stop."""

import argparse
from contextlib import AbstractAsyncContextManager
from urllib.parse import urlsplit

from proxy import app, process, supervisor
from proxy.commands import store_finding
from proxy.commands.backend_or_demo import DEMO_ANSWERS, with_backend
from proxy.commands.codex_program import YOUR_KEY
from proxy.commands.command import DONE, Command, add_settings, read_settings, run
from proxy.settings.loading import Loaded
from proxy.settings.root import Settings

EXAMPLE = """\
curl -N {url}/v1/responses{key} -H 'Content-Type: application/json' -d '{{
  "model": "{model}", "stream": true, "input": "What is the weather in Paris?",
  "tools": [{{"type": "function", "name": "get_weather", "parameters":
    {{"type": "object", "properties": {{"city": {{"type": "string"}}}}, "required": ["city"]}}}}]}}'
"""

THEIR_KEY = f" -H 'Authorization: Bearer {YOUR_KEY}'"


def serve(wanted: argparse.Namespace) -> int:
    return run(_serve(read_settings(wanted)))


async def _serve(loaded: Loaded) -> int:
    stop = process.asked_to_stop()
    if loaded.settings.server.workers > 1:
        await store_finding.proved(loaded.settings)  # else each of them would say what is wrong
    if not loaded.settings.all_backends:
        print(DEMO_ANSWERS)
    async with (
        with_backend(loaded.settings) as (settings, model),
        _proxy(settings, stop) as url,
    ):
        print(f"Listening on {url}/v1, in front of {_fronted(settings)}. For example:\n")
        key = THEIR_KEY if settings.tenants else ""
        print(EXAMPLE.format(url=url, model=model, key=key), flush=True)
        process.spare_the_collector()
        await stop.asked.wait()
    return DONE


def _proxy(settings: Settings, stop: process.Stop) -> AbstractAsyncContextManager[str]:
    """Runs the proxy in this process, or in several workers that this process supervises."""
    log = app.start_log(settings)
    if settings.server.workers > 1:
        return supervisor.running(settings, log, stop)
    return app.running(settings, log, stop=stop)


def _fronted(settings: Settings) -> str:
    """Names the backends by their URLs without a query, which may hold a secret."""
    urls = (urlsplit(str(backend.url)) for backend in settings.all_backends.values())
    return ", ".join(url._replace(query="", fragment="").geturl() for url in urls)


COMMAND = Command("Run the proxy. Without a backend, a demo model answers.", serve, add_settings)
