"""The engines of each kind. What they do is asked in `tests/stores`."""

from pathlib import Path

from proxy.shell.stores.engines import engines_at
from proxy.shell.stores.location import Location, StoreKind
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.postgres.address import Address, Limits
from proxy.shell.stores.postgres.records import PostgresRecords
from proxy.shell.stores.sealing.keyring import seals_with
from proxy.shell.stores.sqlite.records import SqliteRecords
from tests.support.stores import Terms


def test_the_engines(tmp_path: Path) -> None:
    terms = Terms()
    address = Address("postgresql://db/kept")
    seals = seals_with(["a key of the tests, long enough"])
    locations = [Location(kind, tmp_path, "", address=address) for kind in StoreKind]
    made = [
        engines_at(each, terms.clock, terms.keeping, terms.may_bury, Limits(), seals) for each in locations
    ]
    assert [each and type(each[0]) for each in made] == [SqliteRecords, PostgresRecords, MemoryRecords, None]
