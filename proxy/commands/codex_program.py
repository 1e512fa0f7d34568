"""Codex with this proxy as its model provider, for one run or as lines to paste.

A run gets all its settings on Codex's command line, which overrides the user's configuration and does not change it:
the user's servers, rules and history are all there, and without the proxy Codex is as before.
"""

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import proxy
from proxy.commands.command import CannotRun
from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.shell.http.answers import SERVER
from proxy.shell.http.upstream import Upstream

PROGRAM = "codex"
PROVIDER = "responses-proxy"

GREETING_SECONDS = 1.0
"""The time that a proxy on this machine has to answer."""

LISTING_SECONDS = 15.0
"""The time for its list of models: the first one waits until the backend is recognised."""

TERMINATED_BY = 128
"""A shell reports a program that a signal ended as the sum of this and the signal's number."""


NO_KEY = "none"
"""Codex reads the catalog only if it has a key to show. Without tenants the proxy reads none, so any key is right."""

YOUR_KEY = "YOUR-KEY"
"""Stands in lines to paste, in place of a tenant's key."""


class KeyWanted(CannotRun):
    """The proxy wants a tenant's key, which on Codex's command line would stand in the list of processes."""

    def __init__(self) -> None:
        super().__init__(
            "The proxy has tenants, so Codex needs a key of one, and a command line is no place for it. "
            "Paste what --print-config prints into ~/.codex/config.toml, put the key there, and run codex itself."
        )


# ── what Codex is told ──


def general(model: str | None) -> dict[str, str]:
    """Returns the options for every run. The web search is off, because it is OpenAI's own and no Chat Completions
    backend has it."""
    options = {} if model is None else {"model": model}
    return options | {"model_provider": PROVIDER, "web_search": "disabled"}


def provider(url: str, key: str = NO_KEY) -> dict[str, str]:
    return {
        "name": PROVIDER,
        "base_url": f"{url}/v1",
        "wire_api": "responses",
        "model_catalog_url": f"{url}/v1/models",
        "experimental_bearer_token": key,
    }


def overrides(url: str, model: str | None) -> list[str]:
    """Returns the options for the command line. Without a model, the user's own arguments name one."""
    options = general(model) | {
        f"model_providers.{PROVIDER}.{key}": value for key, value in provider(url).items()
    }
    return [word for key, value in options.items() for word in ("-c", _line(key, value, "="))]


def config(url: str, model: str, key: str = NO_KEY) -> str:
    """Returns the lines for a file."""
    return "\n".join(
        [
            "# For ~/.codex/config.toml: these lines at its top, ...",
            *(_line(name, value) for name, value in general(model).items()),
            "",
            "# ... and these at its end.",
            f"[model_providers.{PROVIDER}]",
            *(_line(name, value) for name, value in provider(url, key).items()),
        ]
    )


def _line(key: str, value: str, equals: str = " = ") -> str:
    return f"{key}{equals}{jsontext.compact(value)}"


def names_a_model(arguments: Sequence[str]) -> bool:
    return any(word in ("-m", "--model") or word.startswith(("-m=", "--model=")) for word in arguments)


# ── the proxy that answers ──


async def models_at(url: str, seconds: float = LISTING_SECONDS) -> list[str] | None:
    """Returns the models of the proxy that listens there; None if no program listens, or another one. May raise
    `KeyWanted`."""
    upstream = Upstream(proxy.__version__)
    try:
        greeting = await upstream.fetch(f"{url}/healthz", {}, GREETING_SECONDS)
        if greeting.headers.get("Server") != SERVER:
            return None
        listing = await upstream.fetch(f"{url}/v1/models", {}, seconds)
    except Fault:
        return None
    finally:
        await upstream.close()
    if listing.status == HTTPStatus.UNAUTHORIZED:
        raise KeyWanted
    if listing.status != HTTPStatus.OK:  # as where requests for this host are refused
        return None
    listed: Any = jsontext.loads(listing.body)
    return [model["id"] for model in listed["data"]]


# ── the run ──


def program() -> str:
    found = shutil.which(PROGRAM)
    if found is None:
        raise CannotRun("There is no `codex` on the PATH. To install it: npm install -g @openai/codex")
    return found


async def run(words: Sequence[str]) -> int:
    """Runs Codex on our terminal, and returns its exit code. Ctrl-C is left to Codex."""
    process = await asyncio.create_subprocess_exec(*words, env=_environment(os.environ))
    loop = asyncio.get_running_loop()
    passed_on = {signal.SIGINT: _ignore, signal.SIGTERM: process.terminate}
    for number, reaction in passed_on.items():
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, reaction)
    try:
        code = await process.wait()
    finally:
        for number in passed_on:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
    return code if code >= 0 else TERMINATED_BY - code


def _ignore() -> None:
    """Ignores a signal that the terminal has sent to Codex as well."""


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment without an HTTP proxy between these two programs on one machine."""
    spared = ",".join(filter(None, (ours.get("NO_PROXY") or ours.get("no_proxy"), "127.0.0.1,localhost,::1")))
    return {**ours, "NO_PROXY": spared, "no_proxy": spared}
