"""A short soak of what is kept: two workers with short leases, of which one is killed every few seconds."""

import sys

import pytest
import uvloop

from tests.load.stored_soak import Found, Rules, soak, summary

RULES = Rules(seconds=12, clients=10, kill_seconds=4, patience=30, program="tests.support.hasty_proxy")


def test_nothing_that_was_answered_is_lost_though_workers_are_killed() -> None:
    """T56, T79, U06, U08, U26, U46: it has its content, every run has one end, and nothing is locked for ever."""
    found = uvloop.run(soak(RULES))
    sys.stdout.write(f"\n{summary(RULES, found)}\n")
    assert found.promises.broken == {}
    assert len(found.kills) >= 2
    assert {
        "stored",
        "streamed",
        "chained",
        "in conversation",
        "background completed",
        "cancelled",
        "to delete",
        "not stored",
    } <= {*found.endings}
    assert found.promises.kept
    assert found.promises.gone


def test_the_worker_that_has_lived_the_longest_tells_of_growth() -> None:
    """What it takes at first, and those that were killed, say nothing."""
    killed = [(float(at), 50.0 + at) for at in range(20)]
    lived = [(float(at), 50.0 + min(at, 50)) for at in range(100)]
    assert Found(workers={1: killed, 2: lived}).growth == pytest.approx(0)
    leaks = [(at, mib + at) for at, mib in lived]
    assert Found(workers={1: killed, 2: leaks}).growth == pytest.approx(49)
