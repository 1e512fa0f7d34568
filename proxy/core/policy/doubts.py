"""Failures that the requests themselves may have caused, and how many of them count against a backend.

Some servers answer 500 to a prompt that their template cannot render, so one client can cause any number of such
failures. Therefore the same request counts once, however often it is repeated. And failures of one owner's requests
alone count only where no other owner uses the backend, so that none is harmed.
"""

ALONE_SECONDS = 600.0
"""An owner that was the only one to use a backend for so long counts as its only user."""


class RecentAskers:
    """Knows which other owners have asked lately; the latest two are enough."""

    __slots__ = ("_before", "_latest")

    def __init__(self) -> None:
        self._latest: tuple[str, float] | None = None
        self._before: tuple[str, float] | None = None

    def note(self, owner: str, now: float) -> None:
        if self._latest is not None and self._latest[0] != owner:
            self._before = self._latest
        self._latest = (owner, now)

    def is_alone(self, owner: str, now: float) -> bool:
        other = self._before if self._latest is None or self._latest[0] == owner else self._latest
        return other is None or now - other[1] >= ALONE_SECONDS


class Doubts:
    """The requests that failed, by owner. Only their digests are kept, never their content."""

    __slots__ = ("_requests",)

    def __init__(self) -> None:
        self._requests: dict[str, set[bytes]] = {}

    def add(self, owner: str, request: bytes, most: int) -> bool:
        """Adds a request; is it new? `most` limits how many of one owner are kept."""
        known = self._requests.setdefault(owner, set())
        if request in known or len(known) >= most:
            return False
        known.add(request)
        return True

    def join(self, earlier: "Doubts") -> None:
        for owner, requests in earlier._requests.items():
            self._requests.setdefault(owner, set()).update(requests)

    @property
    def several(self) -> bool:
        """Do the failures come from several owners?"""
        return len(self._requests) > 1

    def weight(self, *, alone: bool) -> int:
        """Returns how many failures they count as. `alone`: the owner that asks now is the only user."""
        different = sum(len(requests) for requests in self._requests.values())
        return different if alone or self.several else min(different, 1)
