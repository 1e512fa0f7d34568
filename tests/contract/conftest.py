"""Every exchange of the contract has the identical events when it is replayed."""

from tests.support.replaying import replayed

__all__ = ["replayed"]
