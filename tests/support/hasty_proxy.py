"""The proxy as a program, with leases of two seconds: `python -m tests.support.hasty_proxy serve …`.

It can be struck while it writes. STRUCK_AT is `step:moment:signal`: of the named step in the store's writer, `before`
its transaction begins, `within` it, while the lock is held, or `after` its commit. The signal reaches one process, the
first that comes there: STRUCK_ONCE names a file, which is there until then.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

TELLING_SECONDS = 1.0


def hurry() -> None:
    terms = import_module("proxy.shell.stores.terms")
    terms.LEASE_SECONDS = 2.0  # before those who take it by its name
    beats, sweeper = import_module("proxy.shell.stores.beats"), import_module("proxy.shell.stores.sweeper")
    beats.BUSY_SECONDS = beats.IDLE_SECONDS = 0.2
    beats.GAP_SECONDS = 1.0
    sweeper.ROUND_SECONDS = 0.5
    import_module("proxy.core.policy.quota").TELLING = TELLING_SECONDS
    import_module("proxy.shell.limits.tickets").STAY_SECONDS = 0.2
    import_module("proxy.shell.runs.following").LOOK_SECONDS = 0.3
    import_module("proxy.shell.runs.runs").COMPARE_SECONDS = 1.0


def strike(number: int) -> None:
    try:
        os.unlink(os.environ["STRUCK_ONCE"])
    except FileNotFoundError:
        return
    os.kill(os.getpid(), number)


def struck(step: Any, number: int) -> Any:
    """Behind its first statement."""
    rows = yield next(step)
    strike(number)
    while True:
        try:
            rows = yield step.send(rows)
        except StopIteration as end:
            return end.value


def strike_at(name: str, moment: str, number: int) -> None:
    file = import_module("proxy.shell.stores.sqlite.file").SqliteFile
    commit: Callable[..., bool] = file._commit

    def struck_commit(self: Any, connection: Any, group: Sequence[Any]) -> bool:
        meant = [each for each in group if getattr(getattr(each.step, "func", None), "__name__", "") == name]
        if meant and moment == "before":
            strike(number)
        for each in meant if moment == "within" else ():
            whole = each.step
            each.step = partial(lambda whole: struck(whole(), number), whole)
        done = commit(self, connection, group)
        if meant and moment == "after":
            strike(number)
        return done

    file._commit = struck_commit
    strike_at_attempts(name, moment, number)


def strike_at_attempts(name: str, moment: str, number: int) -> None:
    """The same on PostgreSQL, where a plain `save` is one statement: the server does it, or it does not."""
    attempt = import_module("proxy.shell.stores.postgres.attempt").StepAttempt
    written, changed = attempt.written, attempt.changed

    async def struck_written(self: Any, step: Any, *rest: Any) -> Any:
        meant = step.__name__ == name
        if meant and moment == "before":
            strike(number)
        done = await written(self, struck(step, number) if meant and moment == "within" else step, *rest)
        if meant and moment == "after":
            strike(number)
        return done

    async def struck_changed(self: Any, changes: Any) -> None:
        meant = name == "save" and changes[0][0].startswith("insert into turns")
        if meant and moment != "after":
            strike(number)
        await changed(self, changes)
        if meant:
            strike(number)

    attempt.written, attempt.changed = struck_written, struck_changed


WORKER = "worker"


def main() -> int:
    """As the program, or as one of its workers."""
    hurry()
    import_module("proxy.supervisor").COMMAND = (sys.executable, "-m", __spec__.name, WORKER)
    if told := os.environ.get("STRUCK_AT"):
        name, moment, which = told.split(":")
        strike_at(name, moment, signal.Signals[which].value)
    status: int = import_module("proxy.worker" if sys.argv[1:] == [WORKER] else "proxy.cli").main()
    return status


if __name__ == "__main__":
    sys.exit(main())
