"""E7: two counts over the last seconds, in bounded memory."""

from proxy.core.policy.window import SLICES, Window


def test_it_counts_what_is_recent() -> None:
    window = Window(10)
    window.add(100.0, 1, 0)
    window.add(100.5, 1, 1)
    window.add(105.0, 2, 0)
    assert window.totals(105.0) == (4, 1)


def test_it_forgets_the_rest() -> None:
    window = Window(10)
    window.add(100.0, 1, 1)
    window.add(105.0, 1, 0)
    assert window.totals(112.0) == (1, 0)
    assert window.totals(130.0) == (0, 0)


def test_its_memory_is_bounded() -> None:
    window = Window(10)
    for second in range(1000):
        window.add(float(second), 1, 0)
    assert window.totals(999.0) == (SLICES, 0)
