"""What is remembered of schemas is bounded by what it weighs, whatever was asked (attack-26)."""

from proxy.core.caches.remembered import MAX_SHARE, MAX_WEIGHT, OVERHEAD, Remembered


class Maker:
    def __init__(self, weight: int) -> None:
        self.weight = weight
        self.made = 0

    def __call__(self) -> tuple[int, int]:
        self.made += 1
        return self.made, self.weight


def test_what_was_asked_before_is_not_made_again() -> None:
    kept, maker = Remembered[int](), Maker(0)
    assert [kept.of((b"a", None), maker) for _ in range(3)] == [1, 1, 1]
    assert kept.of((b"a", "otherwise"), maker) == 2


def test_what_weighs_much_is_made_anew_each_time() -> None:
    kept, maker = Remembered[int](), Maker(MAX_SHARE)
    assert [kept.of((b"a", None), maker) for _ in range(2)] == [1, 2]


def test_the_sum_is_bounded_and_what_nobody_asks_for_is_forgotten() -> None:
    kept = Remembered[int]()
    maker = Maker(MAX_SHARE - OVERHEAD - 1)
    half = MAX_WEIGHT // MAX_SHARE // 2
    keys = [(bytes([number]), None) for number in range(2 * half)]
    for key in keys:
        kept.of(key, maker)
    assert maker.made == 2 * half
    kept.of(keys[0], maker)  # one more of the young ones, so that they become the old ones
    assert maker.made == 2 * half
    kept.of(keys[-1], maker)
    assert maker.made == 2 * half
    kept.of(keys[1], maker)
    assert maker.made == 2 * half + 1
