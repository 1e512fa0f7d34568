"""The command line: `serve`, `codex`, `hash-key`, `check-config`, `show-config`, `--version`.

Exit codes: 0 done, 1 could not be done, 2 wrong settings or arguments.
"""

import argparse
import asyncio
import os
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from getpass import getpass
from typing import Any, TextIO
from urllib.parse import urlsplit

import proxy
from proxy import app, codex, demo, process, supervisor
from proxy.config import (
    BINDINGS,
    CONFIG_VARIABLE,
    ConfigError,
    Loaded,
    all_settings,
    describe,
    load,
)
from proxy.core import tenants
from proxy.settings import Settings

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130

LINE_BUFFERED = 1

Command = Callable[[Loaded, argparse.Namespace], int]

PURPOSE = "A Responses API in front of any Chat Completions, Anthropic or Gemini backend."
HASH_KEY = "Print what the configuration keeps of a tenant's key: its SHA-256 digest."
KEY_BYTES = 32

DEMO = "demo"
"""The model's name there."""
DEMO_ANSWERS = "No backend is configured, so a demo model answers. For another: --backend URL"

EXAMPLE = """\
curl -N {url}/v1/responses{key} -H 'Content-Type: application/json' -d '{{
  "model": "{model}", "stream": true, "input": "What is the weather in Paris?",
  "tools": [{{"type": "function", "name": "get_weather", "parameters":
    {{"type": "object", "properties": {{"city": {{"type": "string"}}}}, "required": ["city"]}}}}]}}'
"""

THEIR_KEY = f" -H 'Authorization: Bearer {codex.YOUR_KEY}'"


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = _parser().parse_args(arguments)
    if wanted.command is None:  # the one to which the settings are nothing, right or wrong
        return hash_key(wanted.new)
    options = {name: value for name, value in vars(wanted).items() if name.startswith("--") and value}
    try:
        loaded = load(options, os.environ, wanted.config)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return MISUSED
    command: Command = wanted.command
    return command(loaded, wanted)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="responses-proxy", description=PURPOSE)
    parser.add_argument("--version", action="version", version=f"responses-proxy {proxy.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    descriptions = all_settings()
    for name, (command, purpose) in COMMANDS.items():
        subparser = commands.add_parser(name, help=purpose, description=purpose, allow_abbrev=False)
        subparser.set_defaults(command=command)
        subparser.add_argument("--config", metavar="FILE", help=f"Settings in TOML. [{CONFIG_VARIABLE}]")
        for binding in BINDINGS:
            subparser.add_argument(
                binding.option,
                dest=binding.option,
                metavar=binding.placeholder,
                help=descriptions[binding.key] + (f" [{binding.variable}]" if binding.variable else ""),
            )
    _add_codex_options(commands.choices["codex"])
    hashing = commands.add_parser("hash-key", help=HASH_KEY, description=HASH_KEY)
    hashing.set_defaults(command=None)
    hashing.add_argument("--new", action="store_true", help="Make a key, and print it before its digest.")
    return parser


def _add_codex_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="NAME", help="Model to begin with; otherwise the first that is listed."
    )
    parser.add_argument(
        "--print-config",
        action="store_true",
        help="Show the lines for Codex's configuration, and run nothing.",
    )
    parser.add_argument(
        "arguments", nargs="*", metavar="-- ARGUMENT", help="What follows `--` goes to Codex."
    )


def hash_key(new: bool) -> int:
    """The key is asked for, never an argument: those stand in the shell's history and in the list of processes."""
    if new:
        key = f"sk-proxy-{secrets.token_urlsafe(KEY_BYTES)}"
        print(key)
    else:
        key = getpass("Key: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not (key := key.strip()):
        _tell("There is no key to hash. Type one, pipe one in, or let one be made: hash-key --new")
        return MISUSED
    print(tenants.digest(key))
    return DONE


def check_config(loaded: Loaded, _: argparse.Namespace) -> int:
    """Whoever gets here has loaded it."""
    print("The settings are valid.")
    return DONE


def show_config(loaded: Loaded, _: argparse.Namespace) -> int:
    try:
        print("\n".join(describe(loaded)), flush=True)
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE


def serve(loaded: Loaded, _: argparse.Namespace) -> int:
    return _run(_serve(loaded))


def _run(work: Coroutine[Any, Any, int]) -> int:
    with asyncio.Runner(loop_factory=process.loop_factory()) as runner:
        try:
            return runner.run(work)
        except KeyboardInterrupt:
            return INTERRUPTED
        except (app.CannotListen, codex.CannotRun, supervisor.WorkersFailed) as error:
            _tell(str(error))
            return FAILED


async def _serve(loaded: Loaded) -> int:
    asked_to_stop = process.asked_to_stop()
    if not loaded.settings.all_backends:
        print(DEMO_ANSWERS)
    async with (
        _with_backend(loaded.settings) as (settings, model),
        _proxy(settings) as url,
    ):
        print(f"Listening on {url}/v1, in front of {_fronted(settings)}. For example:\n")
        key = THEIR_KEY if settings.tenants else ""
        print(EXAMPLE.format(url=url, model=model, key=key), flush=True)
        process.spare_the_collector()
        await asked_to_stop.wait()
    return DONE


def _proxy(settings: Settings) -> AbstractAsyncContextManager[str]:
    """In this process, or in several that it looks after."""
    log = app.start_log(settings)
    return supervisor.running(settings, log) if settings.server.workers > 1 else app.running(settings, log)


def _fronted(settings: Settings) -> str:
    """As far as their addresses: a query is nobody's business."""
    urls = (urlsplit(str(backend.url)) for backend in settings.all_backends.values())
    return ", ".join(url._replace(query="", fragment="").geturl() for url in urls)


@asynccontextmanager
async def _with_backend(settings: Settings) -> AsyncIterator[tuple[Settings, str]]:
    """The settings with a backend in them, and the name of a model there; the demo's if none was given."""
    if settings.all_backends:
        yield settings, next(iter(_known_models(settings)), "MODEL")
        return
    server = await demo.start()
    backend = settings.backend.model_copy(update={"url": server.url, "profile": demo.PROFILE})
    try:
        yield settings.model_copy(update={"backend": backend}), DEMO
    finally:
        await server.stop()


def _known_models(settings: Settings) -> list[str]:
    """Names that clients may use, as far as the configuration tells."""
    return [
        *settings.routing.aliases,
        *(name for each in settings.all_backends.values() for name in each.models),
    ]


def run_codex(loaded: Loaded, wanted: argparse.Namespace) -> int:
    return _run(_print_codex_config(loaded, wanted) if wanted.print_config else _codex(loaded, wanted))


async def _print_codex_config(loaded: Loaded, wanted: argparse.Namespace) -> int:
    """For the proxy that `serve` runs with the same settings, whether it does so now or not."""
    settings = loaded.settings
    url = _configured_url(settings)
    key = codex.YOUR_KEY if settings.tenants else codex.NO_KEY
    try:
        listed = await codex.models_at(url)
    except codex.KeyWanted:
        listed, key = None, codex.YOUR_KEY
    known = listed or _known_models(settings)
    model = wanted.model or next(iter(known), DEMO if not settings.all_backends else "MODEL")
    print(codex.config(url, model, key))
    return DONE


async def _codex(loaded: Loaded, wanted: argparse.Namespace) -> int:
    program = codex.program()
    async with _proxy_for_codex(loaded) as url:
        model = wanted.model
        if model is None and not codex.names_a_model(wanted.arguments):
            model = await _first_model(url)
        return await codex.run([program, *codex.overrides(url, model), *wanted.arguments])


async def _first_model(url: str) -> str:
    models = await codex.models_at(url)
    if not models:
        raise codex.CannotRun("The backend lists no models. To name one: --model NAME")
    _tell(f"The model is {models[0]}, the first of {len(models)}. For another: --model NAME")
    return models[0]


@asynccontextmanager
async def _proxy_for_codex(loaded: Loaded) -> AsyncIterator[str]:
    """One that runs already, unless a backend is named; else one of its own, as long as Codex runs."""
    settings = loaded.settings
    running = _configured_url(settings)
    if not settings.all_backends and await codex.models_at(running) is not None:
        _tell(f"The proxy at {running} answers.")
        yield running
        return
    if settings.tenants:
        raise codex.KeyWanted
    if "server.port" not in loaded.sources:
        server = settings.server.model_copy(update={"port": 0})
        settings = settings.model_copy(update={"server": server})
    if not settings.all_backends:
        _tell(DEMO_ANSWERS)
    with _log_file() as log:
        async with (
            _with_backend(settings) as (settings, _),
            app.running(settings, app.start_log(settings, log)) as url,
        ):
            yield url


def _log_file() -> TextIO:
    """The terminal is Codex's."""
    file, path = tempfile.mkstemp(prefix="responses-proxy-", suffix=".log")
    _tell(f"The proxy writes its log to {path}")
    return open(file, "w", buffering=LINE_BUFFERED, encoding="utf-8")


def _tell(line: str) -> None:
    """Beside what Codex prints, which may be on its way into another program."""
    print(line, file=sys.stderr)


def _configured_url(settings: Settings) -> str:
    host = f"[{settings.server.host}]" if ":" in settings.server.host else settings.server.host
    return f"http://{host}:{settings.server.port}"


COMMANDS: dict[str, tuple[Command, str]] = {
    "serve": (serve, "Run the proxy; without a backend, with a demo model of its own."),
    "codex": (
        run_codex,
        "Run Codex with this proxy as its provider; its own configuration is left as it is.",
    ),
    "check-config": (check_config, "Check the settings and say what is wrong with them."),
    "show-config": (show_config, "Show all settings as TOML, secrets masked, and where they came from."),
}
