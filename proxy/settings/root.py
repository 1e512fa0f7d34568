"""Each setting is defined once, in a section below, with its type, default, bounds and description.

Longer than most because all of them stand here.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from proxy.core.policy.breaker import BreakerRules
from proxy.core.policy.hosts import is_loopback
from proxy.core.policy.retry import RetryRules
from proxy.core.tenants import ANYBODY, LARGEST
from proxy.settings.server_urls import SecretUrl
from proxy.settings.values import (
    AUTO,
    BackendName,
    BackendUrl,
    Digest,
    HeaderName,
    HeaderValue,
    HostName,
    KeyPrefix,
    LiveUrl,
    ModelPattern,
    ProfileFields,
    ProfileName,
    Seconds,
    SigningKey,
    StoreUrl,
)

ONLY = "backend"
"""Name of the backend under `[backend]`, which the operator does not name."""

BREAKER, RETRY = BreakerRules(), RetryRules()
"""Where a rule of the core has a default, the setting has the same."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class ServerSettings(Section):
    host: str = "127.0.0.1"
    """Address that the proxy listens on."""
    port: int = Field(8080, ge=0, le=65535)
    """Port that the proxy listens on. 0 takes any free port."""
    body_limit_mib: int = Field(64, ge=1, le=1024)
    """Largest request body in MiB, both as the client sends it and after decompression."""
    memory_mib: int | None = Field(None, ge=16)
    """MiB in each worker for requests under way and for remembered conversations. Default: half of the memory of the
    machine or container, divided by the number of workers, at most 2,048."""
    websocket: bool = True
    """Open a WebSocket for `GET /v1/responses`. If false, the proxy tells clients to use HTTP."""
    signing_key: SigningKey | None = None
    """Secret that signs the tokens which clients keep for the proxy. Default: derived from the backends' keys; if none
    of them is long and random, a new random one at each start."""
    heartbeat_seconds: Seconds = 15
    """Seconds of silence in a stream after which the proxy sends a heartbeat: an SSE comment, or an event for Codex,
    which gets one after at most 5 s."""
    patience_seconds: Seconds = 3
    """Seconds after which the proxy opens a stream even if the backend has not answered yet."""
    grace_seconds: float = Field(20, ge=0)
    """Seconds that open streams have to end when the operator stops the proxy."""
    workers: int = Field(1, ge=1, le=256)
    """Processes that serve the port together. They share what is stored, and limits; each has breakers and memory of
    its own."""
    stuck_seconds: Seconds = 30
    """Seconds without progress after which the supervisor kills one of several workers and starts another."""
    open: bool = False
    """Let everybody use the proxy, even if it listens beyond this machine and there are no tenants."""
    allowed_hosts: list[HostName] = []
    """Host names that requests may be for, besides those of this machine. The proxy refuses other hosts if this is set,
    and always on loopback, as long as there are no tenants and `server.open` is false."""


class BackendSettings(Section):
    url: BackendUrl | None = None
    """Base URL of the model server. Without any backend, `serve` starts a demo model."""
    key: HeaderValue | None = None
    """API key for the backend. All users of a machine can read its command lines: prefer the variable."""
    forward_key: bool = False
    """Send the client's own key to the backend instead of `backend.key`."""
    profile: ProfileName = AUTO
    """Name of the profile that describes the backend. `auto` finds it by the URL, or by asking the backend."""
    models: dict[str, str] = {}
    """Model names that clients use, each with the name that the backend uses."""
    headers: dict[HeaderName, HeaderValue] = {}
    """Headers that the proxy adds to every request to the backend."""
    overrides: ProfileFields = {}
    """Fields of the profile that the operator sets by hand."""
    connect_seconds: Seconds = 10
    """Seconds that a connection to the backend may take."""
    first_byte_seconds: Seconds | None = None
    """Seconds until the backend begins its reply. Default: the profile's `first_byte_s`, usually 600."""
    idle_seconds: Seconds = 300
    """Longest silence within a reply, in seconds."""
    total_seconds: Seconds = 3600
    """Longest duration of a reply, in seconds."""
    max_concurrent: int | None = Field(None, ge=1)
    """Requests that the backend gets at the same time, from all processes that use one store. Default: no limit but the
    shares of all backends."""
    max_waiting: int = Field(64, ge=0)
    """Requests that may wait for one of these to end. The proxy answers any more with 503 at once."""
    wait_seconds: Seconds = 30
    """Longest wait in seconds, after which the proxy answers with 503."""


class RoutingSettings(Section):
    default: str | None = None
    """Backend for models that no other rule matches. Default: the only backend, or the one under `[backend]`."""
    models: dict[ModelPattern, str] = {}
    """Models and the name of their backend. A key is a model's name, or a prefix and `*`; the longest match wins."""
    aliases: dict[str, str] = {}
    """Names that clients may use, each with the name of the model that it stands for."""
    fallbacks: dict[str, Annotated[list[str], Field(min_length=1)]] = {}
    """Models, by keys as in `routing.models`, each with the backends that the proxy asks in turn when the first fails:
    `["backend", "backend/model"]`."""


class RetrySettings(Section):
    attempts: int = Field(RETRY.attempts, ge=1, le=5)
    """Attempts at one backend for a request that it did not begin to work on. 1 switches retries off."""
    after_errors: bool = RETRY.after_errors
    """Retry also after errors (5xx, a broken connection), although the backend may have done the work."""
    longest_wait_seconds: Seconds = RETRY.longest_wait
    """Longest pause before a retry, in seconds. If the backend asks for more (`Retry-After`), there is no retry."""
    budget: float = Field(0.2, ge=0, le=1)
    """Share of the requests to a backend within 10 s that may be retried. Three retries are always allowed."""


class ModelSettings(Section):
    context_windows: dict[str, Annotated[int, Field(gt=0)]] = {}
    """Context window of each model in tokens, by the name that clients use. `"*"` stands for every model whose window
    the backend does not tell."""
    reasoning_efforts: dict[str, list[str]] = {}
    """Reasoning efforts that clients may choose, by model. `"*"` stands for every model that has no row."""


class ClientSettings(Section):
    events: Literal["auto", "extended", "standard"] = "auto"
    """Tool-call events that clients get. `auto` decides by the client and the request. The Node SDK and Codex get the
    extended events only if they ask by header."""
    item_order: Literal["sequential", "message_first"] = "sequential"
    """Order of a reply's items: strictly one after another, or one message that stays open at index 0 until the end."""


Mode = Literal["enforce", "warn", "off"]


def _limit(name: str) -> Any:
    return Field(getattr(ANYBODY.limits, name), ge=1, le=LARGEST[name])


class LimitSettings(Section):
    mode: Mode | None = None
    """What the proxy does with tools beyond the limits. Default: the native surface refuses them, the others warn."""
    tools: int = _limit("tools")
    """Tools that a request may declare."""
    description_characters: int = _limit("description_characters")
    """Characters in the description of a tool."""
    schema_depth: int = _limit("schema_depth")
    """Levels of nesting in the parameters of a tool."""
    argument_bytes: int = _limit("argument_bytes")
    """Bytes in the arguments of one call."""
    calls: int = _limit("calls")
    """Calls that a reply may have."""
    tool_allowlist: list[str] | None = None
    """Names of the tools that requests may declare, or patterns with `*` and `?`. Default: all tools."""
    tool_allowlist_mode: Mode = "enforce"
    """What the proxy does with a request that declares another tool."""
    validate_tool_arguments: Literal["enforce", "observe", "strict", "off"] = "strict"
    """Check of a call's arguments against the tool's schema. `enforce` holds each call until they fit, `observe` only
    reports, `strict` reports for tools with `strict: true` of which the backend cannot be told."""
    tool_result_max_bytes: int | None = Field(None, ge=1)
    """Bytes of a tool's result; the proxy cuts longer ones and tells the model. Default: results are not cut."""
    requests_per_minute: int | None = Field(None, ge=1)
    """Requests of one tenant in a minute, to all processes that use one store. The proxy refuses more with 429.
    Default: no limit."""
    tool_calls_per_minute: int | None = Field(None, ge=1)
    """Calls in the replies to one tenant in a minute; the proxy then refuses with 429. Default: no limit."""


class TenantSettings(LimitSettings):
    keys: list[Digest] = Field(min_length=1)
    """SHA-256 digests of the tenant's keys, as `responses-proxy hash-key` prints them."""


class BreakerSettings(Section):
    consecutive_failures: int = Field(BREAKER.consecutive, ge=1)
    """Failures in a row that open the breaker."""
    failure_rate: float = Field(BREAKER.rate, gt=0, le=1)
    """Share of failed requests that opens the breaker."""
    minimum_requests: int = Field(BREAKER.volume, ge=1)
    """Requests that the window must hold before the share counts."""
    window_seconds: Seconds = BREAKER.window_seconds
    """Length of the window over which the share is taken, in seconds."""
    open_seconds: Seconds = BREAKER.open_seconds
    """First pause in seconds, in which the backend gets no requests. It doubles each time a probe fails."""
    open_seconds_limit: Seconds = BREAKER.open_seconds_limit
    """Longest pause of a backend, in seconds."""
    probes: int = Field(BREAKER.probes, ge=1)
    """Requests that may probe at the same time whether the backend has recovered."""


class MetricsSettings(Section):
    keys: list[Digest] = []
    """SHA-256 digests of the keys that may read `/metrics`, as `responses-proxy hash-key` prints them."""
    open: bool = False
    """Serve `/metrics` without a key. By default only on loopback, and only while there are no tenants."""


class LogSettings(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest severity of the lines that the proxy writes."""
    format: Literal["auto", "console", "json"] = "auto"
    """Form of the lines. `auto` is `console` on a terminal and `json` elsewhere."""


class StoreSettings(Section):
    url: StoreUrl = SecretUrl("auto")
    """Where responses and conversations are kept: `sqlite:DIRECTORY`, `memory:` (one worker, until it ends), or `off`;
    or `postgresql://USER:PASSWORD@HOST/DATABASE`, which several machines may share. `auto` is SQLite in
    `$STATE_DIRECTORY`, `$XDG_STATE_HOME/responses-proxy` or `~/.local/state/responses-proxy`; if none of them can be
    written, memory with one worker and `off` with several."""
    wait_seconds: Seconds = 2
    """Seconds that a request waits for the store. An answer that could not be stored by then says `store: false`."""
    connections: int = Field(4, ge=1, le=100)
    """Connections to PostgreSQL that each worker makes at most."""
    prepared: bool = True
    """Whether statements stay prepared in PostgreSQL. Off for poolers in transaction mode that cannot keep them apart,
    as PgBouncer before 1.21."""
    retention_days: float = Field(30, gt=0)
    """Days for which a response is kept after its end, and background work of before too."""
    conversation_days: float | None = Field(None, gt=0)
    """Days for which a conversation is kept after its last use. Default: until it is deleted."""
    max_gib: float = Field(10, gt=0)
    """GiB of what is kept. Above it the oldest responses are deleted before their time. In memory at most 0.25."""
    max_response_mib: int = Field(8, ge=1, le=1024)
    """Largest response in MiB, with what its request added, that is stored."""


class LiveSettings(Section):
    url: LiveUrl | None = None
    """Redis or Valkey for what may be lost, where several machines share it: the events of background work, limits, and
    memos. `redis://HOST:PORT/DATABASE`, `rediss://` with TLS, `valkey://`, `valkeys://` or `unix:///PATH`. Needs
    `pip install responses-proxy[redis]`. Default: beside what `store.url` keeps."""
    prefix: KeyPrefix = "responses-proxy"
    """How all keys there begin. Proxies with the same prefix share what lies there."""


class BackgroundSettings(Section):
    limit: int = Field(200, ge=1)
    """Responses of one tenant that each worker works on in the background at the same time; all tenants together have
    twice as many, in shares. The proxy refuses more with 429."""


class Settings(Section):
    server: ServerSettings = ServerSettings()
    """Where the proxy listens, and for how long it waits."""
    backend: BackendSettings = BackendSettings()
    """The backend that answers."""
    backends: dict[BackendName, BackendSettings] = {}
    """More backends, each by its name, with the same settings."""
    routing: RoutingSettings = RoutingSettings()
    """Which of several backends answers."""
    models: ModelSettings = ModelSettings()
    """What the proxy tells clients of the models."""
    clients: ClientSettings = ClientSettings()
    """What the proxy shows to clients."""
    limits: LimitSettings = LimitSettings()
    """What every client may do, and every tenant unless its own table says otherwise."""
    tenants: dict[str, TenantSettings] = {}
    """The tenants that may use the proxy, each by its name. Without tenants, everybody who reaches the proxy."""
    store: StoreSettings = StoreSettings()
    """What is kept of responses and conversations, where, and for how long."""
    live: LiveSettings = LiveSettings()
    """Where what may be lost is kept, if not beside what is kept."""
    background: BackgroundSettings = BackgroundSettings()
    """Responses that no client waits for."""
    retries: RetrySettings = RetrySettings()
    """When the proxy retries a failed request. It never does once the client has seen a part of a reply."""
    breaker: BreakerSettings = BreakerSettings()
    """When a failing backend gets no requests for a while."""
    metrics: MetricsSettings = MetricsSettings()
    """Who may read the metrics."""
    logs: LogSettings = LogSettings()
    """What the proxy writes to stderr."""

    @property
    def all_backends(self) -> dict[str, BackendSettings]:
        return ({ONLY: self.backend} if self.backend.url else {}) | self.backends

    @property
    def shows_metrics_to_all(self) -> bool:
        """Metrics name all tenants. A proxy with tenants shows them only to readers that the operator allows."""
        return self.metrics.open or (not self.tenants and is_loopback(self.server.host))

    @property
    def hosts_served(self) -> list[str] | None:
        """Host names besides those of this machine. None: all, because clients have keys, or the operator wants it."""
        server = self.server
        local_only = not (self.tenants or server.open) and is_loopback(server.host)
        return [server.host, *server.allowed_hosts] if local_only or server.allowed_hosts else None

    @property
    def default_backend(self) -> str | None:
        names = list(self.all_backends)
        only = names[0] if len(names) == 1 or names[:1] == [ONLY] else None
        return self.routing.default or only

    def limits_of(self, tenant: str) -> LimitSettings:
        own = self.tenants[tenant].model_dump(exclude_unset=True, exclude={"keys"})
        return LimitSettings.model_validate(self.limits.model_dump() | own)

    @model_validator(mode="after")
    def _backends_are_named_rightly(self) -> Self:
        for name, backend in self.backends.items():
            if backend.url is None:
                raise ValueError(f"backends.{name}: has no url")
        if self.backend.url and ONLY in self.backends:
            raise ValueError(f"backends.{ONLY}: the one under [backend] is called so; choose another name")
        for key, name in _named_backends(self.routing):
            if name not in self.all_backends:
                raise ValueError(f"{key}: there is no backend {name!r} (backends.{name})")
        return self

    @model_validator(mode="after")
    def _keys_are_whose_they_are(self) -> Self:
        for name, backend in self.all_backends.items():
            if self.tenants and backend.forward_key:
                table = f"backends.{name}" if name in self.backends else "backend"
                raise ValueError(f"{table}.forward_key: clients' keys are their tenants'; set it to false")
        holders: dict[str, str] = {}
        for name, tenant in self.tenants.items():
            for digest in tenant.keys:
                if holders.setdefault(digest, name) != name:
                    raise ValueError(f"tenants.{name}.keys: tenants.{holders[digest]} has one of them too")
        return self

    @model_validator(mode="after")
    def _nobody_is_let_in_by_accident(self) -> Self:
        if not (self.tenants or self.server.open or is_loopback(self.server.host)):
            raise ValueError(
                f"server.host: {self.server.host} can be reached from other machines, and everybody there could use "
                "the backend's key. Configure tenants with keys (responses-proxy hash-key), or set server.open = true."
            )
        return self


def _named_backends(routing: RoutingSettings) -> list[tuple[str, str]]:
    named = [(f"routing.models.{model}", backend) for model, backend in routing.models.items()]
    named += [
        (f"routing.fallbacks.{model}", other.partition("/")[0])
        for model, others in routing.fallbacks.items()
        for other in others
    ]
    return [("routing.default", routing.default), *named] if routing.default else named
