"""The store, put together: the engine that the settings choose, behind its guard, with what keeps it in order."""

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from proxy.live_server import live_server
from proxy.process import CannotStart, SettingsRefused
from proxy.settings.store import LiveSettings, StoreSettings
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.store_watchers import OrderWatcher, StoreWatcher, UnreadableWatcher
from proxy.shell.ops.tasks import Tasks
from proxy.shell.ops.worker_questions import WorkerSlot
from proxy.shell.stores.beats import Beats, Patience
from proxy.shell.stores.engines import about_engine, engines_at, live_in_file
from proxy.shell.stores.guard import Guard
from proxy.shell.stores.guarded_live import GuardedLive
from proxy.shell.stores.guarded_records import GuardedRecords
from proxy.shell.stores.location import (
    Location,
    LocationRefused,
    StoreKind,
    check_live_server,
    locate,
    read_mounts,
)
from proxy.shell.stores.opening import Opening
from proxy.shell.stores.postgres.address import Limits
from proxy.shell.stores.protocol import Live, Records, StoreDown, StoreUnreadable
from proxy.shell.stores.sealing.keyring import seals_with
from proxy.shell.stores.sealing.seals import Seals, Told, told_nobody
from proxy.shell.stores.sweeper import Sweeper
from proxy.shell.stores.terms import DAY, Clock, Keeping

BYTES_PER_GIB = 1 << 30
SOONER = 0.9
"""An engine gets this share of the time that requests wait for it. So it gives up first, because it can tell whether
anything was done, and a request that has stopped waiting cannot."""
WORKER_BYTES = 16
SEVERAL_NODES = 4
"""Where a proxy cannot know how many proxies share a server, it assumes this number, itself included. If there are
more, each lets more through than its share; if there are fewer, tenants get less than theirs."""


class CannotStore(CannotStart):
    """What is kept cannot be read or written."""


class StoreRefused(CannotStore, SettingsRefused):
    """The settings ask for what must not be."""


def one() -> int:
    return 1


def yes() -> bool:
    return True


@dataclass(slots=True, frozen=True)
class Storage:
    location: Location
    records: Records | None = None
    """None: nothing is kept."""
    live: Live | None = None
    worker: str = ""
    """Names this process among all that use the store."""
    shared: Live | None = None
    """What several processes may use together. None: this one is alone."""
    living: Callable[[], int] = one
    """How many processes use the store, as far as is known."""
    was_there: Callable[[], bool] = yes
    """Has this process ever reached what is shared?"""
    is_up: Callable[[], bool] | None = None
    """None: there is nothing that could be down."""

    def announce(self, log: Log) -> None:
        """Most clients do not say that they want to be stored: whoever runs the proxy must know it."""
        if self.location.is_less:
            log.warning("store_reduced", about=self.location.line)
        else:
            log.info("store_chosen", about=self.location.line, **about_engine(self.location))


def located(settings: StoreSettings, workers: int) -> Location:
    try:
        return locate(settings.url.get_secret_value(), workers, os.environ, read_mounts())
    except LocationRefused as refusal:
        raise StoreRefused(str(refusal)) from refusal


def check_live(settings: LiveSettings) -> None:
    if settings.url is not None:
        try:
            check_live_server()
        except LocationRefused as refusal:
            raise StoreRefused(str(refusal)) from refusal


def sealed_by(settings: StoreSettings, told: Told = told_nobody) -> Seals:
    try:
        return seals_with([key.get_secret_value() for key in settings.keys], told)
    except LocationRefused as refusal:
        raise StoreRefused(str(refusal)) from refusal


def with_its_key(location: Location, seals: Seals) -> Location:
    """Tells whoever starts the proxy what will be encrypted, and with which key."""
    if not seals.ids or location.kind in (StoreKind.MEMORY, StoreKind.OFF):
        return location
    return replace(location, line=f"{location.line}; they are encrypted with the key {seals.ids[0]}")


def _told_in_the_loop(watcher: UnreadableWatcher) -> Told:
    """Engines work in threads, too."""
    loop = asyncio.get_running_loop()

    def tell(what: str, reason: str, id: str, key: str) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody counts any more
            loop.call_soon_threadsafe(watcher.met, what, reason, id, key)

    return tell


@asynccontextmanager
async def storage_of(
    settings: StoreSettings,
    live_settings: LiveSettings,
    read_bytes: int,
    slot: WorkerSlot,
    metrics: Metrics,
    log: Log,
    clock: Callable[[], float],
) -> AsyncIterator[Storage]:
    """`read_bytes`: see `Keeping`."""
    location = located(settings, slot.of)
    check_live(live_settings)
    seals = sealed_by(settings, _told_in_the_loop(UnreadableWatcher(metrics, log, clock)))
    location = with_its_key(location, seals)
    server = live_server(live_settings, settings.wait_seconds, metrics, log, clock, seals)
    if server is not None and slot.is_first:
        log.info("live_chosen", about=f"what may be lost lies in {live_settings.url}")
    patience = Patience(clock)
    dates = Clock(date=time.time, steady=clock)  # noqa: TID251 - here it comes in
    limits = Limits(settings.connections, settings.wait_seconds * SOONER, settings.prepared)
    keeping = replace(keeping_of(settings), read_bytes=read_bytes)
    engines = engines_at(location, dates, keeping, patience.may_bury, limits, seals)
    if engines is None:
        if server is not None:
            nothing = _sharing_a_server(location, server, _assumed(settings, location, server, slot))
        else:
            nothing = _sharing_a_file(location, settings, slot, metrics, log, dates)
        async with nothing as storage:
            yield storage
        return
    watcher, order = StoreWatcher(metrics, log), OrderWatcher(metrics, log)
    guard = Guard(settings.wait_seconds, clock, watcher)
    plain_records, plain_live = engines
    metrics.gauge("store_up", lambda: guard.is_up)
    metrics.gauge("store_waiting_seconds", lambda: guard.waiting_seconds)
    records = GuardedRecords(plain_records, guard, Opening(plain_records.open, watcher.refused))
    live = server or GuardedLive(plain_live, guard, Opening(plain_live.open, watcher.refused))
    worker = secrets.token_hex(WORKER_BYTES)
    assumed = _assumed(settings, location, server, slot)
    beats = Beats(records, worker, patience, lambda: True, order.failed, asyncio.sleep, assumed)
    # Whoever beats on files knows the processes of one machine only, and several share a server.
    least = slot.of if server is None or location.kind is StoreKind.POSTGRESQL else assumed
    sweeper = Sweeper(records, live, order, clock, asyncio.sleep)
    tasks = Tasks(log)
    async with _opened(records, live):
        tasks.start(beats.run(), "beats")
        tasks.start(sweeper.run(), "sweeper")
        try:
            yield Storage(
                location,
                records,
                live,
                worker,
                shared=None if location.kind is StoreKind.MEMORY and server is None else live,
                living=lambda: max(beats.living, least),
                was_there=lambda: live.was_there,
                is_up=lambda: guard.is_up,
            )
        finally:
            await tasks.close()
            with suppress(StoreDown):
                await beats.leave()


def _assumed(
    settings: StoreSettings, location: Location, server: GuardedLive | None, slot: WorkerSlot
) -> int:
    """How many workers are assumed where nobody can count them."""
    are_several = server is not None or location.kind is StoreKind.POSTGRESQL
    return slot.of * (settings.nodes or (SEVERAL_NODES if are_several else 1))


@asynccontextmanager
async def _opened(*stores: GuardedRecords | GuardedLive) -> AsyncIterator[None]:
    try:
        try:
            for store in stores:
                await store.open()
        except StoreUnreadable as failure:
            raise CannotStore(str(failure)) from failure
        yield
    finally:
        await asyncio.gather(*(store.close() for store in stores))


# ── where nothing is kept ──


@asynccontextmanager
async def _sharing_a_server(location: Location, server: GuardedLive, assumed: int) -> AsyncIterator[Storage]:
    """Processes of several machines share their limits, though none of them knows how many there are."""
    async with _opened(server):
        yield Storage(
            location,
            worker=secrets.token_hex(WORKER_BYTES),
            shared=server,
            living=lambda: assumed,
            was_there=lambda: server.was_there,
        )


@asynccontextmanager
async def _sharing_a_file(
    location: Location, settings: StoreSettings, slot: WorkerSlot, metrics: Metrics, log: Log, clock: Clock
) -> AsyncIterator[Storage]:
    """The workers of one proxy share its limits all the same, in a file that goes with them."""
    if slot.folder is None:
        yield Storage(location)
        return
    watcher = StoreWatcher(metrics, log)
    plain = live_in_file(slot.folder, clock)
    live = GuardedLive(
        plain, Guard(settings.wait_seconds, clock.steady, watcher), Opening(plain.open, watcher.refused)
    )
    with suppress(StoreUnreadable):  # then each worker goes by its part
        await live.open()
    try:
        yield Storage(
            location,
            worker=secrets.token_hex(WORKER_BYTES),
            shared=live,
            living=lambda: slot.of,
            was_there=lambda: live.was_there,
        )
    finally:
        await live.close()


def keeping_of(settings: StoreSettings) -> Keeping:
    days = settings.conversation_days
    return Keeping(
        response_seconds=settings.retention_days * DAY,
        conversation_seconds=None if days is None else days * DAY,
        most_bytes=int(settings.max_gib * BYTES_PER_GIB),
    )
