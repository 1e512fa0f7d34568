"""The steps of logs and memos."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

from proxy.shell.stores.log_packing import Packers, Unpacker
from proxy.shell.stores.logs import KEPT_SECONDS, MOST_LOG_BYTES, REFUSALS, LogState
from proxy.shell.stores.protocol import Cursor, Key, LogClosed, LogExcerpt, LogRow, RecordUnreadable
from proxy.shell.stores.sealing.memos import opened_memos, sealed_memos
from proxy.shell.stores.sealing.seals import NO_SEALS, Seals
from proxy.shell.stores.sql import log_statements as sql
from proxy.shell.stores.sql.step import Step
from proxy.shell.stores.terms import Clock

ROWS_AT_ONCE = 64

KEYS_AT_ONCE = 128

MOST_MEMO_BYTES = 256 << 20
"""Bytes of all memos together after each sweep. The processes that use them hold 64 MiB each."""


@dataclass(slots=True)
class _Log:
    next: int
    bytes: int
    state: LogState
    touched: int


class LiveSteps:
    def __init__(
        self,
        clock: Clock,
        most_log_bytes: int = MOST_LOG_BYTES,
        most_memo_bytes: int = MOST_MEMO_BYTES,
        seals: Seals = NO_SEALS,
    ) -> None:
        self._clock = clock
        self._most_log_bytes = most_log_bytes
        self._most_memo_bytes = most_memo_bytes
        self._seals = seals
        self._packers = Packers(seals)

    def _date(self) -> int:
        return int(self._clock.date())

    # ── logs ──

    def _find(self, key: Key) -> Step[_Log | None]:
        rows = yield sql.FIND, key
        if not rows:
            return None
        next, bytes, state, touched = rows[0]
        return _Log(next, bytes, LogState(state), touched)

    def _log(self, key: Key) -> Step[_Log]:
        log = yield from self._find(key)
        if log is None:
            log = _Log(0, 0, LogState.OPEN, self._date())
            yield sql.BEGIN, (*key, log.touched)
        return log

    def _change(self, key: Key, log: _Log) -> Step[None]:
        if log.state is not LogState.OPEN:
            self._packers.forget(key)
        yield sql.CHANGE, (log.next, log.bytes, log.state.value, self._date(), *key)

    def append(self, rows: Sequence[LogRow]) -> Step[Mapping[Key, LogClosed]]:
        """Each log is asked for before any is changed, so that an engine far away can do like with like."""
        logs = {}
        for key in dict.fromkeys(row.key for row in rows):
            logs[key] = yield from self._log(key)
        changed = {row.key: logs[row.key] for row in rows if logs[row.key].state is LogState.OPEN}
        for row in rows:
            if logs[row.key].state is LogState.OPEN:
                yield from self._extend(logs[row.key], row)
            else:
                self._packers.forget(row.key)
        for key, log in changed.items():
            yield from self._change(key, log)
        return {key: REFUSALS[log.state] for key, log in logs.items() if log.state in REFUSALS}

    def _extend(self, log: _Log, row: LogRow) -> Step[None]:
        new = row.events[max(0, log.next - row.first) :]
        weight = sum(map(len, new))
        if row.first > log.next or log.bytes + weight > self._most_log_bytes:
            yield from self._lose(row.key, log)
        elif new:
            yield from self._put(row.key, log, new)

    def _put(self, key: Key, log: _Log, events: Sequence[bytes]) -> Step[None]:
        fresh, data = self._packers.pack(key, log.next, events)
        yield sql.APPEND, (*key, log.next, int(fresh), data)
        log.next += len(events)
        log.bytes += sum(map(len, events))

    def _lose(self, key: Key, log: _Log) -> Step[None]:
        yield sql.ERASE_ROWS, key
        log.next, log.bytes, log.state = 0, 0, LogState.GONE

    def read(self, wanted: Sequence[Cursor], most_bytes: int) -> Step[Mapping[Cursor, LogExcerpt | None]]:
        share = max(1, most_bytes // max(1, len(wanted)))
        found = {}
        for cursor in wanted:
            found[cursor] = yield from self._replay(cursor, share)
        return found

    def _replay(self, cursor: Cursor, share: int) -> Step[LogExcerpt | None]:
        log = yield from self._find(cursor.key)
        if log is None or log.state is LogState.GONE or log.touched <= self._horizon(log.state):
            return None
        if cursor.next >= log.next:
            return LogExcerpt([], ended=log.state is LogState.ENDED)
        rows = yield sql.BEFORE, (*cursor.key, cursor.next)
        number = rows[0][0]
        if number is None:
            return None
        events: list[bytes] = []
        unpacker = Unpacker(cursor.key, self._seals)
        try:
            while number < log.next:
                for first, fresh, data in (yield sql.ROWS, (*cursor.key, number, ROWS_AT_ONCE)):
                    for event in unpacker.unpack(first, fresh, data):
                        if number >= cursor.next:
                            if share <= 0:
                                return LogExcerpt(events, ended=False)
                            events.append(event)
                            share -= len(event)
                        number += 1
        except RecordUnreadable:
            return None
        return LogExcerpt(events, ended=log.state is LogState.ENDED)

    def _horizon(self, state: LogState) -> int:
        return floor(self._clock.date() - KEPT_SECONDS[state])

    def shut(self, key: Key) -> Step[int]:
        log = yield from self._log(key)
        if log.state is LogState.OPEN:
            log.state = LogState.SHUT
            yield from self._change(key, log)
        return log.next - 1

    def end(self, key: Key, number: int, event: bytes) -> Step[None]:
        log = yield from self._log(key)
        if log.state not in (LogState.OPEN, LogState.SHUT):
            return
        if number != log.next:
            yield from self._lose(key, log)
        else:
            yield from self._put(key, log, [event])
            log.state = LogState.ENDED
        yield from self._change(key, log)

    def drop(self, key: Key) -> Step[None]:
        self._packers.forget(key)
        yield sql.ERASE_ROWS, key
        yield sql.ERASE, key

    # ── memos ──

    def remember(self, tenant: str, memos: Mapping[str, bytes], seconds: float) -> Step[None]:
        until = ceil(self._clock.date() + seconds)
        for key, data in sealed_memos(self._seals, tenant, memos).items():
            yield sql.REMEMBER, (tenant, key, data, until)

    def recall(self, tenant: str, keys: Sequence[str]) -> Step[Mapping[str, bytes]]:
        found: dict[str, bytes] = {}
        for at in range(0, len(keys), KEYS_AT_ONCE):
            some = [*keys[at : at + KEYS_AT_ONCE]]
            some += some[-1:] * (
                (1 << (len(some) - 1).bit_length()) - len(some)
            )  # few forms of the statement
            found |= dict((yield sql.recall(len(some)), (tenant, self._date(), *some)))
        return opened_memos(self._seals, tenant, found)

    def forget(self, tenant: str, most: int) -> Step[int]:
        """Deletes so many rows of the tenant at most; how many."""
        left = most
        for statement in sql.FORGET_TENANT:
            left -= len((yield statement, (tenant, tenant, left)))
        return most - left

    def sweep(self, most: int) -> Step[int]:
        swept = 0
        for state in LogState:
            rows = yield sql.EXPIRED, (state.value, self._horizon(state), most - swept)
            for key in rows:
                yield from self.drop(Key(*key))
            swept += len(rows)
        rows = yield sql.EXPIRED_MEMOS, (self._date(), most - swept)
        for name in rows:
            yield sql.FORGET, name
        swept += len(rows)
        return swept + (yield from self._make_room(most - swept))

    def _make_room(self, most: int) -> Step[int]:
        """Forgets so many of the oldest memos of who has the most, if there are too many; how many."""
        sizes: dict[str, int] = dict((yield sql.MEMO_BYTES, ()))
        excess = sum(sizes.values()) - self._most_memo_bytes
        if excess <= 0:
            return 0
        forgotten = 0
        largest = max(sizes, key=lambda tenant: sizes[tenant])
        for key, size in (yield sql.OLDEST_MEMOS, (largest, most)):
            if excess <= 0:
                break
            yield sql.FORGET, (largest, key)
            excess -= size
            forgotten += 1
        return forgotten
