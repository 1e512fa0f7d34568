"""The command line: each command by its name."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import proxy
from proxy.process import importing

if TYPE_CHECKING:
    from proxy.commands.command import Command

MISUSED = 2
"""The exit code for wrong arguments, which is argparse's own."""

PURPOSE = "A Responses API in front of any Chat Completions, Anthropic or Gemini backend."

COMMANDS = {
    "serve": ("proxy.commands.serve", "COMMAND"),
    "codex": ("proxy.commands.codex", "COMMAND"),
    "doctor": ("proxy.commands.doctor", "COMMAND"),
    "store": ("proxy.commands.store", "COMMAND"),
    "replay": ("proxy.commands.replay", "COMMAND"),
    "check-config": ("proxy.commands.configuration", "CHECK"),
    "show-config": ("proxy.commands.configuration", "SHOW"),
    "hash-key": ("proxy.commands.hash_key", "COMMAND"),
}
"""Where each lies. A module is imported when its command is asked for: all of them would add 20 ms to each start."""


def main(arguments: Sequence[str] | None = None) -> int:
    _open_what_is_closed()
    words = sys.argv[1:] if arguments is None else arguments
    with importing():
        parser = _parser([name for name in COMMANDS if name in words[:1]] or COMMANDS)
    if not words:
        parser.print_help(sys.stderr)
        parser.exit(MISUSED)
    wanted, unknown = parser.parse_known_args(words)
    if unknown:
        wanted.parser.error(_unknown(unknown, wanted.parser))
    command: Command = wanted.command
    return command.done(wanted)


def _open_what_is_closed() -> None:
    """Where one of these is closed (`>&-`), a socket would get its number, and the event loop aborts the process."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            free = os.open(os.devnull, os.O_RDWR)  # the lowest number, which is the one of this stream
            os.set_inheritable(free, True)  # as the others are: workers need it, too
            setattr(sys, name, os.fdopen(free, mode, encoding="utf-8"))


def _unknown(words: Sequence[str], parser: argparse.ArgumentParser) -> str:
    """By itself argparse complains with the usage of all commands, which names no option of this one."""
    import difflib  # whoever writes it right does without

    options = [word.strip("[]") for word in parser.format_usage().split() if "--" in word]
    near = [
        close
        for word in words
        if word.startswith("-")
        for close in difflib.get_close_matches(word.partition("=")[0], options, n=1)
    ]
    hint = f"did you mean {', '.join(near)}?" if near else f"see {parser.prog} --help"
    return f"unrecognized arguments: {' '.join(words)} ({hint})"


def _parser(names: Iterable[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="responses-proxy", description=PURPOSE)
    parser.add_argument("--version", action="version", version=f"responses-proxy {proxy.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in names:
        module, attribute = COMMANDS[name]
        command: Command = getattr(import_module(module), attribute)
        subparser = commands.add_parser(
            name, help=command.purpose, description=command.purpose, allow_abbrev=False
        )
        subparser.set_defaults(command=command, parser=subparser)
        command.add_options(subparser)
    return parser
