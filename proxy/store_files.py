"""The files of the store, as a command finds them: proxies may be at work on the same ones, or none has ever begun."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proxy.settings import Settings
from proxy.shell.stores.engines import LIVE_FILE, RECORDS_FILE
from proxy.shell.stores.location import Kind
from proxy.shell.stores.protocol import StoreDown, StoreUnreadable
from proxy.shell.stores.sql.census_steps import CensusSteps
from proxy.shell.stores.sql.tables import LIVE, RECORDS
from proxy.shell.stores.sqlite.inspection import Inspected, inspect, prove
from proxy.shell.stores.sqlite.live import SqliteLive
from proxy.shell.stores.sqlite.records import SqliteRecords
from proxy.shell.stores.terms import Clock
from proxy.storage import CannotStore, keeping_of, located

OFF: Final = 'store.url is "off": nothing is kept, and there is nothing to show or to change.'
IN_MEMORY: Final = (
    "What is kept is in the memory of the proxy and ends with it: other processes can neither see nor change it."
    ' To keep it in files: store.url = "sqlite:DIRECTORY"'
)
NOTHING_YET: Final = (
    "Nothing is kept in {directory} yet; a proxy begins there when it starts. If yours runs with other settings, or as"
    " another user, its log says where it keeps things (`store_chosen`): --store sqlite:DIRECTORY"
)
NOT_OURS: Final = (
    "{path} belongs to the user {owner}, and there is no {missing} yet: run this command as that user"
)
MADE_AT_START: Final = tuple(f"{name}{end}" for name in (RECORDS_FILE, LIVE_FILE) for end in ("", ".lock"))

CLOCK: Final = Clock(date=time.time, steady=time.monotonic)  # noqa: TID251 - here it comes in


def never() -> bool:
    """A command ends nobody's work: it does not know who lives."""
    return False


@dataclass(slots=True, frozen=True)
class StoreFiles:
    settings: Settings
    directory: Path

    @property
    def records(self) -> Path:
        return self.directory / RECORDS_FILE

    @property
    def live(self) -> Path:
        return self.directory / LIVE_FILE

    @property
    def all(self) -> list[Path]:
        """With those that SQLite and the lock have beside them."""
        names = (self.records.name, self.live.name)
        return [path for path in self.directory.iterdir() if path.name.startswith(names)]

    def inspect(self, tenant: str | None = None) -> Inspected:
        """What is kept there: of all tenants, or of one."""
        store = self.settings.store
        steps = CensusSteps(CLOCK, keeping_of(store))
        try:
            found = inspect(self.records, steps, tenant, store.wait_seconds)
        except (StoreDown, StoreUnreadable) as failure:
            raise CannotStore(str(failure)) from failure
        if found is None:
            raise CannotStore(NOTHING_YET.format(directory=self.directory))
        return found

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[SqliteRecords, SqliteLive]]:
        """For changes, as a proxy opens them. What is kept there was read before."""
        store = self.settings.store
        records = SqliteRecords(self.records, CLOCK, keeping_of(store), never)
        live = SqliteLive(self.live, CLOCK)
        try:
            async with asyncio.timeout(store.wait_seconds):
                await records.open()
                await live.open()
            yield records, live
        except TimeoutError as failure:
            raise CannotStore(f"{self.directory} does not answer") from failure
        except (StoreDown, StoreUnreadable) as failure:
            raise CannotStore(str(failure)) from failure
        finally:
            await records.close()
            await live.close()


def files_of(settings: Settings) -> StoreFiles:
    """Raises CannotStore where there are none that this user may use."""
    location = located(settings.store, settings.server.workers)
    if location.directory is None:
        raise CannotStore(OFF if location.kind is Kind.OFF else IN_MEMORY)
    files = StoreFiles(settings, location.directory)
    _lock_nobody_out(files)
    return files


def _lock_nobody_out(files: StoreFiles) -> None:
    """What root made beside the files of another user could not be opened by that user. Where all is there that a proxy
    makes at its start, nothing will be: SQLite gives its own files to the owner of the others."""
    path = files.records
    if not (path.exists() and hasattr(os, "geteuid")) or (owner := path.stat().st_uid) == os.geteuid():
        return
    if missing := [name for name in MADE_AT_START if not (files.directory / name).exists()]:
        raise CannotStore(NOT_OURS.format(path=path, owner=owner, missing=missing[0]))


def proved(settings: Settings) -> str:
    """Where things will be kept, for people; raises CannotStore where they cannot be. Nothing is made or changed."""
    location = located(settings.store, settings.server.workers)
    if location.directory is not None:
        files = StoreFiles(settings, location.directory)
        try:
            for path, schema in ((files.records, RECORDS), (files.live, LIVE)):
                prove(path, schema, settings.store.wait_seconds)
        except StoreUnreadable as failure:
            raise CannotStore(str(failure)) from failure
        except StoreDown as failure:  # it may come back: no reason not to start
            return f"{location.line}; but now that does not work ({failure})"
    return location.line
