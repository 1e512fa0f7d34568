"""The settings there are: each once, in a section below, with its type, default, bounds and description."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from proxy.core.hosts import is_loopback
from proxy.core.tenants import ANYBODY, LARGEST
from proxy.setting_values import (
    AUTO,
    BackendName,
    BackendUrl,
    Digest,
    HeaderName,
    HeaderValue,
    HostName,
    ModelPattern,
    ProfileFields,
    ProfileName,
    Seconds,
    SigningKey,
)

ONLY = "backend"
"""The name of the backend that is configured without one."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Server(Section):
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(8080, ge=0, le=65535)
    """Port to listen on; 0 takes any free one."""
    body_limit_mib: int = Field(64, ge=1, le=1024)
    """Largest request body, in MiB, as sent and after decompression."""
    memory_mib: int | None = Field(None, ge=16)
    """Memory for requests under way and remembered conversations, in each worker; not set, their part of half of what
    the machine or container has, 2,048 at most."""
    websocket: bool = True
    """Whether `GET /v1/responses` opens a WebSocket; switched off, clients are told to use HTTP."""
    signing_key: SigningKey | None = None
    """Secret that proves what clients keep for us; not set, it comes from the backends' keys, else from chance."""
    heartbeat_seconds: Seconds = 15
    """Silence in a stream after which a sign of life is sent: a comment, or for Codex an event, after 5 s at most."""
    patience_seconds: Seconds = 3
    """Wait for the backend after which a stream opens anyway, so that the client sees life."""
    grace_seconds: float = Field(20, ge=0)
    """Time that open streams have to end when the proxy is asked to stop."""
    workers: int = Field(1, ge=1, le=256)
    """Processes that serve together on the port; each has limits, breakers and memory of its own."""
    stuck_seconds: Seconds = 30
    """Standstill after which one of several workers is killed, and another one takes its place."""
    open: bool = False
    """Whether anybody may use the proxy though it listens beyond this machine and no tenant has a key."""
    allowed_hosts: list[HostName] = []
    """Names that requests may be for, besides this machine's; the only ones if set, else checked on loopback only."""


class Backend(Section):
    url: BackendUrl | None = None
    """Base URL of the model server. Without any backend `serve` starts a demo model of its own."""
    key: HeaderValue | None = None
    """API key sent to the backend. All users of a machine can read its command lines: prefer the variable."""
    forward_key: bool = False
    """Whether the client's own key is sent to the backend instead; never done unless switched on."""
    profile: ProfileName = AUTO
    """Which known backend it is; `auto` finds out from the URL and by asking it."""
    models: dict[str, str] = {}
    """Model names that clients use, each with the backend's name for it."""
    headers: dict[HeaderName, HeaderValue] = {}
    """Fixed headers sent with every request to the backend."""
    overrides: ProfileFields = {}
    """Fields of the backend's profile to set by hand."""
    connect_seconds: Seconds = 10
    """Time to connect to the backend."""
    first_byte_seconds: Seconds | None = None
    """Time until the reply begins; not set, the backend's profile decides."""
    idle_seconds: Seconds = 300
    """Longest silence within a reply."""
    total_seconds: Seconds = 3600
    """Longest reply."""
    max_concurrent: int | None = Field(None, ge=1)
    """Requests that the backend gets at once; not set, as many as come."""
    max_waiting: int = Field(64, ge=0)
    """Requests that may wait for others to end; any more are answered with 503 at once."""
    wait_seconds: Seconds = 30
    """Longest wait for that, after which it is 503 as well."""


class Routing(Section):
    default: str | None = None
    """Backend for models that nothing else names; not set, the only one, or the one without a name."""
    models: dict[ModelPattern, str] = {}
    """Models, or how their names begin and `*`, each with the name of its backend; the longest match wins."""
    aliases: dict[str, str] = {}
    """Other names that clients may use for models."""
    fallbacks: dict[str, Annotated[list[str], Field(min_length=1)]] = {}
    """Models, named as above, each with others to ask when its backend fails: `["backend", "backend/model"]`."""


class Retries(Section):
    attempts: int = Field(2, ge=1, le=5)
    """How often one backend is asked at most, if it could not even begin to work; 1 never asks again."""
    after_errors: bool = False
    """Whether it is also asked again after errors (5xx, a broken connection), though it may have done the work."""
    longest_wait_seconds: Seconds = 2
    """Longest pause; a backend that demands more with `Retry-After` is not asked again."""
    budget: float = Field(0.2, ge=0, le=1)
    """Share of a backend's requests within 10 s that may be asked again; 3 always may."""


class Models(Section):
    context_windows: dict[str, Annotated[int, Field(gt=0)]] = {}
    """Tokens that fit into a model, by the name that clients use; `"*"` where the backend does not tell."""
    reasoning_efforts: dict[str, list[str]] = {}
    """Levels of reasoning effort that clients may choose for a model; `"*"` for all that are not named."""


class Clients(Section):
    events: Literal["auto", "extended", "standard"] = "auto"
    """Whether clients get the extended tool-call events; `auto` decides. Node's SDK and Codex: by header only."""
    item_order: Literal["sequential", "message_first"] = "sequential"
    """Items strictly one after another, or one message kept open at index 0 until the end."""


Mode = Literal["enforce", "warn", "off"]


def _limit(name: str) -> Any:
    return Field(getattr(ANYBODY.limits, name), ge=1, le=LARGEST[name])


class Limits(Section):
    mode: Mode | None = None
    """What happens to tools beyond the limits; not set, the native surface refuses them, the others warn."""
    tools: int = _limit("tools")
    """Tools in one request."""
    description_characters: int = _limit("description_characters")
    """Length of a tool's description."""
    schema_depth: int = _limit("schema_depth")
    """Levels of a tool's parameters."""
    argument_bytes: int = _limit("argument_bytes")
    """Size of one call's arguments."""
    calls: int = _limit("calls")
    """Calls in one reply."""
    tool_allowlist: list[str] | None = None
    """The only tools that may be declared, by name, or patterns with `*`; not set, all may."""
    tool_allowlist_mode: Mode = "enforce"
    """What happens to others."""
    validate_tool_arguments: Literal["enforce", "observe", "strict", "off"] = "strict"
    """Whether calls are held until their arguments fit the tool's schema or only reported (all, or strict tools)."""
    tool_result_max_bytes: int | None = Field(None, ge=1)
    """Longer results of tools are cut, with a notice for the model."""
    requests_per_minute: int | None = Field(None, ge=1)
    """More are refused with 429."""
    tool_calls_per_minute: int | None = Field(None, ge=1)
    """Likewise, counting each call in a reply."""


class Tenant(Limits):
    keys: list[Digest] = Field(min_length=1)
    """SHA-256 digests of the tenant's keys; `responses-proxy hash-key` makes them."""


class BreakerSettings(Section):
    consecutive_failures: int = Field(5, ge=1)
    """Failures in a row that open the breaker."""
    failure_rate: float = Field(0.5, gt=0, le=1)
    """Share of failures that opens it, given enough requests."""
    minimum_requests: int = Field(20, ge=1)
    """Requests within the window before the share counts."""
    window_seconds: Seconds = 10
    """Window over which the share is taken."""
    open_seconds: Seconds = 5
    """First pause of the backend; it doubles with each relapse."""
    open_seconds_limit: Seconds = 60
    """Longest pause."""
    probes: int = Field(1, ge=1)
    """Requests let through at once to see whether the backend has recovered."""


class Metrics(Section):
    keys: list[Digest] = []
    """SHA-256 digests of the keys that may read `/metrics`; `responses-proxy hash-key` makes them."""
    open: bool = False
    """Whether everybody may; without keys, so it is on this machine only, as long as there are no tenants."""


class Logs(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe lines to write."""
    format: Literal["auto", "console", "json"] = "auto"
    """`auto` is readable on a terminal and JSON elsewhere."""


class Settings(Section):
    server: Server = Server()
    """Where the proxy listens, and for how long it waits."""
    backend: Backend = Backend()
    """What answers."""
    backends: dict[BackendName, Backend] = {}
    """More of them, each by its name, with the same settings."""
    routing: Routing = Routing()
    """Which of several backends answers."""
    models: Models = Models()
    """What clients are told of the models."""
    clients: Clients = Clients()
    """What clients are shown."""
    limits: Limits = Limits()
    """What anybody may do, and every tenant unless its own table says otherwise."""
    tenants: dict[str, Tenant] = {}
    """Who may use the proxy, each by a name; without any, everybody who reaches it."""
    retries: Retries = Retries()
    """When a failed request is asked again, before its client has seen anything of a reply."""
    breaker: BreakerSettings = BreakerSettings()
    """When a failing backend is left alone."""
    metrics: Metrics = Metrics()
    """Who may see what is counted."""
    logs: Logs = Logs()
    """What is written to stderr."""

    @property
    def all_backends(self) -> dict[str, Backend]:
        return ({ONLY: self.backend} if self.backend.url else {}) | self.backends

    @property
    def shows_metrics_to_all(self) -> bool:
        """Whoever may see them learns of all tenants, so theirs are not shown without a word."""
        return self.metrics.open or (not self.tenants and is_loopback(self.server.host))

    @property
    def hosts_served(self) -> list[str] | None:
        """Besides this machine's own. None: all, for whoever asks has a key, or may ask as the operator's word says."""
        server = self.server
        local_only = not (self.tenants or server.open) and is_loopback(server.host)
        return [server.host, *server.allowed_hosts] if local_only or server.allowed_hosts else None

    @property
    def default_backend(self) -> str | None:
        names = list(self.all_backends)
        only = names[0] if len(names) == 1 or names[:1] == [ONLY] else None
        return self.routing.default or only

    def limits_of(self, tenant: str) -> Limits:
        own = self.tenants[tenant].model_dump(exclude_unset=True, exclude={"keys"})
        return Limits.model_validate(self.limits.model_dump() | own)

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


def _named_backends(routing: Routing) -> list[tuple[str, str]]:
    named = [(f"routing.models.{model}", backend) for model, backend in routing.models.items()]
    named += [
        (f"routing.fallbacks.{model}", way.partition("/")[0])
        for model, ways in routing.fallbacks.items()
        for way in ways
    ]
    return [("routing.default", routing.default), *named] if routing.default else named
