"""Why a database did not do it: in words that help, for those who may see them."""

import asyncpg
import pytest

from proxy.shell.stores.postgres.address import Address
from proxy.shell.stores.postgres.reasons import Remedy, is_in_doubt, reason, remedy_of
from proxy.shell.stores.protocol import StoreDown, StoreReplaced, StoreUnreadable

ADDRESS = Address("postgresql://me:secret@db/kept")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (asyncpg.InvalidPasswordError("no"), "refuses the user: no. Correct store.url, or PGPASSWORD"),
        (asyncpg.InvalidAuthorizationSpecificationError("no"), "refuses the user"),
        (asyncpg.InvalidCatalogNameError("no"), "is not there: no. Create it"),
        (
            asyncpg.InsufficientPrivilegeError("no"),
            "or run `responses-proxy store migrate` as a user who may",
        ),
        (asyncpg.DuplicateTableError("no"), "has other tables than the store's"),
        (asyncpg.UndefinedColumnError("no"), "has other tables than the store's"),
    ],
)
def test_what_no_waiting_helps_ends_the_start(failure: Exception, words: str) -> None:
    """U63, U62: while it runs, it is down."""
    told = reason(ADDRESS, failure, opening=True)
    assert isinstance(told, StoreUnreadable)
    assert words in str(told)
    assert str(told).startswith("the database kept of PostgreSQL at db ")
    assert "secret" not in str(told)
    assert isinstance(reason(ADDRESS, failure), StoreDown)


def test_tables_that_are_gone_need_a_person() -> None:
    told = reason(ADDRESS, asyncpg.UndefinedTableError("no turns"))
    assert isinstance(told, StoreReplaced)
    assert "are not there any more: no turns. Restore them" in str(told)


@pytest.mark.parametrize(
    "failure",
    [
        ConnectionRefusedError(111, "refused"),
        TimeoutError(),
        asyncpg.TooManyConnectionsError("full"),
        asyncpg.DiskFullError("full"),
        asyncpg.CannotConnectNowError("starting"),
        asyncpg.ReadOnlySQLTransactionError("no"),
        asyncpg.InterfaceError("closed"),
        asyncpg.QueryCanceledError("late"),
    ],
)
def test_all_else_is_down(failure: Exception) -> None:
    for opening in (True, False):
        assert type(reason(ADDRESS, failure, opening=opening)) is StoreDown


def test_a_pooler_that_mixes_statements_up_is_told_of() -> None:
    told = reason(ADDRESS, asyncpg.InvalidSQLStatementNameError("no such statement"))
    assert str(told).endswith("no such statement (26000) A pooler between? Set store.prepared = false")


def test_what_is_not_the_database_stays_what_it_is() -> None:
    failure = KeyError("item")
    assert reason(ADDRESS, failure) is failure


@pytest.mark.parametrize(
    ("failure", "remedy", "in_doubt"),
    [
        (asyncpg.SerializationError(), Remedy.AGAIN, False),
        (asyncpg.DeadlockDetectedError(), Remedy.AGAIN, False),
        (asyncpg.ReadOnlySQLTransactionError(), Remedy.RECONNECT_ALL, False),
        (asyncpg.AdminShutdownError(), Remedy.RECONNECT, False),
        (asyncpg.ConnectionDoesNotExistError(), Remedy.RECONNECT, True),
        (ConnectionResetError(), Remedy.RECONNECT, True),
        (asyncpg.InterfaceError("closed"), Remedy.RECONNECT, True),
        (asyncpg.DataError(), Remedy.NONE, False),
        (asyncpg.DiskFullError(), Remedy.NONE, False),
        (asyncpg.ClientConfigurationError("?"), Remedy.NONE, True),
        (KeyError(), Remedy.NONE, True),
    ],
)
def test_what_helps(failure: Exception, remedy: Remedy, in_doubt: bool) -> None:
    assert remedy_of(failure) is remedy
    assert is_in_doubt(failure) is in_doubt
