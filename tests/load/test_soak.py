"""A short soak: all surfaces, clients that leave, a backend that cuts, fails, and is killed and started anew."""

import sys

import pytest
import uvloop

from tests.load.soak import JOBS, STRIDE, Rules, soak, summary

RULES = Rules(seconds=8, streams=30, restart_seconds=3, growth_mib=24, lag_ms=250)
"""Too short for the last two to mean much: caches still fill, and one restart is a hundredth of the time."""


def test_nothing_is_lost_leaked_or_falsely_completed_while_the_backend_restarts() -> None:
    """E2, E3, E4, E5: one honest ending each, and nothing left over, though the backend is killed under load."""
    found = uvloop.run(soak(RULES))
    sys.stdout.write(f"\n{summary(RULES, found)}\n")
    assert found.violations == {}
    assert found.restarts >= 1
    assert {ending.partition(" ")[0] for ending in found.endings} == {
        "completed",
        "failed",
        "refused",
        "left",
    }


@pytest.mark.parametrize("beginning", [0, 7])
def test_a_client_comes_through_all_jobs(beginning: int) -> None:
    seen = {(beginning + step) * STRIDE % len(JOBS) for step in range(len(JOBS))}
    assert len(seen) == len(JOBS)
