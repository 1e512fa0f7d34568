"""All connections of clients: how many there may be, which one gives way to a new one, and which owes a request.

Addresses share them, because no client has shown a key yet. If an address has its share, or there is no room at all,
the connection closes that has been without a request for longest; one with a request under way stays. A client that
connects and sends nothing, or never ends the head of a request, is cut off (F70).
"""

import asyncio
from collections.abc import Callable
from itertools import takewhile
from typing import Any, Protocol

from proxy.core.policy.shares import Shares
from proxy.shell.ops import descriptors

CHECK_SECONDS = 1.0
"""The proxy checks this often which connections are due, what is to be logged, and whether a descriptor is left."""

SILENT_SECONDS = 10.0
"""The time for the first byte. A client that connects has something to ask, and is then kept for the next request."""

HEAD_SECONDS = 30.0
"""The time for a head, from its first byte to its last. Clients send it in one packet, or a few."""

LOG_SECONDS = 10.0
"""At most one line is logged in this time, or a flood would fill the log."""

ADVICE = "Raise the limit of open files (ulimit -n, LimitNOFILE)."


class Open(Protocol):
    address: str

    def drop(self) -> None:
        """Closes it without an answer."""

    def hurry(self) -> None:
        """Refuses it because its head did not come in time, and closes it."""


class Connections:
    def __init__(self, room: int, warn: Callable[..., Any]) -> None:
        """`room`: so many may be open. `warn` writes a line to the log."""
        self._room = room
        self._warn = warn
        self._shares = Shares(room)
        self._open: set[Open] = set()
        self._idle: dict[str, dict[Open, None]] = {}
        """Connections without a request by address, those that have been idle for longest first."""
        self._now = 0.0
        """The seconds that were checked: a clock that stands still while the process does."""
        self._silent: dict[Open, float] = {}
        """When each is due, by that clock, the first to be due first."""
        self._begun: dict[Open, float] = {}
        self._dropped = self._refused = 0
        self._exhausted = False
        self._silent_until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start_timer(self) -> None:
        self._check(asyncio.get_running_loop())

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._log_changes()

    def enter(self, connection: Open) -> bool:
        """Returns whether there was room, or room was made."""
        address = connection.address
        if not self._shares.take(address) and not self._make_room(address):
            self._refused += 1
            return False
        self._open.add(connection)
        self._idle.setdefault(address, {})[connection] = None
        self._silent[connection] = self._now + SILENT_SECONDS
        return True

    def leave(self, connection: Open) -> None:
        if connection in self._open:
            self._forget(connection)
            self._shares.give_back(connection.address)

    def begun(self, connection: Open) -> None:
        """Notes that a part of a head has come, and not its end."""
        if connection in self._open:
            self._silent.pop(connection, None)
            self._begun.setdefault(connection, self._now + HEAD_SECONDS)

    def busy(self, connection: Open) -> None:
        """Notes that it has a request."""
        if connection in self._open:
            self._owes_nothing(connection)
            idle = self._idle[connection.address]
            del idle[connection]
            if not idle:
                del self._idle[connection.address]

    def idle(self, connection: Open) -> None:
        """Notes that its request is over."""
        if connection in self._open:
            self._idle.setdefault(connection.address, {})[connection] = None

    def _owes_nothing(self, connection: Open) -> None:
        self._silent.pop(connection, None)
        self._begun.pop(connection, None)

    def _forget(self, connection: Open) -> None:
        self._open.remove(connection)
        self._owes_nothing(connection)
        idle = self._idle.get(connection.address, {})
        idle.pop(connection, None)
        if not idle:
            self._idle.pop(connection.address, None)

    def _make_room(self, address: str) -> bool:
        """Closes an idle connection of this address, or, if it has none, of the address with most of them."""
        idle = self._idle.get(address)
        if idle is None and not self._shares.has(address):
            idle = max(self._idle.values(), key=len, default=None)
        if idle is None:
            return False
        longest = next(iter(idle))
        self._forget(longest)
        longest.drop()
        self._dropped += 1
        if longest.address == address:
            return True
        self._shares.give_back(longest.address)
        return self._shares.take(address)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        self._now += CHECK_SECONDS
        for connection in self._due(self._silent):
            connection.drop()
        for connection in self._due(self._begun):
            connection.hurry()
        self._exhausted = self._exhausted or descriptors.exhausted()
        if loop.time() >= self._silent_until and self._log_changes():
            self._silent_until = loop.time() + LOG_SECONDS
        self._timer = loop.call_later(CHECK_SECONDS, self._check, loop)

    def _due(self, owing: dict[Open, float]) -> list[Open]:
        due = list(takewhile(lambda connection: owing[connection] <= self._now, owing))
        for connection in due:
            del owing[connection]
        return due

    def _log_changes(self) -> bool:
        """Logs what happened since the last line, and returns whether anything did."""
        came = self._exhausted or self._dropped > 0 or self._refused > 0
        if self._exhausted:
            self._warn("descriptors_exhausted", advice=ADVICE)
        if self._dropped or self._refused:
            self._warn(
                "connections_exhausted",
                closed=self._dropped,
                refused=self._refused,
                open=len(self._open),
                room=self._room,
            )
        self._dropped = self._refused = 0
        self._exhausted = False
        return came
