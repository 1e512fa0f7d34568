"""The proxy with a store, and the scripted backend, on real sockets."""

from tests.support.proxies import backend, proxy, start_proxy
from tests.support.store_failing import date, failing, failing_live
from tests.support.websockets import talk

__all__ = ["backend", "date", "failing", "failing_live", "proxy", "start_proxy", "talk"]
