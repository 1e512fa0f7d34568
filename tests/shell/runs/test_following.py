"""One client that follows a run, up to an end, whoever has told it."""

import asyncio
from typing import Any

import pytest

from proxy.core.stored import endings
from proxy.core.stored.record import Record
from proxy.shell.runs import following
from proxy.shell.runs.followers import Follower
from proxy.shell.stores.protocol import Key
from tests.support.in_memory import Recorder
from tests.support.proxies import events, names
from tests.support.runs import event, queued

KEY = Key("ann", "resp_1")


class Detached:
    def __init__(self) -> None:
        self.seen: list[Follower] = []

    def detach(self, follower: Follower) -> None:
        self.seen.append(follower)


async def followed(follower: Follower, final: Record | None = None) -> tuple[Recorder, Detached]:
    recorder, followers = Recorder(), Detached()

    async def look() -> Record | None:
        return final

    try:
        await following.follow(followers, follower, recorder, look)  # type: ignore[arg-type]
    finally:
        assert followers.seen == [follower]
    return recorder, followers


def nobody(follower: Follower) -> None:
    """Nothing more comes."""


def told(recorder: Recorder) -> list[str]:
    return names(events(b"".join(recorder.frames)))


async def test_a_stream_ends_with_its_mark() -> None:
    follower = Follower(KEY, 0, nobody)
    follower.take([event(0), event(1, "response.completed")], ended=True)
    recorder, _ = await followed(follower)
    assert told(recorder) == ["response.queued", "response.completed", "done"]
    assert recorder.ending == "finished"


async def test_who_has_it_all_gets_the_mark_alone() -> None:
    """T59."""
    follower = Follower(KEY, 9, nobody)
    follower.take([], ended=True)
    recorder, _ = await followed(follower)
    assert told(recorder) == ["done"]


async def test_t66_the_end_of_a_run_whose_log_is_gone_follows_from_its_record() -> None:
    follower = Follower(KEY, 0, nobody)
    follower.take([event(0)])
    follower.lose()
    recorder, _ = await followed(follower, endings.cancelled(queued()))
    found = events(b"".join(recorder.frames))
    assert names(found) == ["response.queued", "response.failed", "done"]
    assert found[1].data["sequence_number"] == 1
    assert found[1].data["response"]["status"] == "cancelled"


async def test_t63_who_has_missed_too_much_is_cut_off() -> None:
    follower = Follower(KEY, 0, nobody)
    follower.lose()
    with pytest.raises(ConnectionError):
        await followed(follower)


async def test_u26_in_silence_somebody_looks_whether_the_process_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "LOOK_SECONDS", 0.01)
    follower = Follower(KEY, 0, nobody)
    looked: list[Any] = []

    async def look() -> Record | None:
        looked.append(1)
        if len(looked) == 2:
            follower.take([event(0, "response.failed")], ended=True)
        return None

    recorder = Recorder()
    async with asyncio.timeout(5):
        await following.follow(Detached(), follower, recorder, look)  # type: ignore[arg-type]
    assert told(recorder) == ["response.failed", "done"]
