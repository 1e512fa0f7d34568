"""What the workers of this proxy know of their requests, gathered by the one that was asked.

Each request has an id among all of them: its worker's number, the worker's life (since a successor counts from the
beginning again), and the request's number.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from proxy.shell.inspector.ring import Ring, Seen
from proxy.shell.ops.worker_questions import WorkerQuestions, WorkerSlot

DOORS: Final = "inspector-"
ANSWER_SECONDS: Final = 5.0
"""For one request with all that was said in it."""


class Gatherer:
    def __init__(
        self,
        slot: WorkerSlot,
        ring: Ring,
        life: str,
        standing: Callable[[], dict[str, Any]],
        mask: Callable[[str], str],
    ) -> None:
        """`life`: a word of our own that no other life of a worker has. `standing`: how things stand in this worker.
        `mask` hides in a text what looks like a key."""
        self._slot = slot
        self._ring = ring
        self._life = life
        self._standing = standing
        self._mask = mask
        self._questions = WorkerQuestions(slot, self._answer, DOORS, ANSWER_SECONDS)
        self.start = self._questions.start
        self.stop = self._questions.stop

    # ── what a page asks ──

    async def requests(self, since: str) -> dict[str, Any]:
        """What is new since `since`, which the answer before has told."""
        known = dict(part.partition(":")[::2] for part in since.split(",")) if since else {}
        answers = await self._questions.ask_all({"what": "requests", "known": known})
        there = {number: answer for number, answer in answers.items() if answer is not None}
        return {
            "since": ",".join(f"{answer['life']}:{answer['changes']}" for answer in there.values()),
            "kept": {answer["life"]: answer["kept"] for answer in there.values()},
            "workers": {number: answer is not None for number, answer in answers.items()},
            "requests": [request for answer in there.values() for request in answer["requests"]],
        }

    async def standing(self) -> dict[str, Any]:
        return await self._questions.ask_all({"what": "standing"})

    async def request(self, id: str) -> dict[str, Any] | None:
        """None: it is not there, or not any more."""
        return await self._of_worker(id, {"what": "request", "id": id})

    async def content(self, id: str, attempt: int) -> dict[str, Any] | None:
        """None: nothing of it is kept."""
        return await self._of_worker(id, {"what": "content", "id": id, "attempt": attempt})

    async def _of_worker(self, id: str, question: Mapping[str, Any]) -> dict[str, Any] | None:
        number = id.partition("-")[0]
        if not number.isascii() or not number.isdecimal() or len(number) > len(str(self._slot.of)):
            return None
        answer: dict[str, Any] | None = await self._questions.ask(int(number), question)
        return answer

    # ── what a worker answers ──

    @property
    def _name(self) -> str:
        return f"{self._slot.number}-{self._life}"

    async def _answer(self, question: Any) -> Any:
        """What makes the answers is imported when somebody looks: many proxies run without."""
        from proxy.shell.inspector.contents import content
        from proxy.shell.inspector.details import detail

        match question:
            case {"what": "requests", "known": dict(known)}:
                return self._news(known.get(self._name, ""))
            case {"what": "standing"}:
                return self._standing()
            case {"what": "request", "id": str(id)}:
                seen = self._find(id)
                return None if seen is None else detail(seen, id)
            case {"what": "content", "id": str(id), "attempt": int(attempt)}:
                seen = self._find(id)
                if seen is None:
                    return None
                return await asyncio.to_thread(partial(content, seen, attempt, self._mask))
            case _:
                return None

    def _news(self, since: str) -> dict[str, Any]:
        from proxy.shell.inspector.summaries import summary

        change = int(since) if since.isascii() and since.isdecimal() and len(since) < 16 else 0
        news = [summary(seen, f"{self._name}-{seen.number}") for seen in self._ring.since(change)]
        return {
            "life": self._name,
            "changes": self._ring.changes,
            "kept": [seen.number for seen in self._ring.since(-1)],
            "requests": news,
        }

    def _find(self, id: str) -> Seen | None:
        name, _, number = id.rpartition("-")
        if name != self._name or not number.isascii() or not number.isdecimal() or len(number) > 16:
            return None
        return self._ring.find(int(number))
