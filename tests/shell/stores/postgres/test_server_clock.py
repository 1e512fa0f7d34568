"""The server's time, as a process estimates it."""

from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.terms import LEASE_SECONDS


class Ours:
    time = 100.0

    def __call__(self) -> float:
        return self.time


def test_it_goes_by_what_the_server_said() -> None:
    """U54: whatever our own date is."""
    ours = Ours()
    server = ServerClock(ours)
    begun = server.begun()
    ours.time += 0.2
    server.measured(5_000.0, begun)
    assert server.now() == server.clock.date() == server.clock.steady() == 5_000.0
    ours.time += 10
    assert server.now() == 5_010.0
    assert server.is_calm()


def test_an_answer_that_took_long_says_less() -> None:
    """The estimate moves no further than it must."""
    ours = Ours()
    server = ServerClock(ours)
    server.measured(5_000.0, server.begun())
    begun = server.begun()
    ours.time += 2.0
    server.measured(5_001.5, begun)
    assert server.now() == 5_002.0, "as before: what was said may be half a second old"
    begun = server.begun()
    server.measured(5_002.25, begun)
    assert server.now() == 5_002.25


def test_a_clock_that_jumps_buries_nobody() -> None:
    """U54: back or forth, for the length of a lease, in which all who live say so anew."""
    for jump in (-300.0, 300.0):
        ours = Ours()
        server = ServerClock(ours)
        server.measured(5_000.0, server.begun())
        server.measured(5_000.0 + jump, server.begun())
        assert server.now() == 5_000.0 + jump
        assert not server.is_calm()
        ours.time += LEASE_SECONDS
        assert server.is_calm()
