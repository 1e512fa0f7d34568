"""The runs of a process: places, what others have done to them, and what the store believes of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from proxy.core import jsontext
from proxy.core.errors import ClientFault, Fault
from proxy.core.policy.shares import Loan
from proxy.core.stored import endings
from proxy.core.stored.conversation import Conversation
from proxy.core.stored.record import Record, Status
from proxy.core.stored.so_far import OutputSoFar
from proxy.shell.runs import runs as module
from proxy.shell.stores.protocol import Cursor, LogRow, StoreDown
from tests.support.runs import TENANT, WORKER, World, as_it_is, completed, event, key_of, queued, world
from tests.support.stores import MINT, item

PROMPTLY = 5.0


async def refused(made: World, record: Record) -> Fault:
    loan = Loan(made.shares, TENANT)
    loan.take(10)
    with pytest.raises(Fault) as caught:
        await made.runs.begin(TENANT, record, as_it_is, loan)
    loan.end()
    assert not made.shares.has(TENANT) or made.counted("runs")[("queued",)] > 0
    return caught.value


async def cut(events: Sequence[bytes]) -> bytes:
    return OutputSoFar(events).cut()


async def test_u37_there_are_only_so_many_places() -> None:
    async with world(places=1) as made:
        run = await made.begin(queued())
        assert (await refused(made, queued())).status == 429
        run.go(asyncio.sleep(0))
        await run.ended()
        other = await made.begin(queued())
        other.go(asyncio.sleep(0))


async def test_u37_nobody_takes_the_places_of_all() -> None:
    """One alone has what is configured; whoever comes next finds something; all together have twice as much."""
    async with world(places=6) as made:
        runs = [await made.begin(queued()) for _ in range(6)]
        assert (await refused(made, queued())).status == 429
        others = [await made.begin(queued(), tenant="other") for _ in range(3)]
        with pytest.raises(Fault, match="in the background"):
            await made.begin(queued(), tenant="other")
        await made.begin(queued(), tenant="third")
        for run in (*runs, *others):
            run.go(asyncio.sleep(0))
            await run.ended()
        assert [await made.begin(queued(), tenant="other") for _ in range(4)]


async def test_what_is_refused_leaves_no_place_taken_and_no_memory() -> None:
    """U25: also when the store does not say what became of it."""
    async with world(places=1) as made:
        made.records.down["begin"] = 1
        assert (await refused(made, queued())).code == "storage_error"
        talk = MINT.conversation()
        assert (await refused(made, queued(conversation=talk))).code == "conversation_not_found"
        await made.records.create(TENANT, Conversation(talk, 1))
        await made.records.lock(TENANT, talk, WORKER, "resp_1")
        assert (await refused(made, queued(conversation=talk))).code == "conversation_locked"
        assert (await refused(made, queued(input=b"[%b]" % (b"1" * (1 << 20))))).status == 413
        assert set(made.counted("runs").values()) == {0}
        await made.begin(queued())


async def test_t95_a_run_that_was_ended_elsewhere_is_left() -> None:
    """U30: and the store is told that it was heard."""
    async with world() as made:
        run = await made.begin(queued(streamed=False))
        left = asyncio.Event()

        async def works() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                left.set()

        run.go(works())
        await asyncio.sleep(0)
        await made.records.cancel(TENANT, endings.cancelled(run.record))
        made.records.down["cancelled"] = 1
        async with asyncio.timeout(PROMPTLY):
            await left.wait()
            await run.ended()
            while await made.records.cancelled(WORKER):
                pass
        assert (await made.kept(run.record)).status is Status.CANCELLED
        assert module.HEAR_SECONDS in made.slept


async def test_nobody_asks_for_ever_what_became_of_the_last_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_ROUNDS", 3)
    async with world() as made:
        run = await made.begin(queued(streamed=False))
        run.go(asyncio.sleep(0))
        await run.ended()
        for _ in range(100):
            await asyncio.sleep(0)
        asked = made.records.asked.count("cancelled")
        assert 3 <= asked <= 6
        for _ in range(100):
            await asyncio.sleep(0)
        assert made.records.asked.count("cancelled") == asked


async def test_u25_what_the_store_believes_to_be_under_way_here_is_ended() -> None:
    """Its beginning was not known to have been done."""
    async with world() as made:
        unknown = queued()
        await made.records.begin(TENANT, unknown, WORKER)
        line = await made.log.wait_for("run_lost")
        assert line["response_id"] == unknown.id
        assert (await made.kept(unknown)).status is Status.FAILED
        assert made.counted("runs_lost") == {(): 1}


async def test_what_cannot_be_read_holds_up_no_other_run() -> None:
    """U61: one that was cancelled elsewhere and is not known here, one that is believed to be under way here, and one
    that is."""
    async with world(started=False) as made:
        cancelled, unknown = queued(streamed=False), [queued(streamed=False) for _ in range(2)]
        for each in (cancelled, *unknown):
            await made.records.begin(TENANT, each, WORKER)
        await made.records.cancel(TENANT, endings.cancelled(cancelled))
        run = await made.begin(queued(streamed=False))
        run.go(asyncio.Event().wait())
        made.records.unreadable["get"] = 2  # of the first that is cancelled, and the first that is unknown
        made.runs.start()
        await made.log.wait_for("run_lost")
        assert await made.records.cancelled(WORKER) == []
        await made.records.cancel(TENANT, endings.cancelled(run.record))
        async with asyncio.timeout(PROMPTLY):
            await run.ended()
        await made.log.wait_for("run_lost", times=2)


# ── for clients ──


async def running(made: World, *kinds: str) -> Record:
    run = await made.begin(queued())
    run.go(asyncio.Event().wait())
    run.channel.release()
    for number, kind in enumerate(kinds):
        item = {"id": "msg_1", "type": "message", "status": "completed", "content": []}
        run.channel.emit(event(number, kind, output_index=0, item=item))
    run.channel.push()
    async with asyncio.timeout(PROMPTLY):
        await run.log.drained.wait()
    return run.record


DONE = ("response.created", "response.output_item.done")


async def test_t50_cancelled_with_what_was_said() -> None:
    async with world() as made:
        record = await running(made, *DONE)
        assert [told["type"] for told in await made.events(record)] == list(DONE)
        ended = await made.runs.cancel(TENANT, record, cut)
        assert ended is not None
        assert (ended.status, b"msg_1" in ended.output) == (Status.CANCELLED, True)
        cursor = Cursor(key_of(record), 2)
        replay = (await made.live.read([cursor], 1000))[cursor]
        assert (replay.ended, list(replay.events)) == (True, [endings.terminal_event(ended, 2)])
        assert await made.events(ended) == []


async def test_while_its_events_are_away_it_is_told_without_them() -> None:
    """U24: `GET` without a stream works."""
    async with world() as made:
        record = await running(made, *DONE)
        made.live.down |= {"read": 1}
        assert await made.runs.said(TENANT, record) == ()
        assert len(await made.runs.said(TENANT, record)) == len(DONE)


async def test_cancelled_although_its_events_have_vanished() -> None:
    """U24."""
    async with world() as made:
        record = await running(made, *DONE)
        made.live.down |= {"shut": 2}
        ended = await made.runs.cancel(TENANT, record, cut)
        assert ended is not None
        assert (ended.status, ended.output) == (Status.CANCELLED, b"[]")
        assert await made.runs.cancel(TENANT, queued(), cut) is None


async def test_u42_what_is_gone_cannot_be_followed() -> None:
    async with world() as made:
        record = await running(made, *DONE)
        done = endings.orphaned(record)
        await made.live.drop(key_of(record))
        made.runs._logs[key_of(record)].gone = True
        for each in (record, queued(), done):
            with pytest.raises(ClientFault, match="can no longer be streamed"):
                await made.runs.follower(TENANT, each, -1)


async def test_whoever_meets_a_final_record_with_an_open_log_closes_it() -> None:
    """U41."""
    async with world() as made:
        record = queued()
        await made.records.begin(TENANT, record, "dead")
        await made.live.append([LogRow(key_of(record), 0, [event(0)])])
        assert await made.runs.final(key_of(record)) is None or True
        ended = await made.records.cancel(TENANT, endings.orphaned(record))
        follower = await made.runs.follower(TENANT, ended, -1)
        async with asyncio.timeout(PROMPTLY):
            told = await follower.more()
        assert told == [event(0), endings.terminal_event(ended, 1)]
        assert await made.runs.final(key_of(record)) == ended


async def test_nobody_looks_after_a_run_of_this_process_or_while_the_store_is_down() -> None:
    async with world() as made:
        record = await running(made, *DONE)
        assert await made.runs.final(key_of(record)) is None
        assert await made.runs.final(key_of(queued())) is None
        other = queued()
        made.records.down["get"] = 1
        assert await made.runs.final(key_of(other)) is None


async def test_a_deleted_response_leaves_no_events() -> None:
    async with world() as made:
        record = queued()
        await made.live.append([LogRow(key_of(record), 0, [event(0)])])
        made.live.down["drop"] = 1
        await made.runs.forget(TENANT, record.id)
        await made.runs.forget(TENANT, record.id)
        cursor = Cursor(key_of(record), 0)
        assert (await made.live.read([cursor], 1))[cursor] is None


async def test_a_store_that_is_down_is_not_taken_for_an_unknown_response() -> None:
    async with world() as made:
        made.live.down["read"] = 1
        with pytest.raises(StoreDown):
            await made.runs.follower(TENANT, completed(queued()), -1)


async def test_u48_work_that_continues_what_is_gone_has_its_history_in_itself() -> None:
    """To its end, which knows nothing of that."""
    async with world() as made:
        gone = MINT.response()
        mine, both = (jsontext.dumps([item(id) for id in ids]) for ids in (["b"], ["a", "b"]))
        record = queued(streamed=False, parent=gone, input=mine)
        run = await made.begin(record, lambda record: replace(record, parent=None, input=both))
        assert (await made.kept(record)).input == both
        await run.asking()
        await run.save(replace(completed(run.record), parent=gone, input=mine), as_it_is)
        kept = await made.kept(record)
        assert (kept.status, kept.parent, kept.input) == (Status.COMPLETED, None, both)
        run.go(asyncio.sleep(0))
        await run.ended()
        large = queued(streamed=False, parent=gone)
        loan = Loan(made.shares, TENANT)
        loan.take(10)
        with pytest.raises(Fault, match="over 1 MiB"):
            await made.runs.begin(
                TENANT, large, lambda record: replace(record, parent=None, input=b"1" * (1 << 21)), loan
            )
        loan.end()
        assert not made.shares.has(TENANT)
