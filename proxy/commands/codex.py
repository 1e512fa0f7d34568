"""`responses-proxy codex`: Codex with this proxy as its provider."""

import argparse
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

from proxy import app
from proxy.commands import codex_program
from proxy.commands.backend_or_demo import DEMO, DEMO_ANSWERS, UNKNOWN, known_models, with_backend
from proxy.commands.command import DONE, CannotRun, Command, add_settings, read_settings, run, tell
from proxy.settings.loading import Loaded
from proxy.settings.root import Settings

LINE_BUFFERED = 1


def add_options(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="Model that Codex begins with. Default: the first one that the backend lists.",
    )
    parser.add_argument(
        "--print-config",
        action="store_true",
        help="Print the lines for Codex's configuration, and run nothing.",
    )
    parser.add_argument(
        "arguments", nargs="*", metavar="-- ARGUMENT", help="Arguments after `--` go to Codex."
    )


def run_codex(wanted: argparse.Namespace) -> int:
    loaded = read_settings(wanted)
    return run(_print_config(loaded, wanted) if wanted.print_config else _codex(loaded, wanted))


async def _print_config(loaded: Loaded, wanted: argparse.Namespace) -> int:
    """Prints lines for the proxy that `serve` runs with these settings. It need not run yet."""
    settings = loaded.settings
    url = _configured_url(settings)
    key = codex_program.YOUR_KEY if settings.tenants else codex_program.NO_KEY
    try:
        listed = await codex_program.models_at(url)
    except codex_program.KeyWanted:
        listed, key = None, codex_program.YOUR_KEY
    known = listed or known_models(settings)
    model = wanted.model or next(iter(known), DEMO if not settings.all_backends else UNKNOWN)
    print(codex_program.config(url, model, key))
    return DONE


async def _codex(loaded: Loaded, wanted: argparse.Namespace) -> int:
    program = codex_program.program()
    async with _proxy_for_codex(loaded) as url:
        model = wanted.model
        if model is None and not codex_program.names_a_model(wanted.arguments):
            model = await _first_model(url)
        return await codex_program.run([program, *codex_program.overrides(url, model), *wanted.arguments])


async def _first_model(url: str) -> str:
    models = await codex_program.models_at(url)
    if not models:
        raise CannotRun("The backend lists no models. To name one: --model NAME")
    tell(f"The model is {models[0]}, the first of {len(models)}. For another: --model NAME")
    return models[0]


@asynccontextmanager
async def _proxy_for_codex(loaded: Loaded) -> AsyncIterator[str]:
    """Uses a proxy that runs already, unless the operator names a backend. Else one runs as long as Codex does."""
    settings = loaded.settings
    running = _configured_url(settings)
    if not settings.all_backends and await codex_program.models_at(running) is not None:
        tell(f"The proxy at {running} answers.")
        yield running
        return
    if settings.tenants:
        raise codex_program.KeyWanted
    if "server.port" not in loaded.sources:
        server = settings.server.model_copy(update={"port": 0})
        settings = settings.model_copy(update={"server": server})
    if not settings.all_backends:
        tell(DEMO_ANSWERS)
    with _log_file() as log:
        async with (
            with_backend(settings) as (settings, _),
            app.running(settings, app.start_log(settings, log)) as url,
        ):
            yield url


def _log_file() -> TextIO:
    """The log goes to a file, because Codex uses the terminal."""
    file, path = tempfile.mkstemp(prefix="responses-proxy-", suffix=".log")
    tell(f"The proxy writes its log to {path}")
    return open(file, "w", buffering=LINE_BUFFERED, encoding="utf-8")


def _configured_url(settings: Settings) -> str:
    host = f"[{settings.server.host}]" if ":" in settings.server.host else settings.server.host
    return f"http://{host}:{settings.server.port}"


COMMAND = Command(
    "Run Codex with this proxy as its provider. The configuration of Codex stays as it is.",
    run_codex,
    add_options,
)
