"""Which store a command works on, by the settings, and what it may ask of it."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, Protocol

from proxy.commands.store_files import StoreFiles, lock_nobody_out
from proxy.live_server import LIES_IN, prove_live
from proxy.settings.root import Settings
from proxy.shell.stores.location import Location, StoreKind
from proxy.shell.stores.protocol import StoreDown, StoreUnreadable
from proxy.shell.stores.sql.census_steps import Inspected
from proxy.shell.stores.sql.live import SqlLive
from proxy.shell.stores.sql.records import SqlRecords
from proxy.storage import CannotStore, check_live, located, sealed_by, with_its_key

OFF: Final = 'store.url is "off": nothing is kept, and there is nothing to show or to change.'
IN_MEMORY: Final = (
    "What is kept is in the memory of the proxy and ends with it: other processes can neither see nor change it."
    ' To keep it in files: store.url = "sqlite:DIRECTORY"'
)


class FoundStore(Protocol):
    """Each method raises CannotStore, in words for people."""

    @property
    def where(self) -> tuple[str, str]:
        """What kind of thing it lies in, and which one."""

    async def inspect(self, tenant: str | None = None) -> Inspected:
        """What is kept there: of all tenants, or of one."""

    def opened(self) -> AbstractAsyncContextManager[tuple[SqlRecords, SqlLive]]:
        """For changes, as a proxy opens it."""

    async def migrate(self) -> None: ...

    async def backup(self, target: Path) -> None: ...

    def on_disk(self, found: Inspected) -> int: ...

    def notes(self) -> list[str]: ...

    async def prove(self) -> str:
        """What is there, in words; raises StoreUnreadable or StoreDown. Nothing is made or changed."""


def found(settings: Settings) -> FoundStore:
    """Raises CannotStore where there is none that this user may use."""
    location = located(settings.store, settings.server.workers)
    store = _at(location, settings)
    if store is None:
        raise CannotStore(OFF if location.kind is StoreKind.OFF else IN_MEMORY)
    if isinstance(store, StoreFiles):
        lock_nobody_out(store)
    return store


def _at(location: Location, settings: Settings) -> FoundStore | None:
    if location.directory is not None:
        return StoreFiles(settings, location.directory)
    if location.address is None:
        return None
    from proxy.commands.store_database import StoreDatabase  # what it needs may not be installed

    return StoreDatabase(settings, location.address)


async def proved(settings: Settings) -> str:
    """Where things will be kept, for people; raises CannotStore where they cannot be. Nothing is made or changed."""
    location = located(settings.store, settings.server.workers)
    check_live(settings.live)
    location = with_its_key(location, sealed_by(settings.store))
    store = _at(location, settings)
    told = location.line
    try:
        if store is not None:
            told += await _or_down(store.prove)
        if settings.live.url is not None:
            told += await _or_down(lambda: prove_live(settings.live), LIES_IN.format(url=settings.live.url))
    except StoreUnreadable as failure:
        raise CannotStore(str(failure)) from failure
    return told


async def _or_down(prove: Callable[[], Awaitable[str]], before: str = "") -> str:
    """What is away may come back: no reason not to start."""
    try:
        return await prove()
    except StoreDown as failure:
        return f"{before}; but now that does not work ({failure})"
