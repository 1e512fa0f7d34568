"""Who asks: the tenants of the configuration, found by the digest of the key that a request brings.

Keys themselves are never kept. Looking up a digest tells an attacker who measures time nothing, because nobody can
choose a key by its digest; and no key, a wrong one and a malformed one are refused in the same words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from ipaddress import IPv6Address, ip_address

from proxy.core.errors import Unauthorized


class Mode(StrEnum):
    """What becomes of a request that breaks a rule."""

    ENFORCE = "enforce"
    """It is refused."""
    WARN = "warn"
    """It goes on, and its client is told."""
    OFF = "off"


class Validation(StrEnum):
    """What becomes of calls whose arguments do not fit the schema of their tool (P05)."""

    OFF = "off"
    STRICT = "strict"
    """Only those of strict tools are looked at, and only where the backend cannot be told that they are (C03)."""
    OBSERVE = "observe"
    ENFORCE = "enforce"


USUAL_MODES = {True: Mode.ENFORCE, False: Mode.WARN}
"""Of limits, where nothing is configured: by whether the surface is strict by itself."""

LARGEST = {
    "tools": 128,
    "description_characters": 4096,
    "schema_depth": 10,
    "argument_bytes": 256 * 1024,
    "calls": 50,
}
"""How far a tenant's limits may be raised."""


@dataclass(slots=True, frozen=True)
class Limits:
    """On the tools of one request and the calls of one reply (P06)."""

    tools: int = 128
    description_characters: int = 1024
    """Characters."""
    schema_depth: int = 5
    """Objects and lists inside one another, in the arguments that the schema describes."""
    argument_bytes: int = 64 * 1024
    """Of one call, in UTF-8."""
    calls: int = 20

    def __post_init__(self) -> None:
        for limit, most in LARGEST.items():
            value = getattr(self, limit)
            if not 0 <= value <= most:
                raise ValueError(f"{limit} must be between 0 and {most}, not {value}")


def or_raise(limit: str, value: int) -> str:
    """How a sentence goes on that advises to stay below a limit, which is a setting of the same name."""
    most = LARGEST[limit]
    return (
        f", or raise limits.{limit} (at most {most})." if value < most else f": {most} is the most there is."
    )


@dataclass(slots=True, frozen=True)
class Tenant:
    name: str
    limits: Limits = Limits()
    limits_mode: Mode | None = None
    """None: what the surface does by itself."""
    tool_allowlist: tuple[str, ...] | None = None
    """Names of the tools that may be declared, or patterns with `*` and `?`; None: all."""
    tool_allowlist_mode: Mode = Mode.ENFORCE
    validate_tool_arguments: Validation = Validation.STRICT
    tool_result_max_bytes: int | None = None
    requests_per_minute: int | None = None
    tool_calls_per_minute: int | None = None

    def mode(self, *, strict: bool) -> Mode:
        """Of the limits, on a surface that is strict by itself or is not."""
        return self.limits_mode or USUAL_MODES[strict]


ANYBODY = Tenant("anybody")
"""Everyone who asks, where no tenants are configured."""

NETWORK_BITS = 64
"""Of an IPv6 address: whoever has one may use any with the same beginning."""

BEARER = "bearer "
KEY_HEADERS = ("x-api-key", "api-key")
"""Where clients of other vendors put their key."""


def digest(key: str) -> str:
    """What the configuration keeps of a key. Header bytes that are no text have become half characters."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class Tenants:
    def __init__(self, by_digest: Mapping[str, Tenant], anybody: Tenant = ANYBODY) -> None:
        """`anybody`: who everyone is where nobody has to say who they are."""
        self._anybody = anybody
        self._by_digest = {digest.lower(): tenant for digest, tenant in by_digest.items()}

    def of(self, headers: Mapping[str, str]) -> Tenant:
        """The one who sent these headers. Where there are no tenants nobody has to say who they are."""
        if not self._by_digest:
            return self._anybody
        key = key_of(headers)
        tenant = self._by_digest.get(digest(key))
        if tenant is None or not key:  # nothing has a digest too, and scripts that hash nothing configure it
            raise Unauthorized(
                "No valid API key was sent. Send yours in the header 'Authorization: Bearer <key>' "
                "or 'x-api-key: <key>'."
            )
        return tenant

    def owner(self, tenant: Tenant, address: str) -> str:
        """Whose share it is that a request takes of what strangers share: the tenant's, or where nobody has to say who
        they are, that of the client's address, as `neighbourhood` knows it."""
        return tenant.name if self._by_digest else address


EVERYBODY = Tenants({})
"""Nobody has to say who they are."""


def key_of(headers: Mapping[str, str]) -> str:
    """Empty if there is none: that has a digest like any other, and takes as long to refuse. The headers are as HTTP
    has them: a name is found in any case."""
    authorization = headers.get("authorization", "")
    if authorization[: len(BEARER)].lower() == BEARER:
        return authorization[len(BEARER) :].strip()
    return next((headers[name].strip() for name in KEY_HEADERS if name in headers), "")


def neighbourhood(address: str) -> str:
    """Whom an address stands for: itself, or of IPv6 the network that one customer is given."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # a socket without one
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    network = int(parsed) >> (128 - NETWORK_BITS) << (128 - NETWORK_BITS)
    return f"{IPv6Address(network)}/{NETWORK_BITS}"
