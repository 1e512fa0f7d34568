"""Why a database did not do what it was asked: which failure the caller is told, and what may help."""

from enum import Enum, auto
from typing import Final

import asyncpg

from proxy.shell.stores.postgres.address import Address
from proxy.shell.stores.protocol import StoreDown, StoreReplaced, StoreUnreadable

USER: Final = ("28P01", "28000")
DATABASE: Final = ("3D000",)
RIGHTS: Final = ("42501",)
TABLES: Final = ("42P01", "42703", "42P07", "3F000")
READ_ONLY: Final = ("25006",)
CONFLICTS: Final = ("40001", "40P01")
ENDED: Final = ("57P01", "57P02", "57P03", "57P05", "25P03")

REFUSED: Final = {
    **dict.fromkeys(
        USER,
        "{where} refuses the user: {failure}. Correct store.url, or PGPASSWORD or ~/.pgpass if they are used",
    ),
    **dict.fromkeys(
        DATABASE, "{where} is not there: {failure}. Create it (`createdb`), or correct store.url"
    ),
    **dict.fromkeys(
        RIGHTS,
        "{where} does not allow what is needed: {failure}. Let the user create tables in the schema"
        " (`grant create, usage on schema ... to ...`), or run `responses-proxy store migrate` as a user who may, and"
        " grant the proxy's user select, insert, update and delete on the tables",
    ),
    **dict.fromkeys(
        TABLES,
        "{where} has other tables than the store's: {failure}. Name a database or a schema of its own"
        " (`?search_path=...`)",
    ),
}
GONE: Final = (
    "the tables in {where} are not there any more: {failure}. Restore them from a backup, or start the proxy again,"
    " which makes new ones"
)


POOLER: Final = ("26000", "42P05")
HINT: Final = " A pooler between? Set store.prepared = false"


class Remedy(Enum):
    NONE = auto()
    AGAIN = auto()
    """Two stood in each other's way: the same once more."""
    RECONNECT = auto()
    RECONNECT_ALL = auto()
    """The server is not the one that it was."""


def remedy_of(failure: BaseException) -> Remedy:
    state = getattr(failure, "sqlstate", None) or ""
    if state in CONFLICTS:
        return Remedy.AGAIN
    if state in READ_ONLY:
        return Remedy.RECONNECT_ALL
    if state in ENDED or state.startswith("08") or isinstance(failure, OSError | asyncpg.InternalClientError):
        return Remedy.RECONNECT
    if isinstance(failure, asyncpg.InterfaceError) and not isinstance(failure, ValueError):
        return Remedy.RECONNECT  # those others say that a value or a setting cannot be
    return Remedy.NONE


def is_in_doubt(failure: BaseException) -> bool:
    """May the change have been done? A server that says why it did not do it has not done it."""
    return not isinstance(failure, asyncpg.PostgresError) or (failure.sqlstate or "").startswith("08")


def reason(address: Address, failure: BaseException, *, opening: bool = False) -> BaseException:
    where = address.shown
    if isinstance(failure, asyncpg.PostgresError):
        state = failure.sqlstate or ""
        if opening and state in REFUSED:
            return StoreUnreadable(REFUSED[state].format(where=where, failure=failure))
        if state in TABLES:
            return StoreReplaced(GONE.format(where=where, failure=failure))
        return StoreDown(f"{where}: {failure.args[0]} ({state})" + HINT * (state in POOLER))
    if isinstance(failure, asyncpg.ClientConfigurationError):
        return StoreUnreadable(f"store.url cannot be used: {failure}")
    if isinstance(failure, TimeoutError):
        return StoreDown(f"{where} does not answer")
    if isinstance(failure, OSError | asyncpg.InterfaceError | asyncpg.InternalClientError):
        return StoreDown(f"{where}: {failure}")
    return failure
