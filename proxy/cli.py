"""The command line: `serve`, `check-config`, `show-config`, `--version`.

Exit codes: 0 done, 1 could not be done, 2 wrong settings or arguments.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import proxy
from proxy import app, demo
from proxy.config import (
    BINDINGS,
    CONFIG_VARIABLE,
    ConfigError,
    Loaded,
    Settings,
    all_settings,
    describe,
    load,
)

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130

EXAMPLE = """\
curl -N {url}/v1/responses -H 'Content-Type: application/json' -d '{{
  "model": "{model}", "stream": true, "input": "What is the weather in Paris?",
  "tools": [{{"type": "function", "name": "get_weather", "parameters":
    {{"type": "object", "properties": {{"city": {{"type": "string"}}}}, "required": ["city"]}}}}]}}'
"""


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = _parser().parse_args(arguments)
    options = {name: value for name, value in vars(wanted).items() if name.startswith("--") and value}
    try:
        loaded = load(options, os.environ, wanted.config)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return MISUSED
    command: Callable[[Loaded], int] = wanted.command
    return command(loaded)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="responses-proxy", description="A Responses API in front of any Chat Completions backend."
    )
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
    return parser


def check_config(loaded: Loaded) -> int:
    """Whoever gets here has loaded it."""
    print("The settings are valid.")
    return DONE


def show_config(loaded: Loaded) -> int:
    print("\n".join(describe(loaded)))
    return DONE


def serve(loaded: Loaded) -> int:
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        try:
            return runner.run(_serve(loaded))
        except KeyboardInterrupt:
            return INTERRUPTED


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # not made for every platform; asyncio's own loop costs a tenth more per chunk
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def _serve(loaded: Loaded) -> int:
    asked_to_stop = _signals()
    async with _with_backend(loaded.settings) as (settings, model):
        try:
            async with app.running(settings, app.start_log(settings)) as url:
                print(f"Listening on {url}/v1, in front of {settings.backend.url}. For example:\n")
                print(EXAMPLE.format(url=url, model=model), flush=True)
                await asked_to_stop.wait()
        except app.CannotListen as error:
            print(error, file=sys.stderr)
            return FAILED
    return DONE


def _signals() -> asyncio.Event:
    """Set by the first request to stop, which is polite; a second one is obeyed at once."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def ask(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, ask, number)
    return asked


@asynccontextmanager
async def _with_backend(settings: Settings) -> AsyncIterator[tuple[Settings, str]]:
    """The settings with a backend in them, and the name of a model there; the demo's if none was given."""
    if settings.backend.url is not None:
        yield settings, next(iter(settings.backend.models), "MODEL")
        return
    server = await demo.start()
    print("No backend is configured, so a demo model answers. For another: --backend URL")
    backend = settings.backend.model_copy(update={"url": server.url, "profile": demo.PROFILE})
    try:
        yield settings.model_copy(update={"backend": backend}), "demo"
    finally:
        await server.stop()


COMMANDS: dict[str, tuple[Callable[[Loaded], int], str]] = {
    "serve": (serve, "Run the proxy; without a backend, with a demo model of its own."),
    "check-config": (check_config, "Check the settings and say what is wrong with them."),
    "show-config": (show_config, "Show all settings as TOML, secrets masked, and where they came from."),
}
