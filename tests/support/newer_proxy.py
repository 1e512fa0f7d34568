"""The proxy as its next version may be, with more in its tables: `python -m tests.support.newer_proxy serve …`."""

import sys
from dataclasses import replace
from importlib import import_module

ADDED = {
    "RECORDS": (
        "alter table turns add column later text",
        "create table later (n integer primary key) strict",
    ),
    "LIVE": ("alter table logs add column later text",),
}


def main() -> int:
    tables = import_module("proxy.shell.stores.sql.tables")
    for name, step in ADDED.items():
        schema = getattr(tables, name)
        setattr(tables, name, replace(schema, steps=(*schema.steps, step)))
    status: int = import_module("proxy.cli").main()
    return status


if __name__ == "__main__":
    sys.exit(main())
