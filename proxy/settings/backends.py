"""Settings of the backends: each of them, which one answers, and what follows a failure."""

from typing import Annotated

from pydantic import Field

from proxy.core.policy.breaker import BreakerRules
from proxy.core.policy.retry import RetryRules
from proxy.settings.section import Section
from proxy.settings.values import (
    AUTO,
    BackendKey,
    BackendUrl,
    HeaderName,
    HeaderValue,
    ModelPattern,
    ProfileFields,
    ProfileName,
    Seconds,
)

BREAKER, RETRY = BreakerRules(), RetryRules()
"""Where a rule of the core has a default, the setting has the same."""


class BackendSettings(Section):
    url: BackendUrl | None = None
    """Base URL of the model server. Without any backend, `serve` starts a demo model."""
    key: BackendKey | None = None
    """API key for the backend. All users of a machine can read its command lines: prefer the variable."""
    forward_key: bool = False
    """Send the client's own key to the backend instead of `backend.key`."""
    profile: ProfileName = AUTO
    """Name of the profile that describes the backend. `auto` finds it by the URL, or by asking the backend."""
    models: dict[str, str] = {}
    """Model names that clients use, each with the name that the backend uses. This only renames: of several backends,
    `routing` says which one answers."""
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
    """Backend for models that no other rule matches. Default: the only backend, or the one under `[backend]`.
    Where there are others only, this or `routing.models` is needed."""
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


class ModelSettings(Section):
    context_windows: dict[str, Annotated[int, Field(gt=0)]] = {}
    """Context window of each model in tokens, by the name that clients use. `"*"` stands for every model whose window
    the backend does not tell."""
    reasoning_efforts: dict[str, list[str]] = {}
    """Reasoning efforts that clients may choose, by model. `"*"` stands for every model that has no row."""
