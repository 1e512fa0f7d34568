"""The ids under which clients see the calls of a reply: the backend's where clients can use them, otherwise the
proxy's.
"""

from collections.abc import Callable, Set

from proxy.core.ids import Mint

MAX_CALL_ID = 64
"""Clients must send our ids back, and the Responses API takes call ids of at most 64 characters."""


class ClientCallIds:
    __slots__ = ("_always_ours", "_mint", "_taken", "_used")

    def __init__(self, mint: Mint, used: Callable[[], Set[str]], always_ours: bool) -> None:
        """`used` returns the ids of the conversation. It is called when a call opens, because most replies have none.
        Some surfaces promise a form that only our ids have."""
        self._mint = mint
        self._used = used
        self._taken: set[str] | None = None
        self._always_ours = always_ours

    def take(self, backend_id: str | None) -> str:
        """Returns the id of a call that opens: the backend's, if it is wanted, short, printable and new."""
        if self._taken is None:
            self._taken = set(self._used())
        usable = (
            backend_id
            and len(backend_id) <= MAX_CALL_ID
            and backend_id.isprintable()
            and backend_id not in self._taken
        )
        if self._always_ours:
            call_id = self._mint.uuid_call()
        else:
            call_id = backend_id if backend_id and usable else self._mint.call()
        self._taken.add(call_id)
        return call_id
