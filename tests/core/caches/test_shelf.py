"""A shelf: bounded in sum, and nobody makes another forget who has less."""

from hypothesis import given
from hypothesis import strategies as st

from proxy.core.caches.shelf import Shelf


def shelf(room: int, *things: tuple[str, str, int]) -> Shelf[str, str]:
    made: Shelf[str, str] = Shelf(room)
    for owner, key, size in things:
        made.put(owner, key, f"{key} of {owner}", size)
    return made


def had(shelf: Shelf[str, str], *keys: str) -> str:
    return "".join(key for key in keys if shelf.get(key))


def test_what_is_put_there_is_found() -> None:
    made = shelf(10, ("ann", "a", 3))
    assert made.get("a") == "a of ann"
    assert made.get("b") is None


def test_what_was_unused_for_longest_is_forgotten_first() -> None:
    made = shelf(3, ("ann", "a", 1), ("ann", "b", 1), ("ann", "c", 1))
    made.get("a")
    made.put("ann", "d", "", 1)
    assert had(made, "a", "b", "c") == "ac"


def test_attack_15_who_has_most_forgets() -> None:
    made = shelf(10, ("bob", "b", 2), *[("ann", f"a{number}", 1) for number in range(100)])
    assert had(made, "b", "a91", "a92", "a99") == "ba92a99"


def test_attack_15_what_has_more_than_all_room_makes_nobody_forget() -> None:
    made = shelf(10, ("bob", "b", 2), ("ann", "a", 11))
    assert had(made, "a", "b") == "b"


def test_a_key_has_one_thing() -> None:
    made = shelf(10, ("ann", "a", 6), ("bob", "a", 6), ("ann", "b", 4))
    assert made.get("a") == "a of bob"
    assert had(made, "a", "b") == "ab"


def test_what_is_taken_is_there_no_more() -> None:
    made = shelf(10, ("ann", "a", 6))
    assert made
    assert made.take("a") == "a of ann"
    assert made.take("a") is None
    assert not made


def test_room_can_be_made() -> None:
    made = shelf(10, ("ann", "a", 6), ("bob", "b", 2))
    assert [made.forget(), made.forget(), made.forget()] == [6, 2, 0]


STEPS = st.tuples(
    st.sampled_from(["put", "take", "get"]), st.sampled_from("xyz"), st.integers(0, 9), st.integers(1, 30)
)


@given(st.lists(STEPS))
def test_it_never_holds_more_than_it_may(steps: list[tuple[str, str, int, int]]) -> None:
    made: Shelf[int, int] = Shelf(60)
    sizes: dict[int, int] = {}
    for step, owner, key, size in steps:
        if step == "put":
            made.put(owner, key, size, size)
            sizes[key] = size
        elif step == "take":
            assert made.take(key) == sizes.pop(key, None)
        else:
            assert made.get(key) == sizes.get(key)
        sizes = {key: size for key, size in sizes.items() if made.get(key) is not None}
        assert sum(sizes.values()) <= 60
    assert sum(iter(made.forget, 0)) == sum(sizes.values())
    assert not made
