"""How a log ends that its owner did not end, and what it holds until then.

Whoever meets a final record with an open log closes it, with the bytes that follow from the record alone.
"""

from collections.abc import Sequence
from typing import Final

from proxy.core.stored.endings import terminal_event
from proxy.core.stored.record import Record
from proxy.shell.stores.protocol import Cursor, Key, Live

READ_BYTES: Final = 1 << 20
"""Of logs at a time."""


async def close_log(live: Live, key: Key, record: Record) -> None:
    """`record`: as it ended. A log that has lost its head stays without an end: nobody may follow it."""
    number = await live.shut(key)
    if number < 0:
        await live.drop(key)
    else:
        await live.end(key, number + 1, terminal_event(record, number + 1))


async def events_of(live: Live, key: Key) -> Sequence[bytes]:
    """All that the log has now; nothing if it is gone."""
    events: list[bytes] = []
    while True:
        cursor = Cursor(key, len(events))
        replay = (await live.read([cursor], READ_BYTES))[cursor]
        if replay is None:
            return []
        if not replay.events:
            return events
        events += replay.events
