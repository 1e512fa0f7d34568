"""What the settings make of backends and tenants: the objects that the rest of the proxy works with."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from hashlib import sha256

from proxy.core.backends.target import Target
from proxy.core.catalog import Catalog
from proxy.core.flow.reply import get_ready
from proxy.core.policy.breaker import Breaker, BreakerRules
from proxy.core.policy.retry import Budget, RetryRules
from proxy.core.profile import DEFAULT, overridden
from proxy.core.surfaces.clients import EventStyle
from proxy.core.surfaces.responses.surface import ResponsesOptions
from proxy.core.tenants import ANYBODY, EVERYBODY, Mode, Tenant, Tenants, ToolLimits, Validation
from proxy.settings.backends import BackendSettings
from proxy.settings.root import Settings
from proxy.settings.tenants import LimitSettings
from proxy.settings.values import AUTO
from proxy.shell.backend import Backend
from proxy.shell.backends import Backends
from proxy.shell.concurrency import ConcurrencyLimit, ConcurrencyRules, Slots
from proxy.shell.discovery import Discovery
from proxy.shell.http.transport import Timeouts, Transport
from proxy.shell.known_models import UNNOTED, Teaching
from proxy.shell.offload.threads import WorkThreads
from proxy.shell.ops.logs import Log
from proxy.shell.ops.machine import memory_bytes
from proxy.shell.ops.metrics import Metrics
from proxy.shell.remembering.kept_lessons import KeptLessons
from proxy.shell.remembering.memos import Memos
from proxy.shell.stored_turns import StoreLimits

METRICS_READER, ONLOOKER = Tenant("metrics"), Tenant("inspector")
"""Who reads the metrics, and who sees the inspector's data: they may do nothing else."""


MEMORY_BYTES = 2 << 30
"""Default memory for requests under way and remembered conversations. One developer alone has three eighths of it:
enough for fifty agents with histories of 2 MB and a hundred tools each."""


def alone(name: str, slots: int) -> None:
    """This process shares its slots with no other."""


def breakers_of(settings: Settings, clock: Callable[[], float]) -> dict[str, Breaker]:
    return {name: Breaker(_breaker_rules(settings), clock, name) for name in settings.all_backends}


def backends_of(
    settings: Settings,
    breakers: Mapping[str, Breaker],
    transport: Transport,
    threads: WorkThreads,
    clock: Callable[[], float],
    log: Log,
    shared_slots: Callable[[str, int], Slots | None] = alone,
    teaching: Teaching = UNNOTED,
) -> Backends:
    """`shared_slots` gives the slots of a name and a number where processes share them."""
    catalog = catalog_of(settings)
    several = len(settings.all_backends) > 1

    def made(name: str, wanted: BackendSettings) -> Backend:
        get_ready(overridden(DEFAULT, wanted.overrides))  # what it turns out to be changes nothing of this
        named_log = log.bind(backend=name) if several else log
        return Backend(
            name=name,
            discovery=discovery_of(name, wanted, catalog, transport, clock, named_log),
            transport=transport,
            breaker=breakers[name],
            budget=Budget(settings.retries.budget, clock),
            concurrency=_concurrency(name, wanted, shared_slots),
            timeouts=lru_cache(partial(timeouts_of, wanted)),
            threads=threads,
            clock=clock,
            forward_key=wanted.forward_key,
            teaching=teaching,
        )

    return Backends(
        {name: made(name, wanted) for name, wanted in settings.all_backends.items()}, settings.routes
    )


def catalog_of(settings: Settings) -> Catalog:
    return Catalog(settings.models.context_windows, settings.models.reasoning_efforts)


def discovery_of(
    name: str,
    wanted: BackendSettings,
    catalog: Catalog,
    transport: Transport,
    clock: Callable[[], float],
    log: Log,
) -> Discovery:
    return Discovery(
        _target(name, wanted),
        profile=None if wanted.profile == AUTO else wanted.profile,
        overrides=wanted.overrides,
        catalog=catalog,
        transport=transport,
        clock=clock,
        log=log,
    )


def _concurrency(
    name: str, wanted: BackendSettings, shared_slots: Callable[[str, int], Slots | None]
) -> ConcurrencyLimit:
    rules = ConcurrencyRules(wanted.max_concurrent, wanted.max_waiting, wanted.wait_seconds)
    if wanted.max_concurrent is None:
        return ConcurrencyLimit(rules)
    # Another proxy may use the same store, and mean another backend by the same name.
    queue = sha256(f"{name} {wanted.url}".encode()).hexdigest()
    return ConcurrencyLimit(rules, shared_slots(queue, wanted.max_concurrent))


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


def tenants_of(settings: Settings) -> Tenants:
    anybody = _tenant(ANYBODY.name, settings.limits)
    return Tenants(
        {
            key: _tenant(name, settings.limits_of(name))
            for name, tenant in settings.tenants.items()
            for key in tenant.keys
        },
        anybody,
    )


def teaching_of(
    settings: Settings, metrics: Metrics, memos: Memos, clock: Callable[[], float], now: Callable[[], float]
) -> Teaching:
    """`now` is the date, `clock` counts from any time."""
    counted = partial(metrics.count, "lessons")
    if not memos.are_kept:
        return Teaching(counted)
    return Teaching(counted, KeptLessons(memos, _tenant_of_owner(settings), clock=clock, now=now))


def _tenant_of_owner(settings: Settings) -> Callable[[str], str]:
    return str if settings.tenants else lambda address: ANYBODY.name


def store_limits_of(settings: Settings) -> StoreLimits:
    return StoreLimits(settings.server.body_limit_bytes, settings.store.max_response_bytes)


def read_bytes_of(settings: Settings) -> int:
    """Returns how much of what is kept may be read at a time: a history as long as a request may have, in records of
    which parts may be gone; and in any case the largest record and its neighbour."""
    return 2 * max(settings.server.body_limit_bytes, settings.store.max_response_bytes)


def metrics_readers_of(settings: Settings) -> Tenants | None:
    if settings.metrics.keys:
        return Tenants(dict.fromkeys(settings.metrics.keys, METRICS_READER))
    return EVERYBODY if settings.shows_metrics_to_all else None


def inspector_readers_of(settings: Settings) -> Tenants | None:
    if settings.inspector.keys:
        return Tenants(dict.fromkeys(settings.inspector.keys, ONLOOKER))
    return EVERYBODY if settings.shows_inspector_to_machine else None


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
        validate_answers=Mode(wanted.validate_answers),
        tool_result_max_bytes=wanted.tool_result_max_bytes,
        requests_per_minute=wanted.requests_per_minute,
        tool_calls_per_minute=wanted.tool_calls_per_minute,
    )


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


def retry_rules_of(settings: Settings) -> RetryRules:
    wanted = settings.retries
    return RetryRules(
        attempts=wanted.attempts, after_errors=wanted.after_errors, longest_wait=wanted.longest_wait_seconds
    )


def secrets_of(settings: Settings) -> list[str]:
    """Returns all that nobody may be shown."""
    backends = settings.all_backends.values()
    held = [settings.server.signing_key, *settings.store.keys]
    held += [secret for backend in backends for secret in (backend.key, *backend.headers.values())]
    held += settings.otel.headers.values()
    urls = [settings.store.url, settings.live.url]
    return [secret.get_secret_value() for secret in held if secret] + [
        password for url in urls if url for password in url.passwords
    ]


def memory_of(settings: Settings) -> int:
    """Returns the bytes for one worker. On a small machine, all workers together take half of its memory."""
    if settings.server.memory_bytes is not None:
        return settings.server.memory_bytes
    there_is = memory_bytes() or 2 * MEMORY_BYTES * settings.server.workers
    return min(MEMORY_BYTES, there_is // 2 // settings.server.workers)


def responses_options_of(settings: Settings, *, stores: bool, background: bool) -> ResponsesOptions:
    return ResponsesOptions(
        events=EventStyle(settings.clients.events),
        message_first=settings.clients.item_order == "message_first",
        stores=stores,
        background=background,
    )
