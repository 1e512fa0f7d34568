"""The statements of logs and memos, in the SQL that SQLite and PostgreSQL share."""

from typing import Final

FIND: Final = "select next, bytes, state, touched from logs where tenant = ? and id = ?"

BEGIN: Final = "insert into logs (tenant, id, next, bytes, state, touched) values (?, ?, 0, 0, 0, ?)"

CHANGE: Final = "update logs set next = ?, bytes = ?, state = ?, touched = ? where tenant = ? and id = ?"

APPEND: Final = "insert into log_rows (tenant, id, first, fresh, data) values (?, ?, ?, ?, ?)"

BEFORE: Final = "select max(first) from log_rows where tenant = ? and id = ? and fresh = 1 and first <= ?"

ROWS: Final = (
    "select first, fresh, data from log_rows where tenant = ? and id = ? and first >= ?"
    " order by first limit ?"
)

ERASE_ROWS: Final = "delete from log_rows where tenant = ? and id = ?"

ERASE: Final = "delete from logs where tenant = ? and id = ?"

EXPIRED: Final = "select tenant, id from logs where state = ? and touched <= ? limit ?"

REMEMBER: Final = (
    "insert into memos (tenant, key, data, expires) values (?, ?, ?, ?)"
    " on conflict (tenant, key) do update set data = excluded.data, expires = excluded.expires"
)


def recall(keys: int) -> str:
    """Of so many keys at once."""
    return (
        f"select key, data from memos where tenant = ? and expires > ? and key in ({', '.join('?' * keys)})"
    )


EXPIRED_MEMOS: Final = "select tenant, key from memos where expires <= ? limit ?"

MEMO_BYTES: Final = "select tenant, sum(length(data)) from memos group by tenant"

OLDEST_MEMOS: Final = "select key, length(data) from memos where tenant = ? order by expires limit ?"

FORGET: Final = "delete from memos where tenant = ? and key = ?"

FORGET_TENANT: Final = tuple(
    f"delete from {table} where tenant = ? and ({key}) in (select {key} from {table} where tenant = ? limit ?)"
    " returning 1"
    for table, key in (("logs", "id"), ("log_rows", "id, first"), ("memos", "key"), ("meters", "unit"))
)
