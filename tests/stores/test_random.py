"""Whatever two tenants do: every engine gives what memory gives."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.core.stored.conversation import Order
from proxy.core.stored.record import FINAL, Record, Status
from proxy.shell.stores.protocol import Cursor, Key, LogRow, Ticket, Want
from tests.support.postgres import fresh_url
from tests.support.stores import Terms, ids_of, make_live, make_records, record, run, talk

TALKS = [talk() for _ in range(3)]
FOREIGN = ("x", "y", "z")
KEYS = [Key(tenant, id) for tenant in "ab" for id in ("r1", "r2")]


def pool() -> list[Record]:
    """Responses in which everything occurs: chains, forks, conversations, items of others, brief ones."""
    a, b = record(foreign=("x",)), record(inputs=0)
    c = record(parent=a, foreign=("y", ids_of(a)[0]))
    d = record(parent=c, foreign=("x", "z"))
    made = [a, b, c, d, record(parent=c), record(parent=b, lasting=False)]
    made += [record(conversation=each, foreign=FOREIGN[n:]) for n, each in enumerate(TALKS)]
    made += [record(conversation=TALKS[0]), record(parent=made[6])]
    made += [run(), run(conversation=TALKS[0]), run(conversation=TALKS[1]), run(lasting=False), run(parent=d)]
    return made


POOL = pool()
ITEMS = sorted({*FOREIGN, "unknown", *(id for each in POOL for id in ids_of(each))})

tenants = st.sampled_from("ab")
workers = st.sampled_from(["v", "w"])
talks = st.sampled_from([each.id for each in TALKS])
kept = st.sampled_from(POOL)
ids = kept.map(lambda each: each.id)
begun = st.sampled_from([each for each in POOL if not each.is_final])
items = st.lists(st.sampled_from(ITEMS), max_size=3)


@st.composite
def endings(draw: st.DrawFn) -> tuple[Record, tuple[str, ...]]:
    made = draw(begun)
    done = replace(
        made, status=draw(st.sampled_from(sorted(FINAL))), answer=draw(st.sampled_from([b"{}", b'{"a":1}']))
    )
    return done, tuple(ids_of(done)) if draw(st.booleans()) else ()


@st.composite
def saves(draw: st.DrawFn) -> tuple[str, Record, tuple[str, ...], str]:
    made = draw(st.sampled_from([each for each in POOL if each.is_final]))
    entries = tuple(draw(st.sampled_from([ids_of(made), []]))) + tuple(draw(items))
    return draw(tenants), made, entries, draw(st.sampled_from(["", "v", "w"]))


tickets = st.builds(Ticket, st.sampled_from("pq"), st.sampled_from("abcde"))


def wants(*units: int) -> st.SearchStrategy[list[Want]]:
    want = st.builds(Want, st.sampled_from("rc"), st.sampled_from([2, 3, 60]), st.sampled_from(units))
    return st.lists(want, max_size=2, unique_by=lambda want: want.unit)


def events(first: int, count: int) -> list[bytes]:
    return [b'"%d"' % number for number in range(first, first + count)]


def call(name: str, *arguments: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.just(name), st.tuples(*arguments))


CALLS = st.one_of(
    saves().map(lambda arguments: ("save", arguments)),
    saves().map(lambda arguments: ("save", arguments)),
    call("begin", tenants, begun, workers),
    call("begin", tenants, begun, workers),
    call("start", tenants, ids, workers, st.just(b'{"started":1}')),
    st.tuples(tenants, endings(), workers).map(lambda a: ("finish", (a[0], a[1][0], a[2], a[1][1]))),
    st.tuples(tenants, endings()).map(lambda a: ("cancel", (a[0], a[1][0]))),
    call("get", tenants, ids),
    call("chain", tenants, ids, st.sampled_from([2, 9])),
    call("items", tenants, st.just(ITEMS)),
    call("delete", tenants, ids),
    call("delete", tenants, ids),
    st.tuples(tenants, st.sampled_from(TALKS)).map(lambda a: ("create", a)),
    call("conversation", tenants, talks),
    call("update", tenants, talks, st.just(b'{"a":"b"}')),
    call("remove", tenants, talks),
    st.tuples(tenants, kept, workers).map(
        lambda a: ("lock", (a[0], a[1].conversation or TALKS[2].id, a[2], a[1].id))
    ),
    call("unlock", tenants, talks, ids),
    call("entries", tenants, talks),
    call(
        "page", tenants, talks, st.sampled_from(Order), st.none() | st.sampled_from(ITEMS), st.integers(1, 4)
    ),
    call("add", tenants, talks, kept.map(lambda each: replace(each, status=Status.COMPLETED))),
    call("entry", tenants, talks, st.sampled_from(ITEMS)),
    call("drop", tenants, talks, st.sampled_from(ITEMS)),
    call("beat", workers),
    call("leave", workers),
    call("cancelled", workers),
    call("runs", workers),
    call("settle", st.just(50)),
    call("sweep", st.just(500)),
    call("size"),
    call("forget", tenants),
    st.tuples(st.just("pass"), st.sampled_from([1, 30, 700, 50_000, 3_000_000])),
    st.tuples(st.just("patient"), st.booleans()),
)

LIVE_CALLS = st.one_of(
    st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 12), st.integers(1, 5)), min_size=1, max_size=3).map(
        lambda rows: ("append", ([LogRow(key, n, events(n, many)) for key, n, many in rows],))
    ),
    st.lists(st.builds(Cursor, st.sampled_from(KEYS), st.integers(0, 15)), max_size=3).flatmap(
        lambda wanted: st.sampled_from([1, 20, 1000]).map(lambda most: ("read", (wanted, most)))
    ),
    call("shut", st.sampled_from(KEYS)),
    call("end", st.sampled_from(KEYS), st.integers(0, 12), st.sampled_from([b'"a"', b'"b"'])),
    call("drop", st.sampled_from(KEYS)),
    call("remember", tenants, st.dictionaries(st.sampled_from("kl"), st.binary(max_size=3)), st.integers(1, 1000)),
    call("recall", tenants, st.just(["k", "l"])),
    call("sweep", st.just(50)),
    call("take", tenants, wants(0, 1, 2)),
    call("charge", tenants, wants(-1, 0, 1, 5)),
    call("enter", workers, st.lists(tickets, max_size=3)),
    call("ranks", workers),
    call("leave", st.lists(tickets, max_size=2)),
    st.tuples(st.just("pass"), st.sampled_from([1, 30, 599, 700, 86_400])),
    st.tuples(st.just("jump"), st.sampled_from([-1, -40, -10_000])),
)  # fmt: skip


async def answer(engine: Any, name: str, arguments: tuple[Any, ...]) -> Any:
    try:
        found = await getattr(engine, name)(*arguments)
    except Exception as failure:
        return type(failure), str(failure)
    if (
        name == "take"
    ):  # after a refusal what was taken is given back, and the sum may differ in the last digit
        return type(found), [round(seconds, 6) for seconds in found.full_in]
    return replace(found, bytes=0) if name == "size" else found


async def same(kinds: list[tuple[Any, str]], calls: list[tuple[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        terms = Terms()
        terms.keeping = replace(terms.keeping, conversation_seconds=1_000_000)
        file = Path(folder) / "store.db"
        engines = [
            make(kind, terms, await fresh_url() if kind == "postgresql" else file) for make, kind in kinds
        ]
        for engine in engines:
            await engine.open()
        try:
            await _same(engines, calls, terms)
        finally:
            for engine in engines:
                await engine.close()


async def _same(engines: list[Any], calls: list[tuple[str, Any]], terms: Terms) -> None:
    removed = set()
    for name, arguments in calls:
        if name == "pass":
            terms.date += arguments
            terms.steady += arguments
        elif name == "jump":
            terms.steady += arguments
        elif name == "patient":
            terms.patient = arguments
        elif name != "create" or arguments[1].id not in removed:  # an id is never made twice
            reference, *others = [await answer(engine, name, arguments) for engine in engines]
            assert others == [reference] * len(others), (name, arguments)
            removed |= {arguments[1]} if name == "remove" else set()
            if name == "forget":
                removed |= {each.id for each in TALKS}


KINDS = ("memory", "sealed sqlite", "postgresql")
START = [("create", (tenant, each)) for tenant in "ab" for each in TALKS]
MOST = int(os.environ.get("STORE_EXAMPLES", "100"))
"""More of them are new ones each time."""
SETTINGS = settings(
    deadline=None,
    database=None,
    max_examples=MOST,
    derandomize=MOST == 100,
    suppress_health_check=list(HealthCheck),
)


@SETTINGS
@given(st.lists(CALLS, min_size=10, max_size=80))
def test_records(calls: list[tuple[str, Any]]) -> None:
    asyncio.run(same([(make_records, kind) for kind in KINDS], START + calls))


@SETTINGS
@given(st.lists(LIVE_CALLS, min_size=5, max_size=60))
def test_live(calls: list[tuple[str, Any]]) -> None:
    asyncio.run(same([(make_live, kind) for kind in (*KINDS, "sealed redis")], calls))
