"""Memos are sealed one by one, and those that cannot be read are none."""

from proxy.shell.stores.sealing.aes import AesKey
from proxy.shell.stores.sealing.memos import opened_memos, sealed_memos
from proxy.shell.stores.sealing.seals import Reason, Seals, What

MEMOS = {"a": b"what was thought", "b": b"an id"}


def test_one_that_cannot_be_read_is_forgotten() -> None:
    """U61: with no key, changed, or under the name of another; it is counted."""
    told: list[tuple[str, ...]] = []
    seals = Seals([AesKey("a key of the tests, long enough")], lambda *what: told.append(what))
    sealed = sealed_memos(seals, "ann", MEMOS)
    assert opened_memos(seals, "ann", {**sealed, "c": b"of before"}) == {**MEMOS, "c": b"of before"}
    assert opened_memos(seals, "ann", {"a": sealed["b"], "b": sealed["b"]}) == {"b": MEMOS["b"]}
    assert opened_memos(seals, "bob", sealed) == opened_memos(Seals(), "ann", sealed) == {}
    assert [what[:3] for what in told] == [(What.MEMO, Reason.DAMAGED, id) for id in ("a", "a", "b")]
