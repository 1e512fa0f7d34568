"""Keys that are added, rotated and lost, and bytes that are tampered with, in every engine that keeps anything
beyond its process (U61). That sealed engines do what all others do is asked in the other modules here."""

import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from redis.asyncio import Redis

from proxy.core.stored.conversation import Conversation, Order
from proxy.core.stored.record import Record, Status
from proxy.shell.stores.protocol import (
    Cursor,
    FoundConversation,
    Key,
    LogExcerpt,
    LogRow,
    Outcome,
    RecordUnreadable,
)
from proxy.shell.stores.sealing.aes import AesKey
from proxy.shell.stores.sealing.seals import NO_SEALS, Reason, Seals, What
from proxy.shell.stores.sql.sealing_steps import BEFORE_ALL
from tests.support.postgres import fresh_url
from tests.support.redis_live import patient, prefix_of_its_own
from tests.support.redis_server import shared_url
from tests.support.stores import SEALS, Terms, ids_of, make_live, postgres_at, record, run, sqlite_at, talk

OLD, NEW = AesKey("the key of last year, 1"), AesKey("the key of this year, 2")
SECRET = "the word that nobody else may read"
METADATA = b'{"topic":"%s"}' % SECRET.encode()
PLENTY = 1 << 20
LOST = pytest.raises(RecordUnreadable, match=r"is sealed with a key that is not in store\.keys")


class Place:
    """Where things are kept, to be opened with one list of keys after another."""

    def __init__(self, kind: str, where: Any, stack: AsyncExitStack) -> None:
        self.kind, self.where = kind, where
        self.terms = Terms()
        self.told: list[tuple[str, str]] = []
        self._stack = stack

    async def records(self, *keys: AesKey) -> Any:
        make: Any = sqlite_at if self.kind == "sqlite" else postgres_at
        return await self._opened(make(self.where, self.terms, seals=self._seals(*keys)))

    async def live(self, *keys: AesKey) -> Any:
        seals = self._seals(*keys)
        if self.kind == "redis":
            return await self._opened(patient(shared_url(), self.where, seals=seals))
        where = self.where.with_name("live.db") if self.kind == "sqlite" else self.where
        return await self._opened(make_live(self.kind, self.terms, where, seals))

    def _seals(self, *keys: AesKey) -> Seals:
        return Seals(keys, lambda what, reason, *_: self.told.append((what, reason)))

    async def _opened(self, engine: Any) -> Any:
        await engine.open()
        self._stack.push_async_callback(engine.close)
        return engine

    async def change(self, statement: str, *values: Any, file: str = "") -> None:
        """As nobody should."""
        if self.kind == "sqlite":
            with closing(sqlite3.connect(self.where.with_name(file or self.where.name))) as connection:
                connection.execute(statement, values)
                connection.commit()
            return
        numbered = statement
        for number in range(1, len(values) + 1):
            numbered = numbered.replace("?", f"${number}", 1)
        connection = await asyncpg.connect(self.where)
        await connection.execute(numbered, *values)
        await connection.close()


@asynccontextmanager
async def place_of(kind: str, folder: Path) -> AsyncIterator[Place]:
    where: Any = folder / "state.db"
    if kind == "postgresql":
        where = await fresh_url()
    elif kind == "redis":
        where = prefix_of_its_own()
    async with AsyncExitStack() as stack:
        yield Place(kind, where, stack)


@pytest.fixture(params=["sqlite", "postgresql"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with place_of(request.param, tmp_path) as place:
        yield place


@pytest.fixture(params=["sqlite", "postgresql", "redis"])
async def live_place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with place_of(request.param, tmp_path) as place:
        yield place


def said(**members: Any) -> Record:
    return record(text=SECRET, **members)


# ── keys ──


async def test_a_key_is_added_and_rotated_and_all_of_it_is_read(place: Place) -> None:
    """U61: a chain and a conversation that three of them have written."""
    kept: list[Record] = []
    conversation = replace(talk(), metadata=METADATA)
    await (await place.records()).create("t", conversation)
    for keys in ((), (OLD,), (NEW, OLD)):
        records = await place.records(*keys)
        kept.append(said(parent=kept[-1] if kept else None))
        await records.save("t", kept[-1])
        await records.add("t", conversation.id, said())
        assert await records.chain("t", kept[-1].id, 9) == kept
        assert len(await records.entries("t", conversation.id)) == 2 * len(kept)
        found = await records.conversation("t", conversation.id)
        assert found == FoundConversation(conversation, None)
        await records.update("t", conversation.id, METADATA)
    assert [await records.get("t", each.id) for each in kept] == kept
    assert place.told == []


async def test_a_key_that_is_lost_costs_what_it_has_sealed_and_nothing_else(place: Place) -> None:
    """U61: with the other key, and with none at all. The sweeper, lists and counts go on."""
    before = await place.records(OLD)
    lost, child = said(), None
    await before.save("t", lost)
    child = said(parent=lost)
    await before.save("t", child)
    for keys in ((NEW,), ()):
        records = await place.records(*keys)
        own = said()
        await records.save("t", own)
        for id in (lost.id, child.id):
            with LOST:
                await records.get("t", id)
        with LOST:
            await records.chain("t", child.id, 9)
        with LOST:
            await records.items("t", ids_of(lost))
        assert await records.chain("t", own.id, 9) == [own]
        assert list(await records.items("t", ids_of(own))) == ids_of(own)
        assert await records.settle(9) == []
        assert await records.sweep(50) == (0, 0, 0)
    assert (await records.size()).responses == 4
    assert set(place.told) == {(What.RESPONSE, Reason.NO_KEY)}
    assert await before.chain("t", child.id, 9) == [lost, child]


async def test_what_cannot_be_read_can_be_deleted_and_expires(place: Place) -> None:
    """U61: nobody needs a key for that. What continues it keeps its history, for who has the key."""
    before, after = await place.records(OLD), await place.records(NEW)
    parent, work, other = said(), run(text=SECRET), said()
    child = said(parent=parent)
    for each in (parent, child, other):
        await before.save("t", each)
    await before.begin("t", work, "w")
    assert await after.delete("t", work.id) is False
    assert await after.delete("t", parent.id) is True
    assert await after.delete("t", parent.id) is await after.delete("u", child.id) is None
    assert await before.get("t", parent.id) is None
    assert await after.get("t", parent.id) is None, "it is gone, whatever is still in it"
    assert await before.chain("t", child.id, 9) == [replace(parent, answer=b""), child]
    place.terms.date += 31 * 86_400
    assert (await after.sweep(50)).expired == 2
    place.terms.steady += 46
    assert await after.delete("t", work.id) is True
    assert (await after.size()).responses == 0


async def test_a_conversation_goes_on_around_what_cannot_be_read(place: Place) -> None:
    """U61: items that can be read, its deletion, its metadata anew; never fewer items as if they were all."""
    before, after = await place.records(OLD), await place.records(NEW)
    conversation = replace(talk(), metadata=METADATA)
    await before.create("t", conversation, said())
    added = await after.add("t", conversation.id, said())
    with LOST:
        await after.conversation("t", conversation.id)
    with LOST:
        await after.entries("t", conversation.id)
    with LOST:
        await after.lock("t", conversation.id, "w", "resp_x")
    assert await before.conversation("t", conversation.id) == FoundConversation(conversation, None)
    assert await after.page("t", conversation.id, Order.DESCENDING, None, 2) == added[::-1]
    assert await after.entry("t", conversation.id, added[0].id)
    assert await after.update("t", conversation.id, b"{}") == Conversation(
        conversation.id, conversation.created, b"{}"
    )
    assert (await after.conversation("t", conversation.id)).conversation.metadata == b"{}"
    assert await after.remove("t", conversation.id) is True


async def test_an_id_that_a_client_uses_again_is_not_lost_with_its_first_use(place: Place) -> None:
    """U61: the id of an item that cannot be read is free for the same client's next conversation."""
    before, after = await place.records(OLD), await place.records(NEW)
    await before.create("t", talk(), said(inputs=0, outputs=0, foreign=("msg_1",)))
    conversation = talk()
    await after.create("t", conversation)
    added = await after.add("t", conversation.id, said(inputs=0, outputs=0, foreign=("msg_1",)))
    assert [SECRET in entry.item.decode() for entry in added] == [True]
    assert await after.entries("t", conversation.id) == added


# ── sealed anew ──


async def sealed_anew(records: Any, what: What) -> tuple[int, int, int]:
    after, looked_at, done, unread, steps = BEFORE_ALL, 0, 0, 0, 0
    while (step := await records.seal(what, after)).last is not None:
        after = step.last
        looked_at, done, unread = looked_at + step.looked_at, done + step.sealed, unread + step.unread
        steps += 1
    assert steps >= looked_at / 50
    return looked_at, done, unread


async def test_what_an_old_key_has_sealed_or_none_gets_the_new_one(place: Place) -> None:
    """U61: all but what nobody can read any more; then the old key is not needed. Nothing else of a row changes."""
    lost, before = await place.records(AesKey("a key that is lost for ever")), await place.records()
    plain, unreadable = [said() for _ in range(60)], said()
    await lost.save("t", unreadable)
    for each in plain:
        await before.save("t", each)
    old = await place.records(OLD)
    sealed, work, conversation = said(parent=plain[0]), run(text=SECRET), replace(talk(), metadata=METADATA)
    await old.save("u", other := said())
    await old.save("t", sealed)
    await old.delete("t", plain[0].id)
    await old.begin("t", work, "w")
    await old.create("t", conversation, said())
    size = await old.size()
    rotated = await place.records(NEW, OLD)
    assert await sealed_anew(rotated, What.RESPONSE) == (65, 64, 1)
    assert await sealed_anew(rotated, What.RESPONSE) == (65, 0, 1)
    assert await sealed_anew(rotated, What.CONVERSATION) == (1, 1, 0)
    after = await place.records(NEW)
    assert (await after.size()).responses == size.responses
    assert [await after.get("t", each.id) for each in plain[1:]] == plain[1:]
    assert await after.chain("t", sealed.id, 9) == [replace(plain[0], answer=b""), sealed]
    assert await after.get("u", other.id) == other
    assert await after.conversation("t", conversation.id) == FoundConversation(conversation, None)
    assert len(await after.entries("t", conversation.id)) == 2
    done = replace(work, status=Status.COMPLETED)
    assert await after.finish("t", done, "w") is Outcome.DONE
    place.terms.date += 31 * 86_400
    swept = 0
    while expired := (await after.sweep(50)).expired:
        swept += expired
    assert swept == size.responses


async def test_no_step_is_longer_than_a_save_may_wait(place: Place) -> None:
    """U59, U61: of large rows there are few in one."""
    before, after = await place.records(), await place.records(NEW)
    for _ in range(5):
        await before.save("t", record(text="x" * 400_000))
    step = await after.seal(What.RESPONSE, BEFORE_ALL)
    assert step[:3] == (2, 2, 0)
    assert await sealed_anew(after, What.RESPONSE) == (5, 3, 0)


async def test_nothing_of_what_was_plain_stays_in_the_files(tmp_path: Path) -> None:
    """U61: SQLite overwrites what it gives up."""
    async with place_of("sqlite", tmp_path) as place:
        before = await place.records()
        for _ in range(20):
            await before.save("t", record(text=SECRET * 500))
        await before.close()
        assert SECRET.encode() in await everything_in(place)
        after = await place.records(NEW)
        await sealed_anew(after, What.RESPONSE)
        await after.close()
        assert SECRET.encode() not in await everything_in(place)


# ── owners ──


async def test_what_the_dead_have_begun_ends_where_it_cannot_be_read(place: Place) -> None:
    """U61, U64: a process without the key says so once, gives up the lock, and leaves the end to who can write it."""
    before, after = await place.records(OLD), await place.records(NEW)
    conversation = talk()
    await before.create("t", conversation)
    work, more = run(text=SECRET, conversation=conversation), [run(text=SECRET) for _ in range(3)]
    for each in (work, *more):
        await before.begin("t", each, "w")
    place.terms.steady += 46
    settled = await after.settle(2) + await after.settle(9)
    assert sorted(settled) == sorted(Key("t", each.id) for each in (work, *more))
    assert await after.settle(9) == []
    with LOST:
        await after.get("t", work.id)
    own = run(conversation=conversation)
    assert not (await after.begin("t", own, "v")).entries
    assert await before.finish("t", replace(work, status=Status.COMPLETED), "w") is Outcome.LOST
    for each in (work, *more):
        assert (await before.get("t", each.id)).status is Status.FAILED
    assert await before.finish("t", replace(own, status=Status.COMPLETED), "v") is Outcome.DONE


async def test_a_dead_owners_lock_is_free_where_its_work_cannot_be_read(place: Place) -> None:
    """U46, U61: who comes before the sweeper."""
    before, after = await place.records(OLD), await place.records(NEW)
    conversation = talk()
    await before.create("t", conversation)
    work = run(text=SECRET, conversation=conversation)
    await before.begin("t", work, "w")
    place.terms.steady += 46
    assert not (await after.lock("t", conversation.id, "v", "resp_x")).entries
    assert (await before.get("t", work.id)).status is Status.FAILED
    assert (await before.conversation("t", conversation.id)).locked_by == "resp_x"


async def test_the_end_of_work_heals_what_was_tampered_with_meanwhile(place: Place) -> None:
    """U61: its owner knows all that the row must have."""
    records = await place.records(OLD)
    work = run(text=SECRET)
    await records.begin("t", work, "w")
    await place.change("update turns set input = ? where id = ?", b"[]", work.id)
    with pytest.raises(RecordUnreadable, match="is damaged"):
        await records.start("t", work.id, "w", b"{}")
    done = replace(work, status=Status.COMPLETED)
    assert await records.finish("t", done, "w") is Outcome.DONE
    assert await records.get("t", work.id) == done


# ── bytes ──


async def test_bytes_that_were_tampered_with_are_never_shown(place: Place) -> None:
    """U61: changed, cut, taken out, and another's; each costs one response."""
    records = await place.records(OLD)
    kept = [said() for _ in range(6)]
    for each in kept:
        await records.save("t", each)
    sealed = b"without a head" + OLD.sealed(b"[]", b"")
    for column, value, each in (
        ("input", sealed, kept[0]),
        ("input", b"[]", kept[1]),
        ("answer", b"", kept[2]),
        ("output", b"\xfe\x01", kept[3]),
    ):
        await place.change(f"update turns set {column} = ? where id = ?", value, each.id)
    other = kept[5].id
    copied = "(select input from turns where id = ?)"
    await place.change(f"update turns set input = {copied} where id = ?", other, kept[4].id)
    for each in kept[:5]:
        with pytest.raises(RecordUnreadable, match=f"{each.id} is damaged"):
            await records.get("t", each.id)
    assert await records.get("t", other) == kept[5]
    assert place.told == [(What.RESPONSE, Reason.DAMAGED)] * 5


async def test_metadata_that_was_tampered_with_is_never_shown(place: Place) -> None:
    records = await place.records(OLD)
    one, other = (replace(talk(), metadata=METADATA) for _ in range(2))
    for each in (one, other):
        await records.create("t", each)
    for value in (b"", b"{", b"\xff", b"\xfe\x01", b"without a head" + OLD.sealed(b"{}", b"")):
        await place.change("update conversations set meta = ? where id = ?", value, one.id)
        with pytest.raises(RecordUnreadable, match="is damaged"):
            await records.conversation("t", one.id)
    assert (await records.conversation("t", other.id)).conversation == other
    assert set(place.told) == {(What.CONVERSATION, Reason.DAMAGED)}


# ── what may vanish ──


async def read(live: Any, id: str, next: int = 0) -> LogExcerpt | None:
    cursor = Cursor(Key("t", id), next)
    found: LogExcerpt | None = (await live.read([cursor], PLENTY))[cursor]
    return found


def events(first: int, count: int = 3) -> list[bytes]:
    return [b'{"n":%d,"text":"%s"}' % (n, SECRET.encode()) for n in range(first, first + count)]


async def test_a_log_goes_on_when_a_key_comes(live_place: Place) -> None:
    """U61: rows of before, of the old key and of the new one are one log."""
    for first, keys in enumerate(((), (OLD,), (NEW, OLD))):
        live = await live_place.live(*keys)
        await live.append([LogRow(Key("t", "resp_1"), 3 * first, events(3 * first))])
        assert await read(live, "resp_1") == LogExcerpt(events(0, 3 * first + 3), ended=False)
    await live.end(Key("t", "resp_1"), 9, b"{}")
    assert await read(live, "resp_1", 8) == LogExcerpt([*events(8, 1), b"{}"], ended=True)
    assert live_place.told == []


async def test_a_log_and_memos_of_a_lost_key_are_as_if_they_had_vanished(live_place: Place) -> None:
    """U61, U24: those alone."""
    before, after = await live_place.live(OLD), await live_place.live(NEW)
    for live, name in ((before, "resp_1"), (after, "resp_2")):
        await live.append([LogRow(Key("t", name), 0, events(0))])
        await live.remember("t", {name: SECRET.encode()}, 60)
    assert await read(after, "resp_1") is None
    assert await read(after, "resp_2") == LogExcerpt(events(0), ended=False)
    assert await after.recall("t", ["resp_1", "resp_2"]) == {"resp_2": SECRET.encode()}
    assert set(live_place.told) == {(What.LOG, Reason.NO_KEY), (What.MEMO, Reason.NO_KEY)}
    assert await before.recall("t", ["resp_1"]) == {"resp_1": SECRET.encode()}


# ── what others could read ──


async def everything_in(live_place: Place) -> bytes:
    """All that lies there, as its server or its files have it, with what is not yet in its place."""
    if live_place.kind == "sqlite":
        return b"".join(path.read_bytes() for path in sorted(live_place.where.parent.iterdir()))
    if live_place.kind == "postgresql":
        connection = await asyncpg.connect(live_place.where)
        tables = await connection.fetch("select tablename from pg_tables where schemaname = current_schema()")
        rows = [row for (table,) in tables for row in await connection.fetch(f'select * from "{table}"')]
        await connection.close()
        return b"".join(
            value if isinstance(value, bytes) else str(value).encode() for row in rows for value in row
        )
    client = Redis.from_url(shared_url())
    found = b""
    async for key in client.scan_iter(f"{live_place.where}:*"):
        kind = await client.type(key)
        if kind == b"hash":
            found += b"".join([name + value for name, value in (await client.hgetall(key)).items()])
        elif kind == b"stream":
            found += b"".join([value for _, fields in await client.xrange(key) for value in fields.values()])
    await client.aclose()
    return found


@pytest.mark.parametrize("sealed", [False, True])
async def test_no_word_of_a_conversation_can_be_found_where_it_lies(live_place: Place, sealed: bool) -> None:
    """U61: in files, in the writes beside them, in tables, in the memory of a server. Without keys it is there."""
    keys = [OLD] * sealed
    live = await live_place.live(*keys)
    await live.remember("t", {"memo": SECRET.encode()}, 60)
    await live.append([LogRow(Key("t", "resp_1"), 0, events(0))])
    if live_place.kind != "redis":
        records = await live_place.records(*keys)
        await records.save("t", said())
        await records.begin("t", run(text=SECRET), "w")
        await records.create("t", replace(talk(), metadata=METADATA), said(foreign=("msg_1",)))
    lies = await everything_in(live_place)
    assert (SECRET.encode() in lies) is not sealed
    assert (OLD.id in lies) is sealed


async def test_no_row_of_a_log_is_left_unsealed(tmp_path: Path) -> None:
    """They are packed, so that no word could be found in them."""
    live = make_live("sealed sqlite", Terms(), tmp_path / "live.db")
    await live.open()
    for first in range(40):
        await live.append([LogRow(Key("t", "resp_1"), first, events(first, 1))])
    await live.end(Key("t", "resp_1"), 40, b"{}")
    await live.close()
    with closing(sqlite3.connect(tmp_path / "live.db")) as connection:
        rows = connection.execute("select data from log_rows").fetchall()
    assert len(rows) == 41
    assert all(data.startswith(SEALS.head) for (data,) in rows)


# ── what it costs ──

SAVES, ROUNDS = 150, 7
MOST = 0.4


async def processor_time_of_a_save(path: Path, seals: Seals) -> float:
    engine = sqlite_at(path, seals=seals)
    await engine.open()
    records = [record(text="x" * 4000) for _ in range(SAVES)]
    began = time.process_time()
    for each in records:
        await engine.save("t", each)
    took = time.process_time() - began
    await engine.close()
    return took / SAVES


async def test_what_a_seal_adds_to_a_save(tmp_path: Path) -> None:
    """The quickest of some rounds each, taken in turn: others work on the machine meanwhile."""
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(ROUNDS):
        for sealed, found in times.items():
            path = tmp_path / f"{number}{sealed}.db"
            found.append(await processor_time_of_a_save(path, SEALS if sealed else NO_SEALS))
    assert min(times[True]) < (1 + MOST) * min(times[False])
