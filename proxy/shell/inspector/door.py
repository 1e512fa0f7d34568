"""Who may see the inspector's data.

Where there are keys, a key decides. A browser sends it with no request that another page makes, since only the page
itself knows it. Where there are none, the proxy serves this machine alone, and only a program on this machine may look:
not somebody whose request another server has passed on, and no web page but the inspector's own (S30, S31).
"""

from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from proxy.core.errors import ClientFault, Forbidden
from proxy.core.tenants import EVERYBODY, Tenants

PASSED_ON: Final = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
"""Headers by which a server says that it asks for somebody else."""

OWN_SITES: Final = ("same-origin", "none")
"""Whoever asks is the page itself, or a person who wrote the address."""

NOBODY: Final = (
    "The inspector is shown to nobody here, because the proxy can be reached from elsewhere or has tenants. To see it, "
    "put the digest of a key into inspector.keys (responses-proxy hash-key)."
)
NOT_HERE: Final = (
    "The inspector is shown without a key only to this machine itself. To see it from elsewhere or through another "
    "server, put the digest of a key into inspector.keys (responses-proxy hash-key)."
)


class Door:
    def __init__(self, readers: Tenants | None) -> None:
        """`readers`: None if nobody may see it; EVERYBODY if all of this machine may."""
        self._readers = readers

    def check(self, headers: Mapping[str, str], host: str, address: str) -> None:
        """Raises the fault for whoever may not see it. `address`: of the other end of the connection."""
        if _is_of_another_page(headers, host):
            raise ClientFault(
                "The inspector answers its own page alone, and no page of another origin.",
                status=403,
                code="origin_not_allowed",
            )
        if self._readers is None:
            raise Forbidden(NOBODY)
        if self._readers is EVERYBODY and (
            not _is_loopback(address) or any(name in headers for name in PASSED_ON)
        ):
            raise Forbidden(NOT_HERE)
        self._readers.of(headers)


def _is_of_another_page(headers: Mapping[str, str], host: str) -> bool:
    if headers.get("Sec-Fetch-Site", "none") not in OWN_SITES:
        return True
    origin = headers.get("Origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != host
    except ValueError:  # not even an address
        return True


def _is_loopback(address: str) -> bool:
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return (mapped or found).is_loopback
