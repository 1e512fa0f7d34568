"""The proxy and the scripted backend, on real sockets."""

from tests.support.proxies import backend, proxy, start_proxy

__all__ = ["backend", "proxy", "start_proxy"]
