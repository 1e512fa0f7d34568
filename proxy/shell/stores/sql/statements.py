"""The statements of the records, in the SQL that SQLite and PostgreSQL share. Parameters are question marks, in order.

What is asked of a statement is told by its name; how several make one step is told by `record_steps` and
`conversation_steps`.
"""

from typing import Final

# ── responses ──

TURN: Final = (
    "id, status, created, model, parent, conversation, background, streamed, lasting, form, checksum, answer, input,"
    " output, gone, ended, seen"
)

FIND: Final = f"select {TURN} from turns where tenant = ? and tail = ?"

WEIGHT: Final = "length(answer) + length(input) + length(output)"

LINKS: Final = (
    f"select gone, id, parent, conversation, seen, {WEIGHT} from turns where tenant = ? and tail = ?"
)

STATE: Final = "select id, gone, ended, lasting from turns where tenant = ? and tail = ?"

INSERT: Final = (
    f"insert into turns (tenant, tail, {TURN}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " on conflict do nothing"
)

REPLACE: Final = (
    "update turns set status = ?, streamed = ?, form = ?, checksum = ?, answer = ?, input = ?, output = ?, ended = ?"
    " where tenant = ? and tail = ?"
)

END_UNREAD: Final = "update turns set ended = ? where tenant = ? and tail = ? and ended is null"

BURY: Final = "update turns set gone = 1, answer = ?, checksum = ? where tenant = ? and tail = ?"

DOUBT: Final = "update turns set gone = ? where tenant = ? and tail = ? and gone > 0"

DOUBTFUL: Final = "select tenant, tail from turns where gone = 2 limit ?"

CHILDREN: Final = "select tail from turns where tenant = ? and parent = ?"

ERASE: Final = "delete from turns where tenant = ? and tail = ?"

FORGET_SEEN: Final = "update turns set seen = null where tenant = ? and tail = ?"

EXPIRED: Final = "select tenant, tail from turns where gone = 0 and lasting = ? and ended <= ? limit ?"

HAS_ENDED: Final = "gone = 0 and lasting = 1 and ended is not null"

OLDEST: Final = f"select tenant, tail, {WEIGHT} from turns where {HAS_ENDED} order by ended limit ?"

OLDEST_AFTER: Final = (
    f"select ended, tenant, tail, {WEIGHT} from turns"
    f" where {HAS_ENDED} and ended >= ? and (ended, tenant, tail) > (?, ?, ?) order by ended, tenant, tail limit ?"
)

WEIGHTS_AFTER: Final = (
    "select tenant, max(tail), count(*), sum(weight) from"
    f" (select tenant, tail, {WEIGHT} as weight from turns where (tenant, tail) > (?, ?)"
    " order by tenant, tail limit ?) as piece group by tenant order by tenant"
)

SHARED: Final = "select 1 where (select min(tenant) from turns) < (select max(tenant) from turns)"

LASTS: Final = (
    "gone = 0 and (ended is null"
    " or ended > case lasting when 1 then cast(? as bigint) else cast(? as bigint) end)"
)

COUNT: Final = (
    f"select count(*), coalesce(sum(case when ended is null then 1 else 0 end), 0) from turns where {LASTS}"
)

COUNT_OF_TENANT: Final = f"{COUNT} and tenant = ?"

# ── items whose ids do not say where they are kept ──

KNOW_ITEM: Final = "insert into items (tenant, item, tail) values (?, ?, ?) on conflict do nothing"

ITEM_AT: Final = "select tail from items where tenant = ? and item = ? order by n"

FORGET_ITEMS: Final = "delete from items where tenant = ? and tail = ?"

# ── workers ──

BEAT: Final = (
    "insert into workers (id, until) values (?, ?) on conflict (id) do update set until = excluded.until"
)

LIVING: Final = "select count(*) from workers where until > ? and until <= ?"

LIVES: Final = "select 1 from workers where id = ? and until > ? and until <= ?"

LEAVE: Final = "delete from workers where id = ?"

FORGET_DEAD: Final = (
    "delete from workers where (until < ? or until > ?)"
    " and not exists (select 1 from runs where runs.worker = workers.id)"
)

# ── what workers have begun ──

RUN: Final = "insert into runs (tenant, tail, id, worker, over) values (?, ?, ?, ?, 0) on conflict do nothing"

RUN_OF: Final = "select worker, over from runs where tenant = ? and tail = ?"

RUN_OVER: Final = "update runs set over = 1 where tenant = ? and tail = ?"

RUNS_OVER: Final = "update runs set over = 1 where tenant = ? and over = 0"

RUN_HEARD: Final = "delete from runs where tenant = ? and tail = ? and worker = ?"

RUNS: Final = "select tenant, id from runs where worker = ? and over = ? order by n"

RUNS_HEARD: Final = "delete from runs where worker = ? and over = 1"

DEAD_RUNS: Final = (
    "select tenant, id from runs where over = 0 and not exists"
    " (select 1 from workers where workers.id = runs.worker and until > ? and until <= ?) order by n limit ?"
)

FORGET_DEAD_RUNS: Final = (
    "delete from runs where over = 1 and not exists"
    " (select 1 from workers where workers.id = runs.worker and until > ? and until <= ?)"
)

# ── conversations ──

TALK: Final = "select created, meta, touched, version, last, locked_by, lock_response from conversations"

FIND_TALK: Final = f"{TALK} where tenant = ? and id = ?"

CREATE: Final = (
    "insert into conversations (tenant, id, created, meta, touched, version, last, locked_by, lock_response)"
    " values (?, ?, ?, ?, ?, 0, 0, '', '') on conflict do nothing returning 1"
)

UPDATE: Final = "update conversations set meta = ?, touched = ? where tenant = ? and id = ?"

GROWN: Final = "update conversations set version = ?, last = ?, touched = ? where tenant = ? and id = ?"

LOCK: Final = (
    "update conversations set locked_by = ?, lock_response = ?, touched = ? where tenant = ? and id = ?"
)

UNLOCK: Final = (
    "update conversations set locked_by = '', lock_response = ''"
    " where tenant = ? and id = ? and lock_response = ?"
)

REMOVE: Final = "delete from conversations where tenant = ? and id = ?"

UNUSED: Final = "select tenant, id from conversations where touched <= ? limit ?"

COUNT_TALKS: Final = "select count(*) from conversations where touched > ?"

COUNT_TALKS_OF_TENANT: Final = f"{COUNT_TALKS} and tenant = ?"

# ── their entries ──

ENTRY: Final = (
    "select position, item, tail from entries where tenant = ? and conversation = ? and dropped is null"
)

ENTRIES: Final = f"{ENTRY} order by position"

COUNT_ENTRIES: Final = (
    "select count(*) from entries where tenant = ? and conversation = ? and dropped is null"
)

ENTRIES_THEN: Final = (
    "select position, item, tail from entries where tenant = ? and conversation = ?"
    " and added <= ? and (dropped is null or dropped > ?) order by position"
)

ENTRIES_WITH: Final = (
    f"{ENTRY} and added in (select added from entries where tenant = ? and conversation = ? and tail = ?)"
    " order by position"
)

ENTRY_OF: Final = f"{ENTRY} and item = ?"

PAGE_UP: Final = f"{ENTRY} and position > ? order by position limit ?"

PAGE_DOWN: Final = f"{ENTRY} and position < ? order by position desc limit ?"

APPEND: Final = (
    "insert into entries (tenant, conversation, position, item, tail, added) values (?, ?, ?, ?, ?, ?)"
)

DROP: Final = "update entries set dropped = ? where tenant = ? and conversation = ? and position = ?"

HOLDS: Final = "select 1 from entries where tenant = ? and tail = ? limit 1"

HOLDERS: Final = "select conversation, added, dropped from entries where tenant = ? and tail = ?"

BEGAN_WITH: Final = (
    "select tail from turns where tenant = ? and conversation = ? and seen >= ?"
    " and (seen < ? or cast(? as bigint) is null)"
)

PRUNE: Final = (
    "delete from entries where tenant = ? and conversation = ? and (dropped is not null or not exists"
    " (select 1 from conversations where conversations.tenant = entries.tenant"
    " and conversations.id = entries.conversation))"
    " and not exists (select 1 from turns where turns.tenant = entries.tenant"
    " and turns.conversation = entries.conversation and turns.seen >= entries.added"
    " and (entries.dropped is null or turns.seen < entries.dropped)) returning tail"
)

# ── a tenant ──

FORGET_TENANT: Final = tuple(
    f"delete from {table} where tenant = ? and ({key}) in (select {key} from {table} where tenant = ? limit ?)"
    " returning 1"
    for table, key in (
        ("conversations", "id"),
        ("entries", "conversation, position"),
        ("items", "n"),
        ("turns", "tail"),
    )
)

# ── for people ──

CENSUS: Final = (
    "select tenant, status, count(*), min(created) from turns"
    f" where {LASTS} and tenant = coalesce(?, tenant) group by tenant, status"
)

CENSUS_OF_TALKS: Final = (
    "select tenant, count(*) from conversations where touched > ? and tenant = coalesce(?, tenant)"
    " group by tenant"
)

# ── what seals them ──

SEALED_PIECE: Final = "case when length(answer) > 0 then answer else input end"
"""What is deleted has no answer any more."""

RESPONSES_AFTER: Final = (
    f"select tenant, tail, substr({SEALED_PIECE}, 1, ?) from turns where (tenant, tail) > (?, ?)"
    " order by tenant, tail limit ?"
)

CONVERSATIONS_AFTER: Final = (
    "select tenant, id, substr(meta, 1, ?) from conversations where (tenant, id) > (?, ?)"
    " order by tenant, id limit ?"
)

SEAL_METADATA: Final = "update conversations set meta = ? where tenant = ? and id = ?"

CENSUS_OF_KEYS: Final = (
    "select key, count(*) from (select case when substr(piece, 1, ?) = ? then substr(piece, ?, 8) end as key"
    f" from (select {SEALED_PIECE} as piece from turns where tenant = coalesce(?, tenant)) as pieces) as keys"
    " group by key"
)

CENSUS_OF_KEYS_OF_TALKS: Final = CENSUS_OF_KEYS.replace(
    f"{SEALED_PIECE} as piece from turns", "meta as piece from conversations"
)
