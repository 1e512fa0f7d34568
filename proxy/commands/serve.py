"""`responses-proxy serve`: runs the proxy until it is asked to stop."""

import argparse
from contextlib import AbstractAsyncContextManager
from urllib.parse import urlsplit

from proxy import app, process, supervisor
from proxy.commands.backend_or_demo import DEMO_ANSWERS, with_backend
from proxy.commands.codex_program import YOUR_KEY
from proxy.commands.command import DONE, Command, add_settings, fall_silent, read_settings, run
from proxy.configured import inspector_readers_of
from proxy.settings.root import Settings

EXAMPLE = """\
curl -N {url}/v1/responses{key} -H 'Content-Type: application/json' -d '{{
  "model": "{model}", "stream": true, "input": "What is the weather in Paris?",
  "tools": [{{"type": "function", "name": "get_weather", "parameters":
    {{"type": "object", "properties": {{"city": {{"type": "string"}}}}, "required": ["city"]}}}}]}}'
"""

THEIR_KEY = f" -H 'Authorization: Bearer {YOUR_KEY}'"


EXAMPLE_FOLLOWS = " For example:\n"
QUIET_LEVELS = ("warning", "error")


def add_options(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--quiet", action="store_true", help="No example, and no lines but warnings and errors."
    )


def serve(wanted: argparse.Namespace) -> int:
    settings = read_settings(wanted).settings
    return run(_serve(quieted(settings) if wanted.quiet else settings, quiet=wanted.quiet))


def quieted(settings: Settings) -> Settings:
    if settings.logs.level in QUIET_LEVELS:
        return settings
    return settings.model_copy(update={"logs": settings.logs.model_copy(update={"level": "warning"})})


async def _serve(wanted: Settings, *, quiet: bool) -> int:
    stop = process.asked_to_stop()
    await _check(wanted)
    if not wanted.all_backends:
        say(DEMO_ANSWERS)
    async with (
        with_backend(wanted) as (settings, model),
        _proxy(settings, stop) as url,
    ):
        say(f"Listening on {url}/v1, in front of {_fronted(settings)}.{'' if quiet else EXAMPLE_FOLLOWS}")
        if not quiet:
            key = THEIR_KEY if settings.tenants else ""
            say(EXAMPLE.format(url=url, model=model, key=key))
            if settings.inspector.enabled and inspector_readers_of(settings) is not None:
                say(f"What becomes of each request: {url}/inspector\n")
        process.spare_the_collector()
        process.keep_what_is_free()
        await stop.asked.wait()
    return DONE


def say(text: str) -> None:
    """Whoever has read enough may go, as `| head -1` does: the proxy goes on until it is asked to stop."""
    try:
        print(text, flush=True)
    except OSError:
        fall_silent()


async def _check(wanted: Settings) -> None:
    """What is imported here is what few need."""
    if wanted.otel.endpoint is not None:
        from proxy.traces import check_otel

        check_otel(wanted.otel)
    if wanted.server.workers > 1:
        from proxy.commands import store_finding

        await store_finding.proved(wanted)  # else each of them would say what is wrong


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


COMMAND = Command("Run the proxy. Without a backend, a demo model answers.", serve, add_options)
