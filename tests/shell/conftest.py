"""The proxy and the scripted backend, on real sockets."""

from tests.support.keeping import keeping, records, start_keeping
from tests.support.proxies import backend, proxy, start_proxy, upstream
from tests.support.two_backends import other, start_both
from tests.support.websockets import talk

__all__ = [
    "backend",
    "keeping",
    "other",
    "proxy",
    "records",
    "start_both",
    "start_keeping",
    "start_proxy",
    "talk",
    "upstream",
]
