"""Where the events of a reply go: into the next stage, and by the last one to the client's encoder.

Nearly all of them are more text for the open part, and most stages have no use for it. So each says beside its `feed`
where such a delta goes, and one that would only pass it on names the way of the next: what costs a call for every
token is then decided once for a reply.
"""

from collections.abc import Callable

from proxy.core.events import Event, PartDelta


class Outlet:
    __slots__ = ("delta", "feed")

    def __init__(
        self, feed: Callable[[Event], None], delta: Callable[[PartDelta], None] | None = None
    ) -> None:
        self.feed = feed
        """For every event but deltas, unless there is no other way for them."""
        self.delta: Callable[[PartDelta], None] = delta or feed


Stage = Callable[[Outlet], Outlet]
"""Made anew for each reply, from where its own events go."""
