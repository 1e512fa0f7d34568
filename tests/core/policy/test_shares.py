"""Shares: one alone gets half, newcomers always find something, and nothing is lost on the way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.core.errors import ProxyFault, TooLarge
from proxy.core.policy.shares import Loan, Shares


def test_attack_17_one_alone_gets_half() -> None:
    shares = Shares(8)
    assert [shares.take("ann") for _ in range(5)] == [True] * 4 + [False]


def test_attack_17_whoever_comes_next_finds_half_of_what_is_left() -> None:
    shares = Shares(16)
    assert shares.take("ann", 8)
    assert not shares.take("bob", 5)
    assert shares.take("bob", 4)
    assert shares.take("eve", 2)
    assert not shares.take("ann"), "what is left is for those that have less"


def test_who_gives_back_may_take_again_and_so_may_the_others() -> None:
    shares = Shares(8)
    assert shares.take("ann", 4)
    assert not shares.take("bob", 3)
    shares.give_back("ann", 2)
    assert shares.take("bob", 3)
    assert not shares.take("ann", 2)
    shares.give_back("bob", 3)
    shares.give_back("ann", 2)
    assert shares.take("ann", 4)


def test_who_has_any() -> None:
    shares = Shares(100)
    assert not shares.has("ann")
    shares.take("ann", 2)
    assert shares.has("ann")
    shares.give_back("ann", 2)
    assert not shares.has("ann")


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(1, 40)), max_size=60))
def test_nobody_ever_holds_more_than_is_left(asked: list[tuple[str, int]]) -> None:
    total = 100
    shares, held = Shares(total), dict.fromkeys("abcde", 0)
    for owner, amount in asked:
        fits = held[owner] + amount <= total - sum(held.values()) - amount
        assert shares.take(owner, amount) is fits
        held[owner] += amount * fits
    assert sum(held.values()) < total
    for owner, amount in held.items():
        if amount:
            shares.give_back(owner, amount)
    assert shares.take("a", total // 2)


# ── loans ──


def test_attack_14_what_was_lent_is_given_back_at_once() -> None:
    memory = Shares(100)
    ann = Loan(memory, "ann")
    ann.take(0)
    assert not memory.has("ann")
    ann.take(20)
    ann.take(30)
    with pytest.raises(ProxyFault, match="all memory that you may have") as refused:
        Loan(memory, "ann").take(1)
    assert (refused.value.status, refused.value.retry_after, refused.value.retryable) == (503, 1, True)
    Loan(memory, "bob").take(25)
    ann.end()
    ann.end()
    assert not memory.has("ann")
    Loan(memory, "ann").take(37)


def test_attack_14_what_was_read_weighs_more_than_its_bytes() -> None:
    memory = Shares(100)
    ann = Loan(memory, "ann")
    ann.take(1)
    ann.take(32 - 1)
    assert not memory.take("bob", 35)
    assert memory.take("bob", 34)


def test_attack_14_what_could_never_be_lent_is_refused_for_good() -> None:
    ann = Loan(Shares(100), "ann")
    ann.take(30)
    with pytest.raises(TooLarge, match="more than 50 bytes of memory"):
        ann.take(21)
    ann.take(20)


def test_attack_14_what_is_passed_on_is_given_back_once() -> None:
    """Work that outlives its request keeps its memory."""
    memory = Shares(100)
    ann = Loan(memory, "ann")
    ann.take(30)
    other = ann.passed_on()
    ann.end()
    assert memory.has("ann")
    other.end()
    assert not memory.has("ann")


def test_what_all_have_together() -> None:
    shares = Shares(16)
    shares.take("ann", 3)
    shares.take("bob", 2)
    assert shares.taken == 5
