"""One try at one step, on one connection.

Each question costs a way to the server and back. So what a step changes without asking goes together with the next
question, the same change of many rows as one; a step that changes rows of one kind and asks nothing needs no
transaction of ours; and a step that reads one thing needs none either.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from proxy.shell.stores.postgres.locks import LOCK
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.postgres.wording import is_blind, parameters_of, rows_of, translated
from proxy.shell.stores.sql.carrier import Ahead
from proxy.shell.stores.sql.step import Ask, Result, Rows, Step

READ: Final = "begin isolation level repeatable read read only"
WRITE: Final = (
    "begin; set local statement_timeout = {limit}; set local idle_in_transaction_session_timeout = {limit}"
)
WHOLE: Final = "; set local transaction_timeout = {limit}"
"""For a process that stands still while it prepares a statement: then neither of the others counts."""
WHOLE_SINCE: Final = 17
"""The version of PostgreSQL."""


class StepAttempt:
    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.in_doubt = False
        """May the step have been done, whatever was heard of it?"""

    # ── questions ──

    async def _ask(self, ask: Ask) -> Rows:
        statement, parameters = ask
        return rows_of(await self._connection.fetch(translated(statement), *parameters_of(parameters)))

    async def _change(self, changes: Sequence[Ask]) -> None:
        for statement, group in groupby(changes, key=itemgetter(0)):
            rows = [parameters_of(parameters) for _, parameters in group]
            if len(rows) == 1:
                await self._connection.execute(translated(statement), *rows[0])
            else:
                await self._connection.executemany(translated(statement), rows)

    # ── steps ──

    async def changed(self, changes: Sequence[Ask]) -> None:
        """Makes changes that are each complete by themselves and all by one statement: all or none of them."""
        self.in_doubt = True
        await self._change(changes)

    async def written(
        self,
        step: Step[Result],
        locks: tuple[list[int], list[int]],
        clock: ServerClock,
        limit: float,
        ahead: Ahead | None = None,
    ) -> Result:
        begin = WRITE + WHOLE * (self._connection.get_server_version().major >= WHOLE_SINCE)
        await self._connection.execute(begin.format(limit=int(limit * 1000)))
        if any(locks):
            begun = clock.begun()
            [row] = await self._connection.fetch(LOCK, *locks)
            clock.measured(row[2], begun)
        result = await self.carried(step, await self._known(ahead))
        self.in_doubt = True
        await self._connection.execute("commit")
        return result

    async def carried(self, step: Step[Result], known: dict[Ask, Rows] | None = None) -> Result:
        """`known`: answers that are there already, each for the first time that it is asked."""
        known = known or {}
        changes: list[Ask] = []
        rows: Rows | None = None
        try:
            while True:
                ask = next(step) if rows is None else step.send(rows)
                if is_blind(ask[0]):
                    changes.append(ask)
                    rows = []
                elif (rows := known.pop(ask, None)) is None:
                    await self._change(changes)
                    changes.clear()
                    rows = await self._ask(ask)
        except StopIteration as end:
            await self._change(changes)
            result: Result = end.value
            return result

    async def _known(self, ahead: Ahead | None) -> dict[Ask, Rows]:
        if ahead is None:
            return {}
        known: dict[Ask, Rows] = {(ahead.answered, wanted): [] for wanted in ahead.wanted}
        for row in await self._ask((ahead.statement, ahead.parameters)):
            known[ahead.answered, row[: ahead.keys]] = [row[ahead.keys :]]
        return known

    async def read(self, make: Callable[[], Step[Result]], ahead: Ahead | None) -> Result:
        """As of one moment: one question is, and for more there is a transaction."""
        step = make()
        try:
            first = next(step)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        if ahead is None or first[0] != ahead.answered:
            known = {first: await self._ask(first)}
        else:
            known = await self._known(ahead)
        if (ended := _ended(step, first, known)) is not None:
            return ended[0]
        await self._connection.execute(READ)
        result = await self.carried(make(), await self._known(ahead))
        await self._connection.execute("commit")
        return result


def _ended(step: Step[Result], ask: Ask, known: Mapping[Ask, Rows]) -> tuple[Result] | None:
    """How it ends with what is known. None: it asks for more."""
    try:
        while ask in known:
            ask = step.send(known[ask])
    except StopIteration as end:
        return (end.value,)
    step.close()
    return None
