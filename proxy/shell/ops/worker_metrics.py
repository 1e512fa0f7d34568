"""Workers that serve together exchange what they have counted, so that each of them can show all of it.

It leaves out a worker that is dead or hangs, and shows it as down.
"""

from collections.abc import Callable
from typing import Any

from proxy.shell.ops.metric_families import Counts
from proxy.shell.ops.worker_questions import ANSWER_SECONDS, WorkerQuestions, WorkerSlot


class WorkerMetrics:
    def __init__(
        self, slot: WorkerSlot, counts: Callable[[], Counts], answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        """`counts` returns those of this worker."""
        self._counts = counts
        self._questions = WorkerQuestions(slot, self._answer, answer_seconds=answer_seconds)
        self.start = self._questions.start
        self.stop = self._questions.stop

    async def _answer(self, _: Any) -> Counts:
        return self._counts()

    async def counts(self) -> dict[str, Counts | None]:
        """Returns the counts of all workers by name, None for those that do not answer."""
        return await self._questions.ask_all()
