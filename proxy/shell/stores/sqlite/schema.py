"""The tables in a file of SQLite, and how a file of an earlier version becomes one of today."""

import sqlite3
from typing import Final

from proxy.shell.stores.protocol import StoreUnreadable
from proxy.shell.stores.sql.tables import Schema

OLDEST_SQLITE: Final = (3, 37, 0)
"""The first with strict tables."""

FIXED_SQLITE: Final = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
"""Versions that cannot lose what another process writes; see `lock`."""

NOT_FIXED: Final = (
    "This SQLite lacks a correction ({fixed}) without which several processes may damage one file. The proxy and its"
    " commands avoid that by a lock; other programs must not write, copy or replicate the files while a proxy runs."
)


def refuse_old_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    if version < OLDEST_SQLITE:
        raise StoreUnreadable(
            f"this Python comes with SQLite {text_of(version)}, and the store needs {text_of(OLDEST_SQLITE)} or newer:"
            ' use a newer Python or system, or set store.url to "memory:" or "off"'
        )


def is_fixed(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> bool:
    """Does this SQLite by itself keep processes from losing each other's writes?"""
    return (
        any(version[:2] == fixed[:2] and version >= fixed for fixed in FIXED_SQLITE)
        or version >= FIXED_SQLITE[0]
    )


def shortcoming(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> str:
    """What whoever works with the files has to know of this SQLite, in words; empty if there is nothing."""
    return "" if is_fixed(version) else NOT_FIXED.format(fixed=", ".join(map(text_of, FIXED_SQLITE)))


def version_in(connection: sqlite3.Connection, schema: Schema, name: str) -> int:
    """The version of the tables that are there. Raises StoreUnreadable for a file that only a later version can
    read."""
    row = connection.execute("select version, readable_from from about").fetchone()
    version, readable_from = row or (0, 0)
    if readable_from > schema.version:
        raise StoreUnreadable(
            f"{name} was written by a later version of the proxy (tables of version {version}, readable from"
            f" {readable_from}; this one knows {schema.version}): start that version, or restore an older backup"
        )
    return int(version)


def migrate(connection: sqlite3.Connection, schema: Schema, name: str) -> None:
    """Within a transaction."""
    connection.execute(
        "create table if not exists about (one integer primary key check (one = 1), version integer not null,"
        " readable_from integer not null) strict"
    )
    version = version_in(connection, schema, name)
    if version < schema.version:
        for step in schema.steps[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(
            "insert or replace into about values (1, ?, ?)", (schema.version, schema.readable_from)
        )


def text_of(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
