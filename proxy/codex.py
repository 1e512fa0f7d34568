"""Codex with this proxy as its model provider, for one run or as lines to paste.

A run is told everything on Codex's command line, where it wins over the user's configuration and changes nothing in
it: their servers, rules and history are all there, and without us Codex is as it was.
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
from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.shell.http.answers import SERVER
from proxy.shell.http.upstream import Upstream

PROGRAM = "codex"
PROVIDER = "responses-proxy"

GREETING_SECONDS = 1.0
"""For a proxy on this machine to say that it is there."""

LISTING_SECONDS = 15.0
"""For its list of models: the first one waits until it is known what the backend is."""

TERMINATED_BY = 128
"""Shells report a program that a signal ended as this and the signal's number."""


NO_KEY = "none"
"""Codex reads the catalog only if it has a key to show. Without tenants the proxy looks at none, so any will do."""

YOUR_KEY = "YOUR-KEY"
"""In lines to paste, where a tenant's key must stand."""


class CannotRun(Exception):
    pass


class KeyWanted(CannotRun):
    """A tenant's key, which on Codex's command line would stand in the list of processes."""

    def __init__(self) -> None:
        super().__init__(
            "The proxy has tenants, so Codex needs a key of one, and a command line is no place for it. "
            "Paste what --print-config prints into ~/.codex/config.toml, put the key there, and run codex itself."
        )


# ── what Codex is told ──


def general(model: str | None) -> dict[str, str]:
    """A web search would be OpenAI's own; no Chat Completions backend has it."""
    told = {} if model is None else {"model": model}
    return told | {"model_provider": PROVIDER, "web_search": "disabled"}


def provider(url: str, key: str = NO_KEY) -> dict[str, str]:
    return {
        "name": PROVIDER,
        "base_url": f"{url}/v1",
        "wire_api": "responses",
        "model_catalog_url": f"{url}/v1/models",
        "experimental_bearer_token": key,
    }


def overrides(url: str, model: str | None) -> list[str]:
    """For the command line. Without a model it is for the user's own arguments to name one."""
    told = general(model) | {
        f"model_providers.{PROVIDER}.{key}": value for key, value in provider(url).items()
    }
    return [word for key, value in told.items() for word in ("-c", _line(key, value, "="))]


def config(url: str, model: str, key: str = NO_KEY) -> str:
    """For a file."""
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


async def models_at(url: str) -> list[str] | None:
    """The models of the proxy that listens there; None if nobody does, or somebody else. May raise `KeyWanted`."""
    upstream = Upstream(proxy.__version__)
    try:
        greeting = await upstream.fetch(f"{url}/healthz", {}, GREETING_SECONDS)
        if greeting.headers.get("Server") != SERVER:
            return None
        listing = await upstream.fetch(f"{url}/v1/models", {}, LISTING_SECONDS)
    except Fault:
        return None
    finally:
        await upstream.close()
    if listing.status == HTTPStatus.UNAUTHORIZED:
        raise KeyWanted
    listed: Any = jsontext.loads(listing.body)
    return [model["id"] for model in listed["data"]]


# ── the run ──


def program() -> str:
    found = shutil.which(PROGRAM)
    if found is None:
        raise CannotRun("There is no `codex` on the PATH. To install it: npm install -g @openai/codex")
    return found


async def run(words: Sequence[str]) -> int:
    """Runs it on our terminal, and returns what it exits with. Ctrl-C is between Codex and the user."""
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
    """The terminal has told Codex as well."""


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    """An HTTP proxy of the network has no business between two programs on one machine."""
    spared = ",".join(filter(None, (ours.get("NO_PROXY") or ours.get("no_proxy"), "127.0.0.1,localhost,::1")))
    return {**ours, "NO_PROXY": spared, "no_proxy": spared}
