"""Which fault it is when the store fails: nothing is ever called unknown that cannot be read at the moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from proxy.core.stored import faults
from proxy.shell.stores.protocol import RecordUnreadable, StoreDown


@contextmanager
def told_as_faults() -> Iterator[None]:
    try:
        yield
    except StoreDown as failure:
        raise faults.store_is_down() from failure
    except RecordUnreadable as failure:
        raise faults.unreadable() from failure
