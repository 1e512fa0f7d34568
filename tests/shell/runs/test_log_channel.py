"""Where the answer of a run goes: what is told of queued work, and when the rest may follow."""

from collections.abc import Sequence

from proxy.shell.runs.log_channel import LogChannel
from tests.support.runs import event


class Told:
    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.last: list[bytes] = []
        self.channel = LogChannel("req", self.written.extend, self.end, lambda: None)

    async def end(self, events: Sequence[bytes]) -> None:
        self.last += events


async def test_nothing_of_a_reply_is_told_before_a_backend_is_asked() -> None:
    """It may still be cancelled, and then it never was in progress."""
    told = Told()
    events = [event(number) for number in range(4)]
    for each in events[:3]:
        told.channel.emit(each)
    await told.channel.flush()
    assert told.channel.push()
    assert told.written == events[:2]
    told.channel.release()
    told.channel.emit(events[3])
    told.channel.push()
    assert told.written == events
    assert told.channel.bytes_out == sum(map(len, events))


async def test_the_last_event_follows_from_the_record_and_is_not_told_twice() -> None:
    told = Told()
    for number in range(5):
        told.channel.emit(event(number))
    told.channel.rest()
    assert len(told.written) == 5
    told.channel.emit(event(5, "error"))
    told.channel.emit(event(6, "response.failed"))
    await told.channel.finish()
    assert told.last == [event(5, "error")]


async def test_what_is_left_of_a_run_that_is_left_is_dropped() -> None:
    told = Told()
    for number in range(3):
        told.channel.emit(event(number))
    told.channel.drop()
    told.channel.rest()
    assert told.written == []


async def test_nobody_is_connected() -> None:
    told = Told()
    told.channel.start_timers(lambda: None, 5)
    await told.channel.answer({"id": "resp_1"})
    told.channel.stop()
    assert told.channel.opened
    assert told.written == []
