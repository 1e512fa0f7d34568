"""The tables of all engines that speak SQL, in the words of SQLite. Other engines put theirs in place.

Each step of a schema adds to it and is never changed afterwards. `readable_from` is the oldest version that can work
with the tables as they are: a process that is older than this does not start, one that is merely older does.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(slots=True, frozen=True)
class Schema:
    steps: tuple[tuple[str, ...], ...]
    """The statements of each version, the first to the newest."""
    readable_from: int = 1

    @property
    def version(self) -> int:
        return len(self.steps)

    @property
    def tables(self) -> list[str]:
        words = [statement.split() for step in self.steps for statement in step]
        return [name for verb, what, name, *_ in words if (verb, what) == ("create", "table")]


RECORDS: Final = Schema(
    (
        (
            """create table turns (tenant text not null, tail text not null, id text not null, status text not null,
            created integer not null, model text not null, parent text, conversation text, background integer not null,
            streamed integer not null, lasting integer not null, form integer not null, checksum integer not null,
            answer blob not null, input blob not null, output blob not null, gone integer not null, ended integer,
            seen integer, primary key (tenant, tail)) strict""",
            "create index turns_by_parent on turns (tenant, parent, tail) where parent is not null",
            "create index turns_by_end on turns (lasting, ended) where gone = 0",
            "create index turns_in_doubt on turns (gone) where gone = 2",
            "create index turns_by_conversation on turns (tenant, conversation, seen, tail) where seen is not null",
            """create table items (n integer primary key, tenant text not null, item text not null, tail text not null)
            strict""",
            "create unique index items_once on items (tenant, item, tail)",
            "create index items_by_turn on items (tenant, tail)",
            """create table runs (n integer primary key, tenant text not null, tail text not null, id text not null,
            worker text not null, over integer not null, unique (tenant, tail)) strict""",
            "create index runs_by_worker on runs (worker)",
            "create table workers (id text primary key, until real not null) strict",
            """create table conversations (tenant text not null, id text not null, created integer not null,
            meta blob not null, touched integer not null, version integer not null, last integer not null,
            locked_by text not null, lock_response text not null, primary key (tenant, id)) strict""",
            "create index conversations_by_use on conversations (touched)",
            """create table entries (tenant text not null, conversation text not null, position integer not null,
            item text not null, tail text not null, added integer not null, dropped integer,
            primary key (tenant, conversation, position)) strict, without rowid""",
            "create index entries_by_turn on entries (tenant, tail)",
            "create index entries_by_item on entries (tenant, conversation, item)",
        ),
    )
)

LIVE: Final = Schema(
    (
        (
            """create table logs (tenant text not null, id text not null, next integer not null, bytes integer not null,
            state integer not null, touched integer not null, primary key (tenant, id)) strict, without rowid""",
            "create index logs_by_use on logs (state, touched)",
            """create table log_rows (tenant text not null, id text not null, first integer not null,
            fresh integer not null, data blob not null, primary key (tenant, id, first)) strict""",
            """create table memos (tenant text not null, key text not null, data blob not null,
            expires integer not null, primary key (tenant, key)) strict, without rowid""",
            "create index memos_by_end on memos (expires)",
        ),
        (
            """create table meters (tenant text not null, unit text not null, full_at real not null, seen real not null,
            primary key (tenant, unit)) strict, without rowid""",
            "create table queues (name text primary key, last integer not null) strict, without rowid",
            """create table tickets (queue text not null, id text not null, n integer not null, worker text not null,
            primary key (queue, id)) strict, without rowid""",
            "create index tickets_by_worker on tickets (worker)",
            "create table holders (worker text primary key, until real not null) strict, without rowid",
        ),
    )
)
