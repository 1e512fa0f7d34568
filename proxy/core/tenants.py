"""The tenants of the configuration, found by the digest of the key in a request.

Keys themselves are never kept. An attacker who measures the lookup of a digest learns nothing, because a key cannot be
chosen by its digest. A missing, a wrong and a malformed key are refused in the same words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from ipaddress import IPv6Address

from proxy.core.errors import Unauthorized


class Mode(StrEnum):
    """Says what happens to a request that breaks a rule."""

    ENFORCE = "enforce"
    """The request is refused."""
    WARN = "warn"
    """The request goes on, and its client gets a warning."""
    OFF = "off"


class Validation(StrEnum):
    """Says what happens to calls whose arguments do not fit the schema of their tool (P05)."""

    OFF = "off"
    STRICT = "strict"
    """Only calls of strict tools are checked, and only if the backend does not enforce strict tools itself (C03)."""
    OBSERVE = "observe"
    ENFORCE = "enforce"


USUAL_MODES = {True: Mode.ENFORCE, False: Mode.WARN}
"""The default mode of limits, by whether the surface is strict."""

LARGEST = {
    "tools": 128,
    "description_characters": 4096,
    "schema_depth": 10,
    "argument_bytes": 256 * 1024,
    "calls": 50,
}
"""The highest values that a tenant's limits may have."""


@dataclass(slots=True, frozen=True)
class ToolLimits:
    """Bounds the tools of one request and the calls of one reply (P06)."""

    tools: int = 128
    description_characters: int = 1024
    schema_depth: int = 5
    """Levels of objects and lists in the arguments that the schema describes."""
    argument_bytes: int = 64 * 1024
    """The arguments of one call, in UTF-8."""
    calls: int = 20

    def __post_init__(self) -> None:
        for limit, most in LARGEST.items():
            value = getattr(self, limit)
            if not 0 <= value <= most:
                raise ValueError(f"{limit} must be between 0 and {most}, not {value}")


def or_raise(limit: str, value: int) -> str:
    """Ends a sentence of advice with the setting that raises the limit."""
    most = LARGEST[limit]
    return (
        f", or raise limits.{limit} (at most {most})." if value < most else f": {most} is the most there is."
    )


@dataclass(slots=True, frozen=True)
class Tenant:
    name: str
    limits: ToolLimits = ToolLimits()
    limits_mode: Mode | None = None
    """Default: the surface decides."""
    tool_allowlist: tuple[str, ...] | None = None
    """Names of the tools that may be declared, or patterns with `*` and `?`. Default: all."""
    tool_allowlist_mode: Mode = Mode.ENFORCE
    validate_tool_arguments: Validation = Validation.STRICT
    validate_answers: Mode = Mode.WARN
    tool_result_max_bytes: int | None = None
    requests_per_minute: int | None = None
    tool_calls_per_minute: int | None = None

    def mode(self, *, strict: bool) -> Mode:
        """The mode of the limits, on a surface that is `strict` by itself or is not."""
        return self.limits_mode or USUAL_MODES[strict]


ANYBODY = Tenant("anybody")
"""The tenant of every request if none are configured."""

NETWORK_BITS = 64
"""Bits of an IPv6 address that its owner cannot choose: a customer is given a whole network."""

BEARER = "bearer "
KEY_HEADERS = ("x-api-key", "api-key")
"""Headers in which clients of other vendors send their key."""


def digest(key: str) -> str:
    """Returns the form in which the configuration keeps a key. Header bytes that are no text have become lone
    surrogates."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class Tenants:
    def __init__(self, by_digest: Mapping[str, Tenant], anybody: Tenant = ANYBODY) -> None:
        """`anybody`: the tenant of every request if there are no keys."""
        self._anybody = anybody
        self._by_digest = {digest.lower(): tenant for digest, tenant in by_digest.items()}

    def of(self, headers: Mapping[str, str]) -> Tenant:
        """Returns the tenant whose key is in these headers. Without configured tenants no key is needed."""
        if not self._by_digest:
            return self._anybody
        key = key_of(headers)
        tenant = self._by_digest.get(digest(key))
        if (
            tenant is None or not key
        ):  # the empty key has a digest too, and scripts with an unset variable configure it
            raise Unauthorized(
                "No valid API key was sent. Send yours in the header 'Authorization: Bearer <key>' "
                "or 'x-api-key: <key>'."
            )
        return tenant

    @property
    def all(self) -> list[Tenant]:
        """Each once, in the order of the configuration."""
        return list({tenant.name: tenant for tenant in self._by_digest.values()}.values()) or [self._anybody]

    def owner(self, tenant: Tenant, address: str) -> str:
        """Names the owner of the common resources that a request uses: the tenant, or without configured tenants the
        client's address (see `neighbourhood`)."""
        return tenant.name if self._by_digest else address


EVERYBODY = Tenants({})
"""Needs no keys."""


def key_of(headers: Mapping[str, str]) -> str:
    """Returns the key in HTTP headers, whose names may have any case. Without a key it is empty, which has a digest
    like any other and takes as long to refuse."""
    authorization = headers.get("authorization", "")
    if authorization[: len(BEARER)].lower() == BEARER:
        return authorization[len(BEARER) :].strip()
    return next((headers[name].strip() for name in KEY_HEADERS if name in headers), "")


def neighbourhood(address: str) -> str:
    """Returns the address itself, or for an IPv6 address the network that one customer is given."""
    if ":" not in address:  # of IPv4, or a socket without one
        return address
    parsed = IPv6Address(address.partition("%")[0])
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    network = int(parsed) >> (128 - NETWORK_BITS) << (128 - NETWORK_BITS)
    return f"{IPv6Address(network)}/{NETWORK_BITS}"
