"""The files of the store, as a command finds them: proxies may be at work on the same ones, or none has ever begun."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proxy.commands.writability import try_to_write
from proxy.settings.root import Settings
from proxy.shell.stores.engines import LIVE_FILE, RECORDS_FILE
from proxy.shell.stores.protocol import StoreDown, StoreUnreadable
from proxy.shell.stores.sql.census_steps import CensusSteps, Inspected
from proxy.shell.stores.sql.tables import LIVE, RECORDS
from proxy.shell.stores.sqlite.inspection import inspect, prove
from proxy.shell.stores.sqlite.live import SqliteLive
from proxy.shell.stores.sqlite.reasons import reason
from proxy.shell.stores.sqlite.records import SqliteRecords
from proxy.shell.stores.sqlite.schema import shortcoming
from proxy.shell.stores.terms import Clock
from proxy.storage import CannotStore, keeping_of, sealed_by

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
    """A command cannot know which workers live, so it ends nobody's work."""
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
        """All files of the store, those of SQLite and of the lock among them."""
        names = (self.records.name, self.live.name)
        return [path for path in self.directory.iterdir() if path.name.startswith(names)]

    async def inspect(self, tenant: str | None = None) -> Inspected:
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
        records = SqliteRecords(self.records, CLOCK, keeping_of(store), never, sealed_by(store))
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

    async def migrate(self) -> None:
        await self.inspect()
        async with self.opened():
            pass

    async def backup(self, target: Path) -> None:
        async with self.opened() as (records, _):
            await records.backup(target)

    @property
    def where(self) -> tuple[str, str]:
        return "directory", str(self.directory)

    def on_disk(self, found: Inspected) -> int:
        return size_of(self.all)

    def notes(self) -> list[str]:
        return [words] if (words := shortcoming()) else []

    async def prove(self) -> str:
        """What is there, in words; raises StoreUnreadable or StoreDown."""
        for path, schema in ((self.records, RECORDS), (self.live, LIVE)):
            prove(path, schema, self.settings.store.wait_seconds)
        try:
            try_to_write(self.directory)
        except OSError as error:
            raise reason(self.records, error, opening=True) from error
        return ""


def size_of(paths: Iterable[Path]) -> int:
    """Files may vanish meanwhile: SQLite takes its own away."""
    total = 0
    for path in paths:
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def lock_nobody_out(files: StoreFiles) -> None:
    """Refuses to make files as root beside those of another user, who could not open them. Where all files are there
    that a proxy makes at its start, none will be made: SQLite gives its own to the owner of the others."""
    path = files.records
    if not (path.exists() and hasattr(os, "geteuid")) or (owner := path.stat().st_uid) == os.geteuid():
        return
    if missing := [name for name in MADE_AT_START if not (files.directory / name).exists()]:
        raise CannotStore(NOT_OURS.format(path=path, owner=owner, missing=missing[0]))
