"""The composition root: the one module that knows every concrete class, and that brings in time and chance."""

import errno
import logging
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache, partial
from typing import TextIO

import proxy
from proxy.core.backends.routes import Routes
from proxy.core.backends.target import Target
from proxy.core.caches.shelf import Shelf
from proxy.core.catalog import Catalog
from proxy.core.ids import Mint
from proxy.core.markup import registry
from proxy.core.masking.secrets import Secrets
from proxy.core.policy.breaker import Breaker, BreakerRules
from proxy.core.policy.hosts import Hosts
from proxy.core.policy.quota import Quota
from proxy.core.policy.retry import Budget, RetryRules
from proxy.core.policy.shares import Shares
from proxy.core.profile import DEFAULT
from proxy.core.surfaces.chat.surface import ChatSurface
from proxy.core.surfaces.clients import EventStyle
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.native.surface import NativeSurface
from proxy.core.surfaces.responses.compaction import CompactionObject
from proxy.core.surfaces.responses.surface import ResponsesOptions, ResponsesSurface
from proxy.core.tenants import ANYBODY, EVERYBODY, Mode, Tenant, Tenants, ToolLimits, Validation
from proxy.setting_values import AUTO
from proxy.settings import BackendSettings, LimitSettings, Settings
from proxy.shell.backend import Backend
from proxy.shell.backends import Backends
from proxy.shell.concurrency import ConcurrencyLimit, ConcurrencyRules
from proxy.shell.discovery import Discovery
from proxy.shell.engine import Engine
from proxy.shell.http.connections import Connections
from proxy.shell.http.heartbeat import StreamTiming
from proxy.shell.http.transport import Timeouts, Transport
from proxy.shell.http.upstream import Upstream
from proxy.shell.offload.processes import CheckProcesses
from proxy.shell.offload.threads import WorkThreads
from proxy.shell.ops import descriptors
from proxy.shell.ops.entropy import Entropy
from proxy.shell.ops.logs import LibraryLines, Log, make_log
from proxy.shell.ops.machine import memory_bytes
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.ops.worker_metrics import ONLY_WORKER, WorkerMetrics, WorkerSlot
from proxy.shell.secret_mask import SecretMask
from proxy.shell.serving.handlers import Handlers, Surfaces
from proxy.shell.serving.refusals import Refusals
from proxy.shell.serving.server import Server
from proxy.shell.websocket.open_sockets import OpenSockets
from proxy.signing import signed

BYTES_PER_MIB = 1024 * 1024

MEMORY_BYTES = 2 << 30
"""Default memory for requests under way and remembered conversations. One developer alone has three eighths of it:
enough for fifty agents with histories of 2 MB and a hundred tools each."""

REMEMBERED_PART = 4
"""A quarter of it is for remembered conversations, which are compressed."""

ADVICE = {
    errno.EADDRINUSE: "Choose another port: --port, server.port.",
    errno.EACCES: "Choose a port from 1024 on: --port, server.port.",
}
"""What to do about an address that cannot be bound, by the error of the system. Any other error is about the host."""

WATCHER = Tenant("metrics")
"""Who reads the metrics, and may do nothing else."""


class CannotListen(Exception):
    """The address is in use, or does not belong to this machine."""


def start_log(settings: Settings, stream: TextIO = sys.stderr) -> Log:
    """Makes the one log of the process, which also gets what libraries log and what Python itself would print."""
    log = make_log(settings.logs.level, settings.logs.format, secrets=_secrets(settings), stream=stream)
    logging.getLogger().handlers = [LibraryLines(log)]
    sys.unraisablehook = partial(_ignored, log)
    return log


def _ignored(log: Log, failure: "sys.UnraisableHookArgs") -> None:
    """Logs an exception of a finalizer, whose words Python would print. One that only ends a thread is left out,
    because `offload.threads` raises it again."""
    if isinstance(failure.exc_value, Exception):
        log.error("ignored_exception", exc_info=failure.exc_value)


@asynccontextmanager
async def running(settings: Settings, log: Log, slot: WorkerSlot = ONLY_WORKER) -> AsyncIterator[str]:
    """Runs the proxy, and yields the URL on which it listens. On leaving, open streams come to their end."""
    clock = time.monotonic
    now = time.time  # noqa: TID251 - here it comes in
    upstream = Upstream(proxy.__version__)
    tasks = Tasks(log)
    mint = Mint(Entropy().token_hex)
    settings = signed(settings)
    assert settings.server.signing_key is not None
    signer = TokenSigner(settings.server.signing_key.get_secret_value())
    threads, check_processes = WorkThreads(log), CheckProcesses()
    backends = backends_of(settings, upstream, threads, clock, log)
    metrics = Metrics(backends.breakers, registry.NAMES)
    worker_metrics = WorkerMetrics(slot, metrics.counts)
    secret_mask = SecretMask(Secrets(_secrets(settings)))
    engine = Engine(
        backends=backends,
        quota=Quota(clock),
        reasoning_memory=ReasoningMemory(),
        mint=mint,
        now=now,
        clock=clock,
        chance=secrets.SystemRandom().random,
        retries=_retry_rules(settings),
        threads=threads,
        check_processes=check_processes,
        metrics=metrics,
        secret_mask=secret_mask,
        log=log,
    )
    responses = ResponsesSurface(mint, now, signer, _responses_options(settings))
    timing = StreamTiming(settings.server.patience_seconds, settings.server.heartbeat_seconds)
    body_limit = settings.server.body_limit_mib * BYTES_PER_MIB
    room = _memory(settings)
    memory = Shares(room - room // REMEMBERED_PART)
    open_sockets = OpenSockets(
        engine=engine,
        surface=responses,
        timing=timing,
        message_limit=body_limit,
        memory=memory,
        remembered=Shelf(room // REMEMBERED_PART),
        tasks=tasks,
        log=log,
    )
    refusals = Refusals(metrics, secret_mask, log)
    readers = _metrics_readers(settings)
    handlers = Handlers(
        engine=engine,
        surfaces=Surfaces(
            responses=responses,
            compaction=replace(responses, form=CompactionObject, name="compact"),
            chat=ChatSurface(mint, now),
            native=NativeSurface(mint, now, signer),
        ),
        worker_metrics=worker_metrics,
        shows_metrics=readers is not None,
        backends=backends,
        open_sockets=open_sockets if settings.server.websocket else None,
        timing=timing,
        body_limit=body_limit,
        memory=memory,
        tasks=tasks,
        refusals=refusals,
    )
    server = Server(
        handlers=handlers,
        refusals=refusals,
        hosts=Hosts(settings.hosts_served),
        tenants=_tenants(settings),
        metrics_readers=readers,
        connections=Connections(descriptors.room_for_clients(descriptors.raised()), log.warning),
        mint=mint,
        log=log,
    )
    try:
        await worker_metrics.start()
        yield await _start(server, settings.server.host, settings.server.port, shared=slot.of > 1)
    finally:
        worker_metrics.stop()
        await server.stop(settings.server.grace_seconds)
        await tasks.close()
        threads.close()
        await check_processes.close()
        await upstream.close()


async def _start(server: Server, host: str, port: int, *, shared: bool) -> str:
    try:
        return await server.start(host, port, shared=shared)
    except OSError as error:
        raise cannot_listen(host, port, error) from error


def cannot_listen(host: str, port: int, error: OSError) -> CannotListen:
    reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
    advice = ADVICE.get(error.errno or 0, "Choose an address of this machine: --host, server.host.")
    return CannotListen(f"Cannot listen on {host}:{port}: {reason}. {advice}")


def backends_of(
    settings: Settings, transport: Transport, threads: WorkThreads, clock: Callable[[], float], log: Log
) -> Backends:
    catalog = Catalog(settings.models.context_windows, settings.models.reasoning_efforts)
    several = len(settings.all_backends) > 1

    def made(name: str, wanted: BackendSettings) -> Backend:
        discovery = Discovery(
            _target(name, wanted),
            profile=None if wanted.profile == AUTO else wanted.profile,
            overrides=wanted.overrides,
            catalog=catalog,
            transport=transport,
            clock=clock,
            log=log.bind(backend=name) if several else log,
        )
        return Backend(
            name=name,
            discovery=discovery,
            transport=transport,
            breaker=Breaker(_breaker_rules(settings), clock, name),
            budget=Budget(settings.retries.budget, clock),
            concurrency=ConcurrencyLimit(
                ConcurrencyRules(wanted.max_concurrent, wanted.max_waiting, wanted.wait_seconds)
            ),
            timeouts=lru_cache(partial(timeouts_of, wanted)),
            threads=threads,
            clock=clock,
            forward_key=wanted.forward_key,
        )

    routing = settings.routing
    routes = Routes(settings.default_backend, routing.models, routing.aliases, routing.fallbacks)
    return Backends({name: made(name, wanted) for name, wanted in settings.all_backends.items()}, routes)


def _target(name: str, backend: BackendSettings) -> Target:
    assert backend.url is not None, "whoever starts the proxy has settled on a backend"
    return Target(
        name=name,
        base_url=backend.url,
        profile=DEFAULT,
        key=backend.key.get_secret_value() if backend.key else None,
        headers={name: value.get_secret_value() for name, value in backend.headers.items()},
        models=backend.models,
    )


def _tenants(settings: Settings) -> Tenants:
    anybody = _tenant(ANYBODY.name, settings.limits)
    return Tenants(
        {
            key: _tenant(name, settings.limits_of(name))
            for name, tenant in settings.tenants.items()
            for key in tenant.keys
        },
        anybody,
    )


def _metrics_readers(settings: Settings) -> Tenants | None:
    if settings.metrics.keys:
        return Tenants(dict.fromkeys(settings.metrics.keys, WATCHER))
    return EVERYBODY if settings.shows_metrics_to_all else None


def _tenant(name: str, wanted: LimitSettings) -> Tenant:
    allowed = wanted.tool_allowlist
    return Tenant(
        name,
        ToolLimits(
            tools=wanted.tools,
            description_characters=wanted.description_characters,
            schema_depth=wanted.schema_depth,
            argument_bytes=wanted.argument_bytes,
            calls=wanted.calls,
        ),
        limits_mode=Mode(wanted.mode) if wanted.mode else None,
        tool_allowlist=None if allowed is None else tuple(allowed),
        tool_allowlist_mode=Mode(wanted.tool_allowlist_mode),
        validate_tool_arguments=Validation(wanted.validate_tool_arguments),
        tool_result_max_bytes=wanted.tool_result_max_bytes,
        requests_per_minute=wanted.requests_per_minute,
        tool_calls_per_minute=wanted.tool_calls_per_minute,
    )


def _responses_options(settings: Settings) -> ResponsesOptions:
    return ResponsesOptions(
        events=EventStyle(settings.clients.events),
        message_first=settings.clients.item_order == "message_first",
    )


def _memory(settings: Settings) -> int:
    """Returns the bytes for one worker. On a small machine, all workers together take half of its memory."""
    if settings.server.memory_mib is not None:
        return settings.server.memory_mib * BYTES_PER_MIB
    there_is = memory_bytes() or 2 * MEMORY_BYTES * settings.server.workers
    return min(MEMORY_BYTES, there_is // 2 // settings.server.workers)


def timeouts_of(backend: BackendSettings, patience: float) -> Timeouts:
    """`patience`: the profile's limit on the wait for the first byte, used if none is configured."""
    return Timeouts(
        connect=backend.connect_seconds,
        first_byte=backend.first_byte_seconds or patience,
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


def _retry_rules(settings: Settings) -> RetryRules:
    wanted = settings.retries
    return RetryRules(
        attempts=wanted.attempts, after_errors=wanted.after_errors, longest_wait=wanted.longest_wait_seconds
    )


def _secrets(settings: Settings) -> list[str]:
    backends = settings.all_backends.values()
    held = [settings.server.signing_key]
    held += [secret for backend in backends for secret in (backend.key, *backend.headers.values())]
    return [secret.get_secret_value() for secret in held if secret]
