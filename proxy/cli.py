"""The command line: `serve`, `codex`, `store`, `hash-key`, `check-config`, `show-config`, `--version`.

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
from proxy import app, codex, demo, process, store_commands, store_finding, supervisor
from proxy.core import tenants
from proxy.settings.loading import (
    BINDINGS,
    CONFIG_VARIABLE,
    ConfigError,
    Loaded,
    all_settings,
    describe,
    load,
)
from proxy.settings.root import Settings
from proxy.storage import StoreRefused

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130

LINE_BUFFERED = 1

Command = Callable[[Loaded, argparse.Namespace], int]

PURPOSE = "A Responses API in front of any Chat Completions, Anthropic or Gemini backend."
HASH_KEY = "Print the SHA-256 digest of a tenant's key, as the configuration holds it."
KEY_BYTES = 32

DEMO = "demo"
"""Name of the demo model that the example asks."""
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
    if wanted.command is None:  # hash-key, which reads no settings
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
    for name, (command, purpose) in COMMANDS.items():
        subparser = commands.add_parser(name, help=purpose, description=purpose, allow_abbrev=False)
        subparser.set_defaults(command=command)
        if command is store:
            store_commands.add_actions(subparser, _add_settings)
        else:
            _add_settings(subparser)
    _add_codex_options(commands.choices["codex"])
    hashing = commands.add_parser("hash-key", help=HASH_KEY, description=HASH_KEY)
    hashing.set_defaults(command=None)
    hashing.add_argument(
        "--new", action="store_true", help="Make a random key, and print it before its digest."
    )
    return parser


def _add_settings(parser: argparse.ArgumentParser) -> None:
    descriptions = all_settings()
    parser.add_argument("--config", metavar="FILE", help=f"File with settings in TOML. [{CONFIG_VARIABLE}]")
    for binding in BINDINGS:
        if binding.option is None:
            continue
        parser.add_argument(
            binding.option,
            dest=binding.option,
            metavar=binding.placeholder,
            help=descriptions[binding.key] + (f" [{binding.variable}]" if binding.variable else ""),
        )


def _add_codex_options(parser: argparse.ArgumentParser) -> None:
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


def hash_key(new: bool) -> int:
    """The command asks for the key. An argument would stand in the shell's history and in the list of processes."""
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
    """The settings were checked when `main` loaded them; here it is asked whether this machine agrees."""
    return _run(_check(loaded.settings))


async def _check(settings: Settings) -> int:
    print(f"The settings are valid. With them, {await store_finding.proved(settings)}.")
    return DONE


def show_config(loaded: Loaded, _: argparse.Namespace) -> int:
    try:
        print("\n".join(describe(loaded)), flush=True)
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE


def store(loaded: Loaded, wanted: argparse.Namespace) -> int:
    action: store_commands.Action = wanted.action
    return _run(action(loaded.settings, wanted))


def serve(loaded: Loaded, _: argparse.Namespace) -> int:
    return _run(_serve(loaded))


def _run(work: Coroutine[Any, Any, int]) -> int:
    with asyncio.Runner(loop_factory=process.loop_factory()) as runner:
        try:
            return runner.run(work)
        except KeyboardInterrupt:
            return INTERRUPTED
        except (process.CannotStart, codex.CannotRun, supervisor.WorkersFailed) as error:
            return _refused(error)


def _refused(error: Exception) -> int:
    _tell(str(error))
    return MISUSED if isinstance(error, StoreRefused) else FAILED


async def _serve(loaded: Loaded) -> int:
    stop = process.asked_to_stop()
    if loaded.settings.server.workers > 1:
        await store_finding.proved(loaded.settings)  # else each of them would say what is wrong
    if not loaded.settings.all_backends:
        print(DEMO_ANSWERS)
    async with (
        _with_backend(loaded.settings) as (settings, model),
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


@asynccontextmanager
async def _with_backend(settings: Settings) -> AsyncIterator[tuple[Settings, str]]:
    """Yields settings that have a backend, and a model of it. Starts the demo if the operator configured no backend."""
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
    """Lists the model names that the configuration holds for clients."""
    return [
        *settings.routing.aliases,
        *(name for each in settings.all_backends.values() for name in each.models),
    ]


def run_codex(loaded: Loaded, wanted: argparse.Namespace) -> int:
    return _run(_print_codex_config(loaded, wanted) if wanted.print_config else _codex(loaded, wanted))


async def _print_codex_config(loaded: Loaded, wanted: argparse.Namespace) -> int:
    """Prints lines for the proxy that `serve` runs with these settings. It need not run yet."""
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
    """Uses a proxy that runs already, unless the operator names a backend. Else one runs as long as Codex does."""
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
    """The log goes to a file, because Codex uses the terminal."""
    file, path = tempfile.mkstemp(prefix="responses-proxy-", suffix=".log")
    _tell(f"The proxy writes its log to {path}")
    return open(file, "w", buffering=LINE_BUFFERED, encoding="utf-8")


def _tell(line: str) -> None:
    """Writes to stderr, because another program may read what Codex prints."""
    print(line, file=sys.stderr)


def _configured_url(settings: Settings) -> str:
    host = f"[{settings.server.host}]" if ":" in settings.server.host else settings.server.host
    return f"http://{host}:{settings.server.port}"


COMMANDS: dict[str, tuple[Command, str]] = {
    "serve": (serve, "Run the proxy. Without a backend, a demo model answers."),
    "codex": (
        run_codex,
        "Run Codex with this proxy as its provider. The configuration of Codex stays as it is.",
    ),
    "store": (store, "Show, sweep, copy or delete what is kept of responses and conversations."),
    "check-config": (check_config, "Check the settings, and print what is wrong."),
    "show-config": (
        show_config,
        "Print all settings as TOML, with secrets masked, and where each came from.",
    ),
}
