"""The locks of a step: shared above what it holds, and its own."""

from proxy.shell.stores.postgres.locks import keys_of
from proxy.shell.stores.sql.carrier import EVERYTHING, Hold, family, whole

RECORD = f"resp_{'a' * 48}"


def test_who_holds_less_shares_what_others_want_alone() -> None:
    shared, alone = keys_of("records", family("t", RECORD))
    assert (len(shared), len(alone)) == (2, 1)
    assert keys_of("records", EVERYTHING) == ([], [shared[0]])
    assert keys_of("records", whole("t")) == ([shared[0]], [shared[1]])


def test_different_things_have_different_locks() -> None:
    holds = [EVERYTHING, whole("t"), whole("u"), family("t", RECORD), (Hold("t", "b"),), (Hold("tb"),)]
    alone = [keys_of(kind, each)[1][0] for kind in ("records", "live") for each in holds]
    assert len(set(alone)) == len(alone)
    assert all(-(1 << 63) <= key < 1 << 63 for key in alone)


def test_all_of_a_family_and_several_families() -> None:
    """In one order, so that two do not wait for each other."""
    other = f"conv_{'b' * 48}"
    assert keys_of("records", family("t", RECORD, other)) == keys_of(
        "records", family("t", other, RECORD, None)
    )
    assert len(keys_of("records", family("t", RECORD, other))[1]) == 2
    assert family("t", RECORD, f"resp_{'c' * 16}{'a' * 32}") == family("t", RECORD)
