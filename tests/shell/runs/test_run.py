"""One run, when the store fails or somebody else is quicker: it ends once, and never by itself in silence."""

import asyncio

import pytest

from proxy.core.errors import ProxyFault
from proxy.core.stored import endings
from proxy.core.stored.record import Status
from proxy.shell.runs import run as module
from proxy.shell.runs.run import Left, Run, RunLeft
from proxy.shell.stores.protocol import Cursor
from tests.support.in_memory import Recorder
from tests.support.proxies import events, names
from tests.support.runs import TENANT, WORKER, World, as_it_is, completed, event, key_of, queued, world


async def opened(made: World) -> Run:
    """With the events of its beginning."""
    run = await made.begin(queued())
    for number, kind in enumerate(("response.created", "response.queued", "response.in_progress")):
        run.channel.emit(event(number, kind))
    await run.channel.flush()
    return run


async def ended(run: Run, made: World) -> None:
    """As the engine ends it."""
    await run.asking()
    assert await run.save(completed(run.record), as_it_is) is None
    run.channel.emit(event(3, "response.completed"))
    await run.channel.finish()


async def test_t43_from_its_beginning_to_its_end() -> None:
    async with world() as made:
        run = await opened(made)
        recorder = Recorder()
        run.go(ended(run, made))
        await run.show(recorder)
        found = events(b"".join(recorder.frames))
        assert names(found) == [
            "response.created",
            "response.queued",
            "response.in_progress",
            "response.completed",
            "done",
        ]
        await run.ended()
        assert (await made.kept(run.record)).status is Status.COMPLETED
        assert not made.shares.has(TENANT)
        assert set(made.counted("runs").values()) == {0}


async def test_u38_a_second_attempt_is_no_second_beginning() -> None:
    async with world() as made:
        run = await opened(made)
        await run.asking()
        await run.asking()
        assert made.records.asked.count("start") == 1
        assert made.counted("runs") == {("queued",): 0, ("in_progress",): 1}
        run.go(ended(run, made))
        await run.ended()


async def test_t85_the_store_may_be_away_for_a_while() -> None:
    async with world() as made:
        run = await opened(made)
        made.records.down |= {"start": 2, "finish": 5}
        made.live.down |= {"append": 2, "end": 1}
        run.go(ended(run, made))
        await run.ended()
        assert (await made.kept(run.record)).status is Status.COMPLETED


async def test_u24_whose_events_could_only_be_kept_in_part_is_not_followed_any_more() -> None:
    """Whoever finds its record final would close its log too early."""
    async with world() as made:
        run = await opened(made)
        made.live.down["append"] = float("inf")
        run.go(ended(run, made))
        await run.ended()
        kept = await made.kept(run.record)
        assert (kept.status, kept.streamed) == (Status.COMPLETED, None)
        made.live.down.clear()


async def test_a_store_that_does_not_come_back_refuses_before_the_backend_is_asked() -> None:
    async with world() as made:
        run = await opened(made)
        made.records.down["start"] = float("inf")
        with pytest.raises(ProxyFault) as refused:
            await run.asking()
        assert refused.value.code == "storage_error"
        run.go(asyncio.sleep(0))
        await run.ended()
        kept = await made.kept(run.record)
        assert (kept.status, made.slept.count(module.RETRY_SECONDS)) == (Status.FAILED, 2)


async def test_whose_beginning_cannot_be_read_fails_before_the_backend_is_asked() -> None:
    """U61: bytes of it were tampered with. Its end is written whole."""
    async with world() as made:
        run = await opened(made)
        made.records.unreadable["start"] = 1
        run.go(run.asking())
        await run.ended()
        assert (await made.kept(run.record)).status is Status.FAILED
        assert made.counted("runs") == {("queued",): 0}


async def test_an_end_that_refers_to_what_cannot_be_read_is_told_as_a_failure() -> None:
    """U61: an item of its conversation."""
    async with world() as made:
        run = await opened(made)
        made.records.unreadable["finish"] = 1

        async def ends() -> None:
            await run.asking()
            assert await run.save(completed(run.record), as_it_is) == module.UNREADABLE
            run.channel.emit(event(3, "response.failed"))
            await run.channel.finish()

        run.go(ends())
        await run.ended()
        kept = await made.kept(run.record)
        assert (kept.status, kept.streamed) == (Status.FAILED, True)
        assert module.RETRY_SECONDS not in made.slept


async def test_t85_an_end_that_cannot_be_written_is_told_as_a_failure() -> None:
    """To those who follow; the record is ended by who finds it."""
    async with world() as made:
        run = await opened(made)
        made.records.down["finish"] = float("inf")
        recorder = Recorder()

        async def ends() -> None:
            await run.asking()
            assert await run.save(completed(run.record), as_it_is) == module.DOWN
            run.channel.emit(event(3, "error"))
            run.channel.emit(event(4, "response.failed"))
            await run.channel.finish()

        run.go(ends())
        await run.show(recorder)
        failed = events(b"".join(recorder.frames))[-2]
        assert failed.name == "response.failed"
        assert failed.data["response"]["error"]["code"] == "storage_error"
        await run.ended()
        assert (await made.kept(run.record)).status is Status.IN_PROGRESS
        made.records.down.clear()


async def test_t57_who_comes_too_late_is_counted_and_changes_nothing() -> None:
    """U28."""
    async with world() as made:
        run = await opened(made)
        await run.asking()
        settled = endings.orphaned(await made.kept(run.record))
        await made.records.cancel(TENANT, settled)
        with pytest.raises(RunLeft):
            await run.save(completed(run.record), as_it_is)
        assert made.counted("not_stored") == {("ended_elsewhere",): 1}
        assert made.log.named("run_result_dropped")[0]["response_id"] == run.key.id
        assert await made.kept(run.record) == settled
        run.go(asyncio.sleep(0))
        await run.ended()
        assert await made.kept(run.record) == settled


async def test_u31_whose_log_is_shut_does_not_finish() -> None:
    """Somebody cancels it at this moment, and reads what it has said."""
    async with world() as made:
        run = await opened(made)
        await run.asking()
        run.channel.push()
        await made.live.shut(run.key)
        with pytest.raises(RunLeft):
            await run.save(completed(run.record), as_it_is)
        assert "finish" not in made.records.asked
        assert run.left is Left.ENDED_ELSEWHERE
        run.go(asyncio.sleep(0))
        await run.ended()
        await made.records.cancel(TENANT, endings.cancelled(run.record))


async def test_u33_queued_work_that_was_cancelled_asks_nobody() -> None:
    async with world() as made:
        run = await opened(made)
        await made.records.cancel(TENANT, endings.cancelled(run.record))
        with pytest.raises(RunLeft):
            await run.asking()
        run.go(asyncio.sleep(0))
        await run.ended()


async def test_what_fails_by_a_mistake_of_ours_fails_for_its_client_too() -> None:
    async with world() as made:
        run = await opened(made)

        async def breaks() -> None:
            await run.asking()
            run.channel.emit(event(3, "response.output_item.done", output_index=0, item={"id": "msg_1"}))
            run.channel.push()
            run.channel.abort()
            raise ProxyFault("The proxy failed on this request.")

        run.go(breaks())
        await run.ended()
        kept = await made.kept(run.record)
        assert (kept.status, kept.output) == (Status.FAILED, b'[{"id":"msg_1"}]')
        assert b"server_error" in kept.answer
        assert (await made.live.read([Cursor(run.key, 0)], 1000))[Cursor(run.key, 0)].ended


class Attached(Recorder):
    """Tells when its client follows."""

    def __init__(self) -> None:
        super().__init__()
        self.flushed = asyncio.Event()

    async def flush(self) -> None:
        self.flushed.set()


async def test_u34_a_process_that_ends_says_so() -> None:
    async with world() as made:
        run = await opened(made)
        recorder = Attached()
        run.go(asyncio.Event().wait())
        showing = asyncio.get_running_loop().create_task(run.show(recorder))
        await recorder.flushed.wait()
        run.channel.abort()
        run.channel.abort()
        await showing
        failed = events(b"".join(recorder.frames))[-2]
        assert failed.data["response"]["error"]["code"] == "server_shutting_down"
        assert (await made.kept(run.record)).status is Status.FAILED


async def test_u35_it_does_not_wait_for_a_store_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTLE_SECONDS", 0.02)
    async with world() as made:
        run = await opened(made)
        run.go(asyncio.Event().wait())
        await asyncio.sleep(0)
        made.records.down["finish"] = float("inf")
        async with asyncio.timeout(5):
            await made.runs.close()
        assert (await made.kept(run.record)).status is Status.QUEUED
        assert not made.shares.has(TENANT)


async def test_t89_what_is_too_large_fails() -> None:
    async with world() as made:
        run = await opened(made)
        await run.asking()
        large = completed(run.record)
        remark = await run.save(
            type(large)(**{**_members(large), "output": b"[%b]" % (b"1" * (1 << 20))}), as_it_is
        )
        assert remark == module.TOO_LARGE
        kept = await made.kept(run.record)
        assert (kept.status, kept.output) == (Status.FAILED, b"[]")
        run.go(asyncio.sleep(0))
        await run.ended()


def _members(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}  # type: ignore[attr-defined]


async def test_a_run_that_is_polled_has_no_log() -> None:
    async with world() as made:
        run = await made.begin(queued(streamed=False))
        recorder = Recorder()
        run.channel.emit(event(0))
        run.channel.push()
        run.go(ended(run, made))
        await run.show(recorder)
        await run.ended()
        assert made.live.asked == []
        assert (await made.kept(run.record)).status is Status.COMPLETED
        assert await made.records.runs(WORKER) == []
        assert key_of(run.record) == run.key


async def test_one_that_is_left_before_its_first_step_clears_up_all_the_same() -> None:
    async with world() as made:
        run = await made.begin(queued())
        run.go(asyncio.Event().wait())
        run.leave(Left.STOPPED)
        await run.ended()
        assert (await made.kept(run.record)).status is Status.FAILED
        assert not made.shares.has(TENANT)
