"""One file of SQLite, worked on by two threads of our own: one writes, one reads.

The writer takes all that waits, up to a limit, into one transaction, and answers everybody by one call into the loop:
with fifty who save at once, a dozen times as many get through as one by one. When something in such a group fails, it
is undone and each is done by itself. Nobody's giving up reaches the threads: a command that has begun is done.
"""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar

from proxy.shell.stores.protocol import StoreDown, StoreReplaced, StoreUnreadable
from proxy.shell.stores.sql.carrier import Ahead, Hold
from proxy.shell.stores.sql.step import Ask, Rows, Step
from proxy.shell.stores.sql.tables import Schema
from proxy.shell.stores.sqlite.lock import FileLock
from proxy.shell.stores.sqlite.reasons import DAMAGED, reason
from proxy.shell.stores.sqlite.schema import migrate, refuse_old_sqlite
from proxy.shell.stores.sqlite.space import then_shrink, used_bytes

MOST_CHANGES: Final = 100
MOST_BYTES: Final = 1 << 20
"""Of one transaction."""

PAGE_BYTES: Final = 8192
"""The page size of a new file. Most responses fill one such page or many: with pages of half the size a save costs a
tenth more, and small responses take a quarter more room."""

CACHE_PAGES: Final = 128
"""Of each connection, which fills it and keeps it: a MiB. More is only held twice, as the system has the file in
memory. Not in KiB, which SQLite turns into pages before it knows how large those of the file are."""

UNWRITTEN_PAGES: Final = 1000
"""Pages that a transaction may hold until its end: as many as one may change, because with half of it the largest write
pages twice."""

BUSY_SECONDS: Final = 5.0
GATHER_SECONDS: Final = 0.001
"""Where several write at the same time, a group waits so long for others: it costs as much as four of its changes.
Whoever writes alone never waits."""
CLOSE_SECONDS: Final = 2.0
"""How long the threads may still take. Beyond that they are left behind, and end with the process."""

Result = TypeVar("Result")


@dataclass(slots=True)
class Command(Generic[Result]):
    step: Callable[[], Step[Result]]
    weight: int
    answer: "asyncio.Future[Result]"
    bare: bool = False
    """Not in a transaction of ours, but in one of its own."""
    result: Any = None
    failure: BaseException | None = None


@dataclass(slots=True)
class _ThreadQueue:
    """What waits for one thread."""

    queue: "SimpleQueue[Command[Any] | None]" = field(default_factory=SimpleQueue)
    thread: threading.Thread | None = None


class SqliteFile:
    """`durable`: what was acknowledged survives the power being cut; without, only the death of the process."""

    most_swept = 50
    used_bytes = staticmethod(used_bytes)
    shrunk = staticmethod(then_shrink)

    def __init__(self, path: Path, schema: Schema, *, durable: bool) -> None:
        self._path = path
        self._schema = schema
        self._durable = durable
        self._writes = _ThreadQueue()
        self._reads = _ThreadQueue()
        self._identity: tuple[int, int] | None = None
        self._open = False
        self._away = ""
        """Why the last attempt to open it failed."""

    # ── from the loop ──

    async def open(self) -> None:
        """Makes or migrates the file. StoreUnreadable, or StoreDown if it cannot be reached now."""
        refuse_old_sqlite()
        self._writes, self._reads = _ThreadQueue(), _ThreadQueue()
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[None] = loop.create_future()

        def tell(failure: BaseException | None) -> None:
            if not opened.done():
                opened.set_exception(failure) if failure else opened.set_result(None)

        def pass_on(failure: BaseException | None) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(tell, failure)

        def work() -> None:
            self._live(pass_on)

        self._writes.thread = threading.Thread(target=work, name=f"store {self._path.name}", daemon=True)
        self._writes.thread.start()
        try:
            await opened
        except StoreDown as failure:
            self._away = str(failure)
            raise
        self._open, self._away = True, ""

    async def close(self) -> None:
        """Does what waits, then ends the threads."""
        self._open = False
        self._writes.queue.put(None)
        if self._writes.thread is not None:
            await asyncio.to_thread(self._writes.thread.join, CLOSE_SECONDS)

    def write(
        self,
        step: Callable[[], Step[Result]],
        weight: int = 0,
        holds: tuple[Hold, ...] = (),
        once: bool = False,
        ahead: Ahead | None = None,
    ) -> "asyncio.Future[Result]":
        return self._do(self._writes, step, weight)

    def read(self, step: Callable[[], Step[Result]], ahead: Ahead | None = None) -> "asyncio.Future[Result]":
        return self._do(self._reads, step, 0)

    async def copy(self, target: Path) -> None:
        """Writes a whole copy, as of now, while others go on. The target must not be there."""
        await self._do(self._reads, lambda: _copied(target), 0, bare=True)

    def _do(
        self, lane: _ThreadQueue, step: Callable[[], Step[Result]], weight: int, bare: bool = False
    ) -> "asyncio.Future[Result]":
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        if self._open:
            lane.queue.put(Command(step, weight, answer, bare))
        else:
            answer.set_exception(StoreDown(self._away or f"{self._path} is not open"))
        return answer

    # ── in the threads ──

    def _live(self, opened: Callable[[BaseException | None], object]) -> None:
        """The writer's life. It opens the reader's connection, too, for opening needs the lock."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = FileLock(self._path.with_name(f"{self._path.name}.lock"))
            with lock.held():
                writer, reader = self._connect_both()
        except BaseException as failure:
            opened(
                failure if isinstance(failure, StoreUnreadable) else reason(self._path, failure, opening=True)
            )
            return
        self._reads.thread = threading.Thread(
            target=self._read_all, args=(reader,), name=f"store {self._path.name} reads", daemon=True
        )
        self._reads.thread.start()
        opened(None)
        self._write_all(writer, lock)
        self._reads.queue.put(None)
        self._reads.thread.join()
        with lock.held(), suppress(sqlite3.Error):
            reader.close()
            writer.close()
        lock.close()

    def _connect_both(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        writer = self._connect()
        try:
            self._prepare(writer)
            return writer, self._connect()
        except BaseException:
            writer.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        created = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600) if not self._path.exists() else None
        if created is not None:
            os.close(created)
        connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"pragma cache_size = {CACHE_PAGES}")
            connection.execute(f"pragma cache_spill = {UNWRITTEN_PAGES}")
            connection.execute("pragma secure_delete = on")  # else it would depend on who built SQLite
            connection.execute(f"pragma synchronous = {'full' if self._durable else 'off'}")
            connection.execute(f"pragma journal_size_limit = {64 << 20}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"pragma page_size = {PAGE_BYTES}")
        connection.execute("pragma auto_vacuum = incremental")
        connection.execute("pragma journal_mode = wal")
        connection.execute("begin immediate")
        try:
            migrate(connection, self._schema, str(self._path))
        except BaseException:
            connection.execute("rollback")
            raise
        connection.execute("commit")
        self._identity = self._identify()

    def _identify(self) -> tuple[int, int] | None:
        """Which file lies there now. It must not be opened for that: closing it would drop SQLite's own locks."""
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _refuse_another_file(self) -> None:
        if self._identify() != self._identity:
            what = "was deleted or replaced by another file"
            raise StoreReplaced(DAMAGED.format(path=self._path, what=what))

    def _read_all(self, connection: sqlite3.Connection) -> None:
        while self._read_next(connection):
            pass

    def _read_next(self, connection: sqlite3.Connection) -> bool:
        """Holds nothing of it afterwards, while the next is waited for. False at the end."""
        command = self._reads.queue.get()
        if command is None:
            return False
        try:
            self._refuse_another_file()
            if not command.bare:
                connection.execute("begin")
            try:
                command.result = carry_out(connection, command.step())
            finally:
                if not command.bare:
                    connection.execute("rollback")
        except BaseException as failure:
            command.failure = reason(self._path, failure)
        _answer([command])
        return True

    def _write_all(self, connection: sqlite3.Connection, lock: FileLock) -> None:
        written = 1
        while written:
            written = self._write_next(connection, lock, others=written > 1)

    def _write_next(self, connection: sqlite3.Connection, lock: FileLock, others: bool) -> int:
        """Writes what waits, up to a limit, and holds nothing of it afterwards. How many; none at the end."""
        group = self._gathered(others)
        if group:
            self._write_group(connection, lock, group)
            _answer(group)
        return len(group)

    def _gathered(self, others: bool) -> list[Command[Any]]:
        queue, group, weight = self._writes.queue, list[Command[Any]](), 0
        while not group or (len(group) < MOST_CHANGES and weight < MOST_BYTES and not queue.empty()):
            command = queue.get()
            if command is None:
                queue.put(None)  # which is then the next
                break
            if others and not group:
                time.sleep(GATHER_SECONDS)  # noqa: TID251 - of this thread alone
            group.append(command)
            weight += command.weight
        return group

    def _write_group(self, connection: sqlite3.Connection, lock: FileLock, group: list[Command[Any]]) -> None:
        with lock.held():
            if not self._commit(connection, group) and len(group) > 1:
                for command in group:
                    self._commit(connection, [command])

    def _commit(self, connection: sqlite3.Connection, group: Sequence[Command[Any]]) -> bool:
        """Does all of them, or none."""
        try:
            self._refuse_another_file()
            connection.execute("begin immediate")
            try:
                for command in group:
                    command.failure = None
                    command.result = carry_out(connection, command.step())
                connection.execute("commit")
            except BaseException:
                with suppress(sqlite3.Error):  # after some errors SQLite has done so by itself
                    connection.execute("rollback")
                raise
        except BaseException as failure:
            for command in group:
                command.failure = reason(self._path, failure)
            return False
        return True


def _copied(target: Path) -> Step[None]:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    yield "vacuum into ?", (str(target),)


def carry_out(connection: sqlite3.Connection, step: Generator[Ask, Rows, Result]) -> Result:
    rows: Rows | None = None
    try:
        while True:
            statement, parameters = next(step) if rows is None else step.send(rows)
            rows = connection.execute(statement, parameters).fetchall()
    except StopIteration as end:
        result: Result = end.value
        return result


def _answer(commands: Sequence[Command[Any]]) -> None:
    """All at once: they wait in the loop that has opened the file."""
    with suppress(RuntimeError):  # it is closed: nobody waits any more
        commands[0].answer.get_loop().call_soon_threadsafe(_resolve, commands)


def _resolve(commands: Sequence[Command[Any]]) -> None:
    for command in commands:
        if command.answer.done():  # its caller was cancelled
            continue
        if command.failure is not None:
            command.answer.set_exception(command.failure)
        else:
            command.answer.set_result(command.result)
