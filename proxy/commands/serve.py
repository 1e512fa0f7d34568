"""`responses-proxy serve`: runs the proxy until it is asked to stop."""

import argparse
import re
import sys
from contextlib import AbstractAsyncContextManager, suppress
from urllib.parse import urlsplit

from proxy import app, process, supervisor
from proxy.commands.backend_or_demo import DEMO_ANSWERS, UNKNOWN, with_backend
from proxy.commands.codex_program import YOUR_KEY, KeyWanted, models_at
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


LISTING_SECONDS = 2.0
"""The longest wait for the list of models, as a person waits for the example."""
PASTED = re.compile(r"[A-Za-z0-9._:/@-]+")
"""Names that a shell takes as they are. The others may be anything: a backend has made them."""
NO_MODELS = """\
No list of models comes from {backends}, so MODEL stands for one of its models. Does it run, and has the proxy its key
(PROXY_BACKEND_KEY)? `responses-proxy doctor` says more.
"""

STOPPING = "Stops. What is under way has {seconds:g} s to end; Ctrl+C once more gives it none."
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
            await _show_example(settings, url, model)
        process.spare_the_collector()
        process.keep_what_is_free()
        await stop.asked.wait()
        if not quiet and sys.stdout.isatty():
            say(STOPPING.format(seconds=settings.server.grace_seconds))
    return DONE


async def _show_example(settings: Settings, url: str, model: str) -> None:
    """On a terminal, where a person wants to paste it, the model is one that the backend has."""
    none_listed = False
    if model == UNKNOWN and sys.stdout.isatty():
        with suppress(KeyWanted):
            listed = await models_at(url, LISTING_SECONDS) or []
            none_listed = not listed
            model = next(filter(PASTED.fullmatch, listed), UNKNOWN)
    key = THEIR_KEY if settings.tenants else ""
    say(EXAMPLE.format(url=url, model=model, key=key))
    if none_listed:
        say(NO_MODELS.format(backends=_fronted(settings)))
    if settings.inspector.enabled and inspector_readers_of(settings) is not None:
        say(f"What becomes of each request: {url}/inspector\n")


def say(text: str) -> None:
    """Whoever has read enough may go, as `| head -1` does: the proxy goes on until it is asked to stop."""
    try:
        print(text, flush=True)
    except OSError:
        fall_silent()


async def _check(wanted: Settings) -> None:
    """Checks what would otherwise fail late or several times. Few need the modules that are imported here."""
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
