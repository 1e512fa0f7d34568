"""Which fault it is when the store fails."""

import pytest

from proxy.core.errors import Fault, NotFound, TooLarge
from proxy.core.stored import faults
from proxy.shell.stores.failures import told_as_faults
from proxy.shell.stores.protocol import RecordUnreadable, StoreDown, StoreReplaced, TooMuchKept


@pytest.mark.parametrize(
    ("failure", "status", "retryable"),
    [
        (StoreDown("late"), 503, True),
        (StoreReplaced("another file"), 503, True),
        (RecordUnreadable("resp_1 is damaged"), 500, False),
    ],
)
def test_t83_t88_a_failure_is_a_fault_of_ours(failure: Exception, status: int, retryable: bool) -> None:
    """The client is told that it may ask again, where that helps; the log finds the cause."""
    with pytest.raises(Fault) as told, told_as_faults():
        raise failure
    fault = told.value
    assert (fault.code, fault.status, fault.retryable) == ("storage_error", status, retryable)
    assert fault.__cause__ is failure


def test_who_wants_too_much_is_told_to_ask_for_less() -> None:
    with pytest.raises(TooLarge) as told, told_as_faults():
        raise TooMuchKept
    assert (told.value.status, told.value.retryable) == (413, False)


def test_all_else_stays_what_it_is() -> None:
    with pytest.raises(NotFound), told_as_faults():
        raise faults.response_not_found("resp_1")
    with pytest.raises(KeyError), told_as_faults():
        raise KeyError
