"""The protocol: every engine has what it promises."""

import inspect

import pytest

from proxy.shell.stores.guarded_live import GuardedLive
from proxy.shell.stores.guarded_records import GuardedRecords
from proxy.shell.stores.memory.live import MemoryLive
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.protocol import Live, Records
from proxy.shell.stores.sqlite.live import SqliteLive
from proxy.shell.stores.sqlite.records import SqliteRecords


@pytest.mark.parametrize(
    ("protocol", "engines"),
    [
        (Records, (MemoryRecords, SqliteRecords, GuardedRecords)),
        (Live, (MemoryLive, SqliteLive, GuardedLive)),
    ],
)
def test_engines_have_what_the_protocol_has(protocol: type, engines: tuple[type, ...]) -> None:
    """Also where nobody checks types: names, order, defaults."""
    for name, promised in vars(protocol).items():
        if not name.startswith("_"):
            for engine in engines:
                found = inspect.signature(getattr(engine, name))
                expected = [
                    (each.name, each.default) for each in inspect.signature(promised).parameters.values()
                ]
                assert [(each.name, each.default) for each in found.parameters.values()] == expected, name
