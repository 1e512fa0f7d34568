"""The command line: each command by its name."""

import argparse
import os
import sys
from collections.abc import Sequence

import proxy
from proxy.commands import codex, configuration, doctor, hash_key, replay, serve, store
from proxy.commands.command import DONE, MISUSED, Command
from proxy.settings.loading import ConfigError

PURPOSE = "A Responses API in front of any Chat Completions, Anthropic or Gemini backend."

COMMANDS: dict[str, Command] = {
    "serve": serve.COMMAND,
    "codex": codex.COMMAND,
    "doctor": doctor.COMMAND,
    "store": store.COMMAND,
    "replay": replay.COMMAND,
    "check-config": configuration.CHECK,
    "show-config": configuration.SHOW,
    "hash-key": hash_key.COMMAND,
}


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = _parser().parse_args(arguments)
    command: Command = wanted.command
    try:
        code = command.run(wanted)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except ConfigError as error:
        print(error, file=sys.stderr)
        return MISUSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="responses-proxy", description=PURPOSE)
    parser.add_argument("--version", action="version", version=f"responses-proxy {proxy.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = commands.add_parser(
            name, help=command.purpose, description=command.purpose, allow_abbrev=False
        )
        subparser.set_defaults(command=command)
        command.add_options(subparser)
    return parser
