"""Keeps background tasks until they end.

The event loop keeps only weak references, so a task without a holder may disappear half done, and its exception with
it. Here each task is held until it ends, and a failure is logged.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from proxy.shell.ops.logs import Log

Result = TypeVar("Result")


class Tasks:
    def __init__(self, log: Log) -> None:
        self._log = log
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        _ = self.started(work, name)

    def started(self, work: Coroutine[Any, Any, Result], name: str) -> "asyncio.Task[Result]":
        """Starts a task and returns it, for a caller that wants to know what becomes of it."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            self._log.error("task_failed", task=task.get_name(), exc_info=failure)

    async def finish(self, seconds: float) -> None:
        """Waits until all have ended, so long at most; then ends them."""
        if self._running:
            await asyncio.wait(list(self._running), timeout=seconds)
        await self.close()

    async def close(self) -> None:
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
