"""Settings of who may do what: limits for everybody, and tenants with limits of their own."""

from typing import Any, Literal

from pydantic import Field

from proxy.core.tenants import ANYBODY, LARGEST
from proxy.settings.section import Section
from proxy.settings.values import Digest

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
    validate_answers: Mode = "warn"
    """What the proxy does with an answer that lacks the form asked for, where the backend was told of it in words."""
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
