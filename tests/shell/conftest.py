"""The proxy and the scripted backend, on real sockets."""

from tests.support.proxies import backend, proxy, start_proxy, upstream
from tests.support.two_backends import other, start_both
from tests.support.websockets import talk

__all__ = ["backend", "other", "proxy", "start_both", "start_proxy", "talk", "upstream"]
