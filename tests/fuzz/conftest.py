"""The proxy and the scripted backend, on real sockets."""

from tests.support.proxies import backend, start_proxy

__all__ = ["backend", "start_proxy"]
