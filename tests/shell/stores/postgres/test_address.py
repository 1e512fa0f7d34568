"""Which database, as people see it."""

import pytest

from proxy.shell.stores.postgres.address import Address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@db:5433/kept?sslmode=require", "the database kept of PostgreSQL at db:5433"),
        ("postgres://me:p%40ss@10.0.0.1/a%20b", "the database a b of PostgreSQL at 10.0.0.1"),
        ("postgresql://me:a@b@one,two:5433/kept", "the database kept of PostgreSQL at one,two:5433"),
        ("postgresql:///kept?host=/run/x&password=secret", "the database kept of PostgreSQL"),
        ("postgresql://db", "the user's database of PostgreSQL at db"),
    ],
)
def test_it_is_shown_without_who_enters_it(url: str, shown: str) -> None:
    """U62."""
    assert Address(url).shown == shown
    assert "secret" not in repr(Address(url))
