"""The composition root: the one module that knows every concrete class, and that brings in time and chance."""

import logging
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TextIO

import proxy
from proxy.configured import (
    alone,
    backends_of,
    breakers_of,
    memory_of,
    metrics_readers_of,
    read_bytes_of,
    responses_options_of,
    retry_rules_of,
    secrets_of,
    store_limits_of,
    teaching_of,
    tenants_of,
)
from proxy.core.caches.shelf import Shelf
from proxy.core.ids import Mint
from proxy.core.markup import registry
from proxy.core.masking.secrets import Secrets
from proxy.core.policy.hosts import Hosts
from proxy.core.policy.quota import Quota
from proxy.core.policy.shares import Shares
from proxy.core.surfaces.chat.surface import ChatSurface
from proxy.core.surfaces.memory.call_ids import CallMaps
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.native.surface import NativeSurface
from proxy.core.surfaces.responses.compaction import CompactionObject
from proxy.core.surfaces.responses.surface import ResponsesSurface
from proxy.inspecting import inspection_of, ring_of
from proxy.process import Stop, cannot_listen
from proxy.settings.root import Settings
from proxy.shell.backends import Backends
from proxy.shell.concurrency import Slots
from proxy.shell.engine import Engine
from proxy.shell.http.connections import Connections
from proxy.shell.http.heartbeat import StreamTiming
from proxy.shell.http.upstream import Upstream
from proxy.shell.limits.shared_slots import SharedSlots
from proxy.shell.limits.tenant_limits import TenantLimits
from proxy.shell.limits.tickets import Tickets
from proxy.shell.offload.processes import CheckProcesses
from proxy.shell.offload.threads import WorkThreads
from proxy.shell.ops import descriptors
from proxy.shell.ops.entropy import Entropy
from proxy.shell.ops.logs import LibraryLines, Log, make_log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.ops.worker_metrics import WorkerMetrics
from proxy.shell.ops.worker_questions import ONLY_WORKER, WorkerSlot
from proxy.shell.remembering.memos import Memos
from proxy.shell.request_reading import RequestReading
from proxy.shell.runs.runs import Runs
from proxy.shell.secret_mask import SecretMask
from proxy.shell.serving.conversations import Conversations
from proxy.shell.serving.handlers import Handlers, Surfaces
from proxy.shell.serving.refusals import Refusals
from proxy.shell.serving.server import Server
from proxy.shell.serving.stored_responses import StoredResponses
from proxy.shell.serving.token_counting import TokenCounting
from proxy.shell.stored_turns import StoredTurns
from proxy.shell.under_way import UnderWay
from proxy.shell.websocket.open_sockets import OpenSockets
from proxy.shell.websocket.session import SocketTools
from proxy.signing import signed
from proxy.storage import Storage, storage_of
from proxy.watchers import watchers_of

REMEMBERED_PART = 4
"""A quarter of a worker's memory is for remembered conversations, which are compressed."""

SLOTS = "slots"
"""Labels the slots of a backend among the limits that processes share."""

SAVING_SECONDS = 5.0
"""Seconds that the end of the proxy waits for what is still being stored."""


def start_log(settings: Settings, stream: TextIO | None = None) -> Log:
    """Makes the one log of the process, to stderr, which also gets what libraries log and what Python would print."""
    log = make_log(
        settings.logs.level,
        settings.logs.format,
        secrets=secrets_of(settings),
        stream=stream or sys.stderr,
        colors=not os.environ.get("NO_COLOR"),
    )
    logging.getLogger().handlers = [LibraryLines(log)]
    sys.unraisablehook = partial(_ignored, log)
    return log


def _ignored(log: Log, failure: "sys.UnraisableHookArgs") -> None:
    """Logs an exception of a finalizer, whose words Python would print. One that only ends a thread is left out,
    because `offload.threads` raises it again."""
    if isinstance(failure.exc_value, Exception):
        log.error("ignored_exception", exc_info=failure.exc_value)


@asynccontextmanager
async def running(
    settings: Settings, log: Log, slot: WorkerSlot = ONLY_WORKER, stop: Stop | None = None
) -> AsyncIterator[str]:
    """Runs the proxy, and yields the URL on which it listens. On leaving, open streams come to their end."""
    clock = time.monotonic
    upstream = Upstream(proxy.__version__)
    tasks, saving = Tasks(log), Tasks(log)
    settings = signed(settings)
    threads, check_processes = WorkThreads(log), CheckProcesses()
    breakers = breakers_of(settings, clock)
    metrics = Metrics(breakers, registry.NAMES)
    worker_metrics = WorkerMetrics(slot, metrics.counts)
    secret_mask = SecretMask(Secrets(secrets_of(settings)))
    mint = Mint(Entropy().token_hex)
    under_way = UnderWay()
    ring = ring_of(settings, under_way.watches)
    async with (
        storage_of(
            settings.store, settings.live, read_bytes_of(settings), slot, metrics, log, clock
        ) as storage,
        watchers_of(settings, metrics, mint, secret_mask.configured, log, clock, ring) as watchers,
    ):
        tickets = None if storage.shared is None else Tickets(storage.shared, storage.worker, clock)
        shared_slots = _shared_slots(tickets, storage, metrics)
        memos = Memos(storage.live, saving, metrics)
        teaching = teaching_of(settings, metrics, memos, clock, _now)
        backends = backends_of(settings, breakers, upstream, threads, clock, log, shared_slots, teaching)
        metrics.gauge_by_label("lessons_held", backends.lessons_held)
        reading = RequestReading(backends, ReasoningMemory(), threads)
        limits = TenantLimits(
            Quota(clock), storage.shared, storage.living, storage.was_there, saving, metrics
        )
        engine = Engine(
            limits=limits,
            reading=reading,
            mint=mint,
            now=_now,
            clock=clock,
            chance=secrets.SystemRandom().random,
            retries=retry_rules_of(settings),
            threads=threads,
            check_processes=check_processes,
            metrics=metrics,
            secret_mask=secret_mask,
            log=log,
            watchers=watchers,
            under_way=under_way,
        )
        token_counting = TokenCounting(engine.scope, reading, clock, metrics, log)
        runs = _runs(settings, storage, metrics, log)
        stored_turns = StoredTurns(
            storage.records, store_limits_of(settings), storage.worker, saving, metrics, log, memos, runs
        )
        refusals = Refusals(metrics, secret_mask, log, watchers)
        handlers = _handlers(
            settings,
            _surfaces(settings, mint, stored_turns, backends),
            engine,
            token_counting,
            stored_turns,
            storage.is_up,
            backends,
            worker_metrics,
            refusals,
            tasks,
            log,
        )
        tenants = tenants_of(settings)
        inspection = inspection_of(
            settings,
            slot=slot,
            ring=ring,
            life=mint.make("life")[-8:],
            backends=backends,
            tenants=tenants,
            remaining=limits.remaining,
            storage=storage,
            secrets=secret_mask.configured,
        )
        server = Server(
            handlers=handlers,
            stored_responses=StoredResponses(
                storage.records, threads, runs, handlers.open_stream, lookups=handlers.lookups
            ),
            conversations=Conversations(storage.records, handlers.bodies, handlers.lookups, mint, _now),
            inspection=inspection,
            refusals=refusals,
            hosts=Hosts(settings.hosts_served),
            tenants=tenants,
            metrics_readers=metrics_readers_of(settings),
            connections=Connections(descriptors.room_for_clients(descriptors.raised()), log.warning),
            mint=mint,
            log=log,
        )
        try:
            await worker_metrics.start()
            await inspection.start()
            if stop is not None:
                stop.hurry = server.hurry
            url = await _start(server, settings.server.host, settings.server.port, shared=slot.of > 1)
            if slot.is_first:
                storage.announce(log)
            if runs is not None:
                runs.start()
            if tickets is not None:
                tasks.start(tickets.run(), "tickets")
            yield url
        finally:
            worker_metrics.stop()
            inspection.stop()
            await server.stop(settings.server.grace_seconds)
            if runs is not None:
                await runs.close()
            await saving.finish(SAVING_SECONDS)
            await tasks.close()
            if tickets is not None:
                await tickets.close()
            threads.close()
            await check_processes.close()
            await upstream.close()


_now = time.time  # noqa: TID251 - here it comes in


def _shared_slots(
    tickets: Tickets | None, storage: Storage, metrics: Metrics
) -> Callable[[str, int], Slots | None]:
    if tickets is None:
        return alone

    def made(name: str, slots: int) -> Slots:
        return SharedSlots(
            name, slots, tickets, storage.living, partial(metrics.count, "limits_by_share", SLOTS)
        )

    return made


def _runs(settings: Settings, storage: Storage, metrics: Metrics, log: Log) -> Runs | None:
    if storage.records is None or storage.live is None:
        return None
    return Runs(
        records=storage.records,
        live=storage.live,
        worker=storage.worker,
        places=settings.background.limit,
        record_bytes=settings.store.max_response_bytes,
        metrics=metrics,
        log=log,
    )


def _surfaces(settings: Settings, mint: Mint, stored_turns: StoredTurns, backends: Backends) -> Surfaces:
    assert settings.server.signing_key is not None
    signer = TokenSigner(settings.server.signing_key.get_secret_value())
    options = responses_options_of(
        settings, stores=stored_turns.records is not None, background=stored_turns.background is not None
    )
    responses = ResponsesSurface(
        mint, _now, signer, options, real_name=backends.real_name, hosted_tools=backends.hosted_tools
    )
    return Surfaces(
        responses=responses,
        compaction=replace(responses, form=CompactionObject, name="compact"),
        counting=replace(responses, name="input_tokens"),
        chat=ChatSurface(mint, _now),
        native=NativeSurface(mint, _now, CallMaps(signer)),
    )


def _handlers(
    settings: Settings,
    surfaces: Surfaces,
    engine: Engine,
    token_counting: TokenCounting,
    stored_turns: StoredTurns,
    store_is_up: Callable[[], bool] | None,
    backends: Backends,
    worker_metrics: WorkerMetrics,
    refusals: Refusals,
    tasks: Tasks,
    log: Log,
) -> Handlers:
    timing = StreamTiming(settings.server.patience_seconds, settings.server.heartbeat_seconds)
    body_limit = settings.server.body_limit_bytes
    room = memory_of(settings)
    memory = Shares(room - room // REMEMBERED_PART)
    sockets = SocketTools(
        engine=engine,
        surface=surfaces.responses,
        timing=timing,
        message_limit=body_limit,
        memory=memory,
        remembered=Shelf(room // REMEMBERED_PART),
        tasks=tasks,
        stored_turns=stored_turns,
    )
    return Handlers(
        engine=engine,
        token_counting=token_counting,
        surfaces=surfaces,
        worker_metrics=worker_metrics,
        shows_metrics=metrics_readers_of(settings) is not None,
        backends=backends,
        open_sockets=OpenSockets(sockets, log) if settings.server.websocket else None,
        timing=timing,
        body_limit=body_limit,
        memory=memory,
        tasks=tasks,
        refusals=refusals,
        stored_turns=stored_turns,
        store_is_up=store_is_up,
    )


async def _start(server: Server, host: str, port: int, *, shared: bool) -> str:
    try:
        return await server.start(host, port, shared=shared)
    except OSError as error:
        raise cannot_listen(host, port, error) from error
