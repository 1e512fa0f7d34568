"""A short soak of three nodes on one database: one is killed, and the database restarted and frozen."""

import sys

import uvloop

from tests.load.nodes_soak import Planned, Rules, soak, summary

RULES = Rules(
    seconds=30,
    keepers=10,
    kill_seconds=16,
    outages=(Planned(4, "restart", 1), Planned(20, "freeze", 4)),
    patience=40,
    limit=300,
    program="tests.support.hasty_proxy",
)


def test_three_nodes_are_one_proxy_though_one_is_killed_and_their_database_restarts_and_freezes() -> None:
    """U18, U19, U26, U38, U51, U52: nothing is lost, asked twice, or waited for, and limits are held."""
    found = uvloop.run(soak(RULES))
    sys.stdout.write(f"\n{summary(RULES, found)}\n")
    assert found.violations == {}
    assert (len(found.history.kills), len(found.history.outages)) == (1, 2)
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
    assert all(taken.told["429"] for taken in found.taken.values())
    assert all(held.units for held in found.held)
