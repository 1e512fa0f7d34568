"""The names under which a browser may reach the proxy, where only its address protects it.

A web page can let its own name resolve to this machine after it was loaded. Its browser then takes the proxy for a part
of that page, which may send it any request and read the answers. But the page cannot change the name itself, which the
browser sends with every request, as `Host` (S31). Only programs that are no browsers leave it out.
"""

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache

from proxy.core.errors import ClientFault, OwnWords
from proxy.core.masking.redact import quoted

AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:/@]+))(?::[0-9]*)?")
"""Matches a name or an address, and perhaps a port: what stands before the port was resolved."""

REMEMBERED = 64
"""How many names are remembered: clients use the same few."""


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Hosts:
    def __init__(self, names: Iterable[str] | None) -> None:
        """`names` come besides this machine's own names. None allows any name, where something else keeps strangers
        out."""
        self._names = None if names is None else frozenset(name.lower() for name in names)
        self._knows = lru_cache(REMEMBERED)(self._is_known)

    def check(self, hosts: Iterable[str]) -> None:
        """`hosts`: every `Host` of one request."""
        if self._names is None:
            return
        for host in hosts:
            if not self._knows(host):
                raise ClientFault(
                    f"Requests to the host {quoted(host)} are not served, for a web page may have sent them. "
                    "Ask for localhost or 127.0.0.1, or have the name added to server.allowed_hosts.",
                    status=403,
                    code="host_not_allowed",
                    own_words=OwnWords(
                        "The host is not served; if it should be, add it to server.allowed_hosts."
                    ),
                )

    def _is_known(self, host: str) -> bool:
        assert self._names is not None
        found = AUTHORITY.fullmatch(host)
        name = found["six"] or found["name"].lower() if found else ""
        return name in self._names or is_loopback(name)
