"""Which fault it is when the store fails: nothing is ever called unknown that cannot be read at the moment."""

from types import TracebackType

from proxy.core.stored import faults
from proxy.shell.stores.protocol import RecordUnreadable, StoreDown, TooMuchKept


class _ToldAsFaults:
    """Every request passes through it: a generator would cost it twice as much."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(raised, StoreDown):
            raise faults.store_is_down() from raised
        if isinstance(raised, RecordUnreadable):
            raise faults.unreadable() from raised
        if isinstance(raised, TooMuchKept):
            raise faults.too_much_kept() from raised


_TOLD_AS_FAULTS = _ToldAsFaults()


def told_as_faults() -> _ToldAsFaults:
    return _TOLD_AS_FAULTS
