"""What workers ask one another, over real sockets; `test_worker_metrics` has those that are dead or mute."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from proxy.shell.ops.worker_questions import ONLY_WORKER, WorkerQuestions, WorkerSlot


@asynccontextmanager
async def worker(folder: Path, number: int, of: int) -> AsyncIterator[WorkerQuestions]:
    async def answer(question: Any) -> Any:
        return {"worker": number, "asked": question}

    questions = WorkerQuestions(WorkerSlot(number, of, folder), answer, "what", answer_seconds=5)
    await questions.start()
    try:
        yield questions
    finally:
        questions.stop()


async def test_any_of_several_asks_all_or_one(tmp_path: Path) -> None:
    async with worker(tmp_path, 0, 2) as first, worker(tmp_path, 1, 2) as second:
        for each in (first, second):
            assert await each.ask_all("how?") == {
                "0": {"worker": 0, "asked": "how?"},
                "1": {"worker": 1, "asked": "how?"},
            }
        assert await first.ask(1, {"long": "x" * 300_000}) == {
            "worker": 1,
            "asked": {"long": "x" * 300_000},
        }
        assert await first.ask(2) is None
        assert await first.ask(-1) is None


async def test_one_alone_answers_itself() -> None:
    async def answer(question: Any) -> Any:
        return [question]

    questions = WorkerQuestions(ONLY_WORKER, answer)
    await questions.start()
    assert await questions.ask_all(1) == {"0": [1]}
    questions.stop()


async def test_a_question_that_is_none_gets_no_answer(tmp_path: Path) -> None:
    async with worker(tmp_path, 0, 2):
        reader, writer = await asyncio.open_unix_connection(tmp_path / "what0")
        writer.write(b"{")
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
