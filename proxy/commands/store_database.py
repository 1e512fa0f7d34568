"""The store in a database, as a command finds it: proxies may be at work with it, on this machine or others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proxy.commands.store_files import CLOCK, never
from proxy.settings.root import Settings
from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.connections import ConnectionPool
from proxy.shell.stores.postgres.inspection import inspect
from proxy.shell.stores.postgres.live import PostgresLive
from proxy.shell.stores.postgres.records import PostgresRecords
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.protocol import StoreDown, StoreUnreadable
from proxy.shell.stores.sql.census_steps import Inspected
from proxy.storage import CannotStore, keeping_of, sealed_by

NOTHING_YET: Final = (
    "{where} has no tables of the store yet: a proxy makes them when it starts, or"
    " `responses-proxy store migrate`"
)
NO_BACKUP: Final = (
    "PostgreSQL makes its own backups, while proxies run: `pg_dump --format=custom --file={target} URL`, and"
    " `pg_restore` puts them back. No file was made of {where}"
)


@dataclass(slots=True, frozen=True)
class StoreDatabase:
    settings: Settings
    address: Address

    @property
    def _limits(self) -> Limits:
        return Limits(1, self.settings.store.wait_seconds, self.settings.store.prepared)

    async def _look(self, tenant: str | None = None) -> Inspected | None:
        clock = ServerClock(CLOCK.steady)
        return await inspect(self.address, self._limits, clock, keeping_of(self.settings.store), tenant)

    async def inspect(self, tenant: str | None = None) -> Inspected:
        """What is kept there: of all tenants, or of one."""
        try:
            found = await self._look(tenant)
        except (StoreDown, StoreUnreadable) as failure:
            raise CannotStore(str(failure)) from failure
        if found is None:
            raise CannotStore(NOTHING_YET.format(where=self.address.shown))
        return found

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[PostgresRecords, PostgresLive]]:
        """For changes, as a proxy opens it."""
        store = self.settings.store
        connections = ConnectionPool(self.address, self._limits)
        clock = ServerClock(CLOCK.steady)
        records = PostgresRecords(connections, clock, keeping_of(store), never, sealed_by(store))
        live = PostgresLive(connections, clock)
        try:
            await records.open()
            await live.open()
            yield records, live
        except (StoreDown, StoreUnreadable) as failure:
            raise CannotStore(str(failure)) from failure
        finally:
            await records.close()
            await live.close()

    async def migrate(self) -> None:
        async with self.opened():
            pass

    async def backup(self, target: Path) -> None:
        raise CannotStore(NO_BACKUP.format(target=target, where=self.address.shown))

    @property
    def where(self) -> tuple[str, str]:
        return "kept in", self.address.shown

    def on_disk(self, found: Inspected) -> int:
        return found.on_disk

    def notes(self) -> list[str]:
        return []

    async def prove(self) -> str:
        """What is there, in words; raises StoreUnreadable or StoreDown."""
        found = await self._look()
        if found is None:
            return "; its tables will be made at the start"
        return f"; {found.engine} with tables of version {found.version} is there"
