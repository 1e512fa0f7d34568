"""Which fault it is when the store fails: nothing is ever called unknown that cannot be read at the moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from proxy.core.errors import Fault
from proxy.core.stored import faults
from proxy.shell.stores.protocol import RecordUnreadable, StoreDown, TooMuchKept

FAILURES = (StoreDown, RecordUnreadable, TooMuchKept)


def fault_of(failure: StoreDown | RecordUnreadable | TooMuchKept) -> Fault:
    """`failure` is its cause, which the log tells."""
    if isinstance(failure, StoreDown):
        fault: Fault = faults.store_is_down()
    else:
        fault = faults.unreadable() if isinstance(failure, RecordUnreadable) else faults.too_much_kept()
    fault.__cause__ = failure
    return fault


@contextmanager
def told_as_faults() -> Iterator[None]:
    try:
        yield
    except FAILURES as failure:
        raise fault_of(failure) from failure
