"""Failures that may be the doing of the requests that met them, and how many of them are held against a backend.

Some servers answer 500 to a prompt that their template cannot render, so one client can have as many of these as it
likes. Therefore the same request says so once, however often it is asked again; and what only one owner's requests
meet is held against the backend only where nobody else uses it, so that nobody else is harmed.
"""

ALONE_SECONDS = 600.0
"""Who has had a backend for itself for so long is its only user, as far as anybody can tell."""


class RecentAskers:
    """Who else has asked lately? Only the latest two need to be known."""

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
    """By owner, the requests that failed. Their digests are kept, nothing of what they say."""

    __slots__ = ("_requests",)

    def __init__(self) -> None:
        self._requests: dict[str, set[bytes]] = {}

    def add(self, owner: str, request: bytes, most: int) -> bool:
        """Is it new? `most` is how many of one owner are worth to be known."""
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
        """Do they come from several owners?"""
        return len(self._requests) > 1

    def weight(self, *, alone: bool) -> int:
        """How many failures they are worth. `alone`: whoever asks now is the only one who does."""
        different = sum(len(requests) for requests in self._requests.values())
        return different if alone or self.several else min(different, 1)
