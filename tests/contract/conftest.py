"""Every exchange of the contract has the identical events when it is replayed."""

from tests.support.proxies import backend, proxy, start_proxy
from tests.support.replaying import replayed

__all__ = ["backend", "proxy", "replayed", "start_proxy"]
