"""What was learned of backends lies in every engine: the next process finds what has not ended, and nothing else."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from proxy.core.backends.kept_lessons import identity
from proxy.core.backends.learned import LASTS_SECONDS, Learned
from proxy.core.backends.target import Target
from proxy.core.profile import DEFAULT, BackendProfile
from proxy.shell.ops.logs import make_log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.remembering.kept_lessons import KeptLessons
from proxy.shell.remembering.memos import Memos
from tests.support.proxies import LogLines
from tests.support.stores import Terms

TARGET = Target("b", "http://host/v1", DEFAULT)
MODEL = identity(TARGET, "m")
LEARNED = replace(
    DEFAULT, usage="never", tuning=DEFAULT.tuning - {"seed"}, extra={"x": None}, thoughts_until="</think>"
)


@pytest.fixture
async def tasks() -> AsyncIterator[Tasks]:
    made = Tasks(make_log("info", "json", stream=LogLines().stream))
    yield made
    await made.close()


class Process:
    """One that begins now: its own clock begins anywhere."""

    def __init__(self, live: Any, tasks: Tasks, terms: Terms, clock: float) -> None:
        self.learned = Learned(TARGET)
        self.clock = clock
        self._tasks = tasks
        self._kept = KeptLessons(
            Memos(live, tasks, Metrics({}, ())),
            lambda owner: owner,
            clock=lambda: self.clock,
            now=lambda: terms.date,
        )

    async def learns(self, profile: BackendProfile, owner: str) -> None:
        self.learned.learn(DEFAULT, profile, owner, self.clock)
        self._kept.keep(MODEL, self.learned, owner)
        await self._tasks.finish(5)

    async def knows(self, owner: str) -> BackendProfile:
        await self._kept.recall(MODEL, self.learned, owner)
        return self.learned.target(owner, self.clock).profile


async def test_the_next_process_goes_on_with_it_as_long_as_it_holds(
    live: Any, tasks: Tasks, terms: Terms
) -> None:
    first = Process(live, tasks, terms, clock=5_000)
    await first.learns(LEARNED, "ann")
    terms.date += LASTS_SECONDS - 1
    assert await Process(live, tasks, terms, clock=1).knows("ann") == LEARNED
    assert await Process(live, tasks, terms, clock=1).knows("bob") == DEFAULT
    terms.date += 1
    assert await Process(live, tasks, terms, clock=1).knows("ann") == DEFAULT


async def test_what_is_learned_now_takes_the_place_of_what_was(live: Any, tasks: Tasks, terms: Terms) -> None:
    """Whichever process wrote it last: none of them waits for another."""
    await Process(live, tasks, terms, clock=0).learns(LEARNED, "ann")
    other = Process(live, tasks, terms, clock=0)
    await other.learns(replace(DEFAULT, images="none"), "ann")
    assert await Process(live, tasks, terms, clock=0).knows("ann") == replace(DEFAULT, images="none")
