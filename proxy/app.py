"""The composition root: the one place that knows every concrete class, and where time and chance come in."""

import logging
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

import proxy
from proxy.config import AUTO, Settings
from proxy.core.ids import Mint
from proxy.core.inbound.clients import EventStyle
from proxy.core.inbound.seal import Seal
from proxy.core.outbound.profiles import DEFAULT, BackendProfile
from proxy.core.outbound.target import Target
from proxy.core.policy.breaker import Breaker, BreakerRules
from proxy.shell.backend import Backend
from proxy.shell.discovery import Catalog, Discovery
from proxy.shell.engine import Engine, Manners
from proxy.shell.http import Tempo
from proxy.shell.logs import LibraryLines, Log, make_log
from proxy.shell.server import Server
from proxy.shell.tasks import Tasks
from proxy.shell.upstream import Limits, Upstream
from proxy.shell.websocket import Conversations

BACKEND_NAME = "backend"
BYTES_PER_MIB = 1024 * 1024


class CannotListen(Exception):
    """The address is taken, or none of ours."""


def start_log(settings: Settings, stream: TextIO = sys.stderr) -> Log:
    """The process's one log; what libraries say goes there too."""
    log = make_log(settings.logs.level, settings.logs.format, secrets=_secrets(settings), stream=stream)
    logging.getLogger().handlers = [LibraryLines(log)]
    return log


@asynccontextmanager
async def running(settings: Settings, log: Log) -> AsyncIterator[str]:
    """The proxy at work, as the URL it listens on. On leaving, open streams come to their end."""
    clock = time.monotonic
    upstream = Upstream(proxy.__version__)
    tasks = Tasks(log)
    mint = Mint(secrets.token_hex)
    discovery = Discovery(
        _target(settings),
        profile=None if settings.backend.profile == AUTO else settings.backend.profile,
        overrides=settings.backend.overrides,
        catalog=Catalog(settings.models.context_windows, settings.models.reasoning_efforts),
        upstream=upstream,
        clock=clock,
        log=log,
    )
    backend = Backend(
        discovery=discovery,
        upstream=upstream,
        breaker=Breaker(_breaker_rules(settings), clock),
        limits=lambda profile: limits_of(settings, profile),
    )
    manners = Manners(
        events=EventStyle(settings.clients.events),
        message_first=settings.clients.item_order == "message_first",
    )
    engine = Engine(
        backend=backend,
        manners=manners,
        mint=mint,
        seal=Seal(_seal_secret(settings)),
        now=time.time,  # noqa: TID251 - here it comes in
        clock=clock,
        log=log,
    )
    tempo = Tempo(settings.server.patience_seconds, settings.server.heartbeat_seconds)
    body_limit = settings.server.body_limit_mib * BYTES_PER_MIB
    conversations = Conversations(engine=engine, tempo=tempo, message_limit=body_limit, tasks=tasks, log=log)
    server = Server(
        engine=engine,
        discovery=discovery,
        conversations=conversations if settings.server.websocket else None,
        tempo=tempo,
        body_limit=body_limit,
        mint=mint,
        tasks=tasks,
        log=log,
    )
    try:
        yield await _start(server, settings.server.host, settings.server.port)
    finally:
        await server.stop(settings.server.grace_seconds)
        await tasks.close()
        await upstream.close()


async def _start(server: Server, host: str, port: int) -> str:
    try:
        return await server.start(host, port)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise CannotListen(f"Cannot listen on {host}:{port}: {reason}.") from error


def _target(settings: Settings) -> Target:
    backend = settings.backend
    assert backend.url is not None, "whoever starts the proxy has settled on a backend"
    return Target(
        name=BACKEND_NAME,
        base_url=backend.url,
        profile=DEFAULT,
        key=backend.key.get_secret_value() if backend.key else None,
        headers={name: value.get_secret_value() for name, value in backend.headers.items()},
        models=backend.models,
    )


def _seal_secret(settings: Settings) -> str:
    """Without a secret of its own, what is the same in every run: then nobody has to configure one."""
    if settings.server.seal_key is not None:
        return settings.server.seal_key.get_secret_value()
    key = settings.backend.key.get_secret_value() if settings.backend.key else ""
    return f"{settings.backend.url} {key}"


def limits_of(settings: Settings, profile: BackendProfile) -> Limits:
    backend = settings.backend
    return Limits(
        connect=backend.connect_seconds,
        first_byte=backend.first_byte_seconds or profile.first_byte_s,
        idle=backend.idle_seconds,
        total=backend.total_seconds,
    )


def _breaker_rules(settings: Settings) -> BreakerRules:
    wanted = settings.breaker
    return BreakerRules(
        consecutive=wanted.consecutive_failures,
        rate=wanted.failure_rate,
        volume=wanted.minimum_requests,
        window_seconds=wanted.window_seconds,
        open_seconds=wanted.open_seconds,
        open_seconds_limit=wanted.open_seconds_limit,
        probes=wanted.probes,
    )


def _secrets(settings: Settings) -> list[str]:
    backend = settings.backend
    held = [*backend.headers.values(), backend.key, settings.server.seal_key]
    return [secret.get_secret_value() for secret in held if secret]
