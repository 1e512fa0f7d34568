"""Logs, as they are asked of the server: events are packed here and unpacked here."""

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.shell.stores.log_packing import Packers, Unpacker
from proxy.shell.stores.logs import REFUSALS, LogState
from proxy.shell.stores.protocol import Cursor, Key, LogClosed, LogExcerpt, LogRow, RecordUnreadable
from proxy.shell.stores.redis.log_scripts import APPEND, CHANGES, DROP, END, HEAD, READ, SHUT
from proxy.shell.stores.redis.names import Names
from proxy.shell.stores.redis.script import Clocks, Script, ScriptCall
from proxy.shell.stores.redis.server import RedisServer
from proxy.shell.stores.sealing.seals import Seals


class RedisLogs:
    def __init__(
        self, server: RedisServer, names: Names, clocks: Clocks, most_log_bytes: int, seals: Seals
    ) -> None:
        self._server = server
        self._names = names
        self._most_log_bytes = most_log_bytes
        self._seals = seals
        self._packers = Packers(seals)
        self._append, self._shut, self._end = (
            Script(clocks.date, HEAD, CHANGES, change) for change in (APPEND, SHUT, END)
        )
        self._read = Script(clocks.date, HEAD, READ)
        self._drop = Script(DROP)

    async def append(self, rows: Sequence[LogRow]) -> Mapping[Key, LogClosed]:
        """Of each log one row at a time; of a row that is there in part, what is not, as a row of its own."""
        refused: dict[Key, LogClosed] = {}
        waiting: dict[Key, list[LogRow]] = {}
        for row in rows:
            waiting.setdefault(row.key, []).append(row)
        while waiting:
            heads = [rows[0] for rows in waiting.values()]
            for row, (state, next, took) in zip(heads, await self._put(heads), strict=True):
                if not took or state != LogState.OPEN:
                    self._packers.forget(row.key)
                if state in REFUSALS:
                    refused[row.key] = REFUSALS[LogState(state)]
                    del waiting[row.key]
                elif next >= row.first + len(row.events):
                    waiting[row.key].pop(0)
                    if not waiting[row.key]:
                        del waiting[row.key]
                else:
                    waiting[row.key][0] = LogRow(row.key, next, row.events[next - row.first :])
        return refused

    async def _put(self, rows: Sequence[LogRow]) -> list[Any]:
        calls = [ScriptCall(self._append, self._names.log(row.key), self._packed(row)) for row in rows]
        try:
            return await self._server.run(calls)
        except BaseException:
            for row in rows:  # what there is of them nobody knows
                self._packers.forget(row.key)
            raise

    def _packed(self, row: LogRow) -> tuple[int | bytes, ...]:
        begins_anew, data = self._packers.pack(row.key, row.first, row.events)
        weight = sum(map(len, row.events))
        return row.first, len(row.events), weight, self._most_log_bytes, int(begins_anew), data

    async def read(self, wanted: Sequence[Cursor], most_bytes: int) -> Mapping[Cursor, LogExcerpt | None]:
        share = max(1, most_bytes // max(1, len(wanted)))
        calls = [
            ScriptCall(self._read, self._names.log(cursor.key), (cursor.next, share)) for cursor in wanted
        ]
        answers = await self._server.run(calls) if calls else []
        return {
            cursor: None if answer is None else self._replay(cursor, share, *answer)
            for cursor, answer in zip(wanted, answers, strict=True)
        }

    def _replay(self, cursor: Cursor, share: int, state: int, next: int, *rows: Any) -> LogExcerpt | None:
        """What the rows hold from the cursor on, as far as it fits. None: some of it is lost."""
        events: list[bytes] = []
        unpacker = Unpacker(cursor.key, self._seals)
        number = rows[0][1] if rows else next
        try:
            for first, fresh, data in rows:
                if first != number:
                    return None
                for event in unpacker.unpack(first, first == fresh, data):
                    if number >= cursor.next:
                        if share <= 0:
                            return LogExcerpt(events, ended=False)
                        events.append(event)
                        share -= len(event)
                    number += 1
        except RecordUnreadable:
            return None
        if number < next and share > 0:
            return None
        return LogExcerpt(events, ended=number >= next and state == LogState.ENDED)

    async def shut(self, key: Key) -> int:
        self._packers.forget(key)
        (last,) = await self._server.run([ScriptCall(self._shut, self._names.log(key))])
        return int(last)

    async def end(self, key: Key, number: int, event: bytes) -> None:
        self._packers.forget(key)
        _, data = Packers(self._seals).pack(key, number, [event])
        await self._server.run([ScriptCall(self._end, self._names.log(key), (number, len(event), data))])

    async def drop(self, key: Key) -> None:
        self._packers.forget(key)
        await self._server.run([ScriptCall(self._drop, self._names.log(key))])
