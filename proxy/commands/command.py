"""What every command is made of.

Exit codes: 0 done, 1 could not be done, 2 wrong settings or arguments.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from proxy import process
from proxy.core.masking.unseen import visible
from proxy.settings.loading import BINDINGS, CONFIG_VARIABLE, ConfigError, Loaded, all_settings, load

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


@dataclass(frozen=True, slots=True)
class Command:
    purpose: str
    run: Callable[[argparse.Namespace], int]
    add_options: Callable[[argparse.ArgumentParser], None]

    def done(self, wanted: argparse.Namespace) -> int:
        """Returns the exit code."""
        try:
            code = self.run(wanted)
            sys.stdout.flush()
            return code
        except BrokenPipeError:  # `| head` has seen enough
            fall_silent()
            return DONE
        except ConfigError as error:
            print(error, file=sys.stderr)
            return MISUSED


def fall_silent() -> None:
    """Throws away what is still written to stdout, as nobody reads it any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class CannotRun(Exception):
    """Says why the command cannot do what it is asked for."""


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Adds the options that stand for settings. `read_settings` reads them."""
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


def read_settings(wanted: argparse.Namespace) -> Loaded:
    options = {name: value for name, value in vars(wanted).items() if name.startswith("--") and value}
    return load(options, os.environ, wanted.config)


def run(work: Coroutine[Any, Any, int]) -> int:
    """Does the work in a loop of its own, and tells in one line why it could not be done."""
    with asyncio.Runner(loop_factory=process.loop_factory()) as runner:
        try:
            return runner.run(work)
        except KeyboardInterrupt:
            return INTERRUPTED
        except (process.CannotStart, process.WorkersFailed, CannotRun) as error:
            return _refused(error)


def _refused(error: Exception) -> int:
    tell(str(error))
    return MISUSED if isinstance(error, process.SettingsRefused) else FAILED


def tell(text: str) -> None:
    """Writes to stderr, because another program may read what the command prints."""
    print(for_terminal(text), file=sys.stderr)


def show(text: str) -> None:
    """Prints what may hold the words of others: of a client, a model, a backend, a file."""
    print(for_terminal(text), flush=True)


def for_terminal(text: str) -> str:
    """Without what a terminal would obey (S15). Lines stay lines."""
    return "\n".join(map(visible, text.split("\n")))
