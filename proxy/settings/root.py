"""All settings as one tree, and what must be right of several together."""

from typing import Self

from pydantic import model_validator

from proxy.core.backends.routes import Routes
from proxy.core.policy.hosts import is_loopback
from proxy.settings.backends import (
    BackendSettings,
    BreakerSettings,
    ModelSettings,
    RetrySettings,
    RoutingSettings,
)
from proxy.settings.inspector import InspectorSettings
from proxy.settings.otel import OtelSettings
from proxy.settings.recorder import RecorderSettings
from proxy.settings.section import Section
from proxy.settings.server import ClientSettings, LogSettings, MetricsSettings, ServerSettings
from proxy.settings.store import BackgroundSettings, LiveSettings, StoreSettings
from proxy.settings.tenants import LimitSettings, TenantSettings
from proxy.settings.toml_text import toml_value
from proxy.settings.values import BackendName

ONLY = "backend"
"""Name of the backend under `[backend]`, which the operator does not name."""


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
    otel: OtelSettings = OtelSettings()
    """Traces for OpenTelemetry."""
    inspector: InspectorSettings = InspectorSettings()
    """The page that shows requests as they run."""
    recorder: RecorderSettings = RecorderSettings()
    """Which exchanges are kept as files, to find out later what happened."""
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
    def shows_inspector_to_machine(self) -> bool:
        """Without keys, to whoever works on this machine, as long as it serves nobody else."""
        return not self.tenants and not self.server.open and is_loopback(self.server.host)

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

    @property
    def routes(self) -> Routes:
        routing = self.routing
        return Routes(self.default_backend, routing.models, routing.aliases, routing.fallbacks)

    def _table(self, backend: str) -> str:
        return f"backends.{backend}" if backend in self.backends else "backend"

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
    def _somebody_answers(self) -> Self:
        names = list(self.all_backends)
        if names and self.default_backend is None and not self.routing.models:
            raise ValueError(
                f"routing.default: say which of the backends ({', '.join(names)}) answers, or give models their"
                " backends in routing.models"
            )
        return self

    @model_validator(mode="after")
    def _nothing_is_routed_by_an_alias(self) -> Self:
        """An alias is replaced before anything else is looked up."""
        routing = self.routing
        for table, names in (("models", routing.models), ("fallbacks", routing.fallbacks)):
            for name in names:
                if (model := routing.aliases.get(name, name)) != name:
                    raise ValueError(
                        f"routing.{table}.{name}: has no effect, as {name} is an alias of {model}; use that name"
                    )
        return self

    @model_validator(mode="after")
    def _renamed_models_are_reached(self) -> Self:
        """A backend's `models` reads as if it sent requests there, but it only renames what `routing` has sent."""
        routes = self.routes
        fallbacks = {other for others in routes.fallbacks.values() for other in others}
        for name, backend in self.all_backends.items():
            for model in backend.models:
                routed = routes.find(routes.real_name(model)) and (name, model) in routes.candidates(model)
                if not routed and f"{name}/{model}" not in fallbacks:
                    raise ValueError(
                        f"{self._table(name)}.models.{model}: has no effect, as requests for {model} do not go to"
                        f" {name}. To send them there: routing.models = {toml_value({model: name})}"
                    )
        return self

    @model_validator(mode="after")
    def _keys_are_whose_they_are(self) -> Self:
        for name, backend in self.all_backends.items():
            if self.tenants and backend.forward_key:
                raise ValueError(
                    f"{self._table(name)}.forward_key: clients' keys are their tenants'; set it to false"
                )
        holders: dict[str, str] = {}
        for name, tenant in self.tenants.items():
            for digest in tenant.keys:
                if holders.setdefault(digest, name) != name:
                    raise ValueError(f"tenants.{name}.keys: tenants.{holders[digest]} has one of them too")
        for digest in self.inspector.keys:
            if digest in holders:
                raise ValueError(f"inspector.keys: tenants.{holders[digest]} has one of them too")
        return self

    @model_validator(mode="after")
    def _recordings_have_a_place(self) -> Self:
        if self.recorder.keep != "off" and not self.recorder.directory:
            raise ValueError("recorder.directory: say where recordings are to be written")
        return self

    @model_validator(mode="after")
    def _nobody_is_let_in_by_accident(self) -> Self:
        if not (self.tenants or self.server.open or is_loopback(self.server.host)):
            host = self.server.host or "an empty name"
            raise ValueError(
                f"server.host: {host} can be reached from other machines, and everybody there could use "
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
