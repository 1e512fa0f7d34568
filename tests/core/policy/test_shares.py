"""Shares: one alone gets half, newcomers always find something, and nothing is lost on the way back."""

from hypothesis import given
from hypothesis import strategies as st

from proxy.core.policy.shares import Shares


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
