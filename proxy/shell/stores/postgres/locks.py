"""How a step gets what it asks to hold: locks of PostgreSQL that end with the transaction, named by numbers.

A step on a family shares the lock of its tenant and the lock of everything, so that whoever wants one of these alone
waits for all of them. Everybody asks in the same order.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from proxy.shell.stores.sql.carrier import Hold

LOCK: Final = (
    "select (select count(pg_advisory_xact_lock_shared(key)) from unnest($1::bigint[]) as key),"
    " (select count(pg_advisory_xact_lock(key)) from unnest($2::bigint[]) as key),"
    " extract(epoch from clock_timestamp())::float8"
)
"""Takes the locks, and tells the time at which all of them were there."""


def keys_of(kind: str, holds: Sequence[Hold]) -> tuple[list[int], list[int]]:
    """The locks that are shared, and those that are not. `kind`: of engine; two in one database do not meet."""
    shared = {}
    alone = {}
    for hold in holds:
        path = [kind, *(part for part in hold if part is not None)]
        for length in range(1, len(path)):
            shared[_key(path[:length])] = length
        alone[_key(path)] = len(path)
    return sorted(shared, key=lambda key: (shared[key], key)), sorted(alone)


def _key(path: Sequence[str]) -> int:
    digest = blake2b("\x00".join(path).encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
