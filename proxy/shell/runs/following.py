"""One client that follows a run: all events from its place on, as a stream, until the last one."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from proxy.core import sse
from proxy.core.stored.endings import terminal_event
from proxy.core.stored.record import Record
from proxy.core.surfaces.framing import replayed
from proxy.shell.destination import Destination
from proxy.shell.runs.followers import Follower, Followers

LOOK_SECONDS: Final = 5.0
"""Of silence, after which somebody looks whether the run's process still lives."""


async def follow(
    followers: Followers,
    follower: Follower,
    channel: Destination,
    look: Callable[[], Awaitable[Record | None]],
) -> None:
    """`look`: the record, if it is final, or else None; and a log that has to end does so then."""
    try:
        await channel.flush()  # it is there, even if nothing new is for long
        channel.start_timers()
        while events := await _more(follower, look):
            for event in events:
                channel.emit(replayed(event))
            await channel.flush()
        if not follower.ended:
            record = await look()
            if record is None:
                channel.abort()
                raise ConnectionResetError("There is nothing to follow any more.")
            channel.emit(replayed(terminal_event(record, follower.next)))
        channel.emit(sse.DONE)
        await channel.finish()
    finally:
        followers.detach(follower)
        channel.stop()


async def _more(follower: Follower, look: Callable[[], Awaitable[Record | None]]) -> list[bytes]:
    while True:
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                return await follower.more()
        except TimeoutError:
            await look()
