"""Faults as data, and back."""

from proxy.core.errors import ClientFault, RateLimited, Truncated
from proxy.core.recorded.faults import RecordedFault, fault_of, recorded_fault


class OfARoom(ClientFault):
    pass


def test_they_come_back() -> None:
    for fault in (
        RateLimited("Wait.", retry_after=3),
        ClientFault("No.", param="x", details={"a": [1]}),
        Truncated(""),
    ):
        again = fault_of(recorded_fault(fault))
        assert type(again) is type(fault)
        assert again.__dict__.items() >= {**fault.__dict__, "own_words": None}.items()


def test_a_kind_of_some_room_is_the_kind_that_all_know() -> None:
    assert recorded_fault(OfARoom("No.")).kind == "ClientFault"


def test_a_kind_that_is_not_known_is_one_of_a_backend() -> None:
    assert fault_of(RecordedFault("Unheard", "Oh.")).message == "Oh."
