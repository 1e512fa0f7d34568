"""What PostgreSQL says otherwise than SQLite: parameters have numbers, types have other names, and text has no NUL.

Ids that clients made up may be longer than what an index of PostgreSQL takes: it holds the hash of them.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import count
from typing import Any, Final

from proxy.shell.stores.sql.step import Rows

WRITES: Final = ("insert ", "update ", "delete ")

TYPES: Final = (
    (re.compile(r"\binteger primary key\b"), "bigint generated always as identity primary key"),
    (re.compile(r"\binteger\b"), "bigint"),
    (re.compile(r"\breal\b"), "double precision"),
    (re.compile(r"\bblob\b"), "bytea"),
    (re.compile(r"\)\s*strict(, without rowid)?$"), ")"),
)
INDEXED: Final = re.compile(r"(?<=[ (])item(?=[,)])")
FOUND_BY_ITEM: Final = re.compile(r"\bitem = (\$\d+)")
HASH: Final = "hashtextextended(item, 0)"

CHANGED_OFTEN: Final = ("workers", "logs", "meters", "queues", "holders")
ROOM: Final = " with (fillfactor = 50)"
"""So that a changed row stays in its page, and its indexes as they are."""

NUL: Final = "\x00"
MARK: Final = "\x01"
"""Begins what stands for a character that text of PostgreSQL cannot have."""


@cache
def translated(statement: str) -> str:
    numbers = count(1)
    numbered = re.sub(r"\?", lambda _: f"${next(numbers)}", statement)
    return FOUND_BY_ITEM.sub(rf"{HASH} = hashtextextended(\1, 0) and item = \1", numbered)


@cache
def is_blind(statement: str) -> bool:
    """It has no rows to tell."""
    return statement.startswith(WRITES) and " returning " not in statement


def definition(statement: str, *, may_vanish: bool) -> str:
    """Of a table or an index."""
    if " index " in statement:
        return INDEXED.sub(f"{HASH}", statement)
    for type_, ours in TYPES:
        statement = type_.sub(ours, statement)
    if statement.split()[2] in CHANGED_OFTEN:
        statement += ROOM
    return statement.replace("create table", "create unlogged table", 1) if may_vanish else statement


def parameters_of(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(map(_without_nul, values))


def _without_nul(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_without_nul, value)]
    if not isinstance(value, str) or (NUL not in value and MARK not in value):
        return value
    return value.replace(MARK, f"{MARK}1").replace(NUL, f"{MARK}0")


def rows_of(found: Sequence[Iterable[Any]]) -> Rows:
    return [tuple(_with_nul(value) if isinstance(value, str) else value for value in row) for row in found]


def _with_nul(text: str) -> str:
    if MARK not in text:
        return text
    return text.replace(f"{MARK}0", NUL).replace(f"{MARK}1", MARK)
