"""Ids and dates once more."""

from proxy.core.recorded.supply import DATE, Supply


def test_what_was_drawn_and_then_others() -> None:
    supply = Supply(["ab" * 16], [5.0, 6.0])
    assert [supply.digits(16) for _ in range(3)] == ["ab" * 16, f"{1:032x}", f"{2:032x}"]
    assert [supply.date() for _ in range(3)] == [5.0, 6.0, 6.0]
    assert Supply((), ()).date() == DATE
