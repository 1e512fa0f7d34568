"""Two ways to be stopped: by a client who leaves, and by us, who say why."""

import asyncio

import pytest

from proxy.core.errors import ProxyFault
from proxy.shell.cancellation import Interruptible, shutting_down


class Waiting:
    """A task in the middle of an interruptible request."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()
        self.interruptible: Interruptible
        self.interrupted = asyncio.Event()
        self.tells = False
        self.task = asyncio.get_running_loop().create_task(self._wait())

    async def _wait(self) -> str:
        self.interruptible = Interruptible()
        try:
            with self.interruptible:
                await self._serve()
        except ProxyFault as fault:
            await asyncio.sleep(0)  # nothing is cancelled any more
            return fault.message
        return "never"

    async def _serve(self) -> None:
        """As a request does: the ending is told where an interruption counts too."""
        try:
            with self.interruptible:
                self._begun.set()
                await asyncio.Event().wait()
        except ProxyFault:
            self.interrupted.set()
            if not self.tells:
                raise
            await asyncio.Event().wait()

    def stop(self) -> None:
        self.interruptible.interrupt(shutting_down())

    async def begun(self) -> None:
        await self._begun.wait()


async def test_an_interruption_is_a_fault_and_the_task_lives_on() -> None:
    waiting = Waiting()
    await waiting.begun()
    waiting.stop()
    assert await waiting.task == shutting_down().message


async def test_a_clients_leaving_ends_the_task() -> None:
    waiting = Waiting()
    await waiting.begun()
    waiting.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting.task


async def test_a_client_that_leaves_during_an_interruption_has_left() -> None:
    waiting = Waiting()
    await waiting.begun()
    waiting.stop()
    waiting.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting.task


async def test_a_client_that_leaves_after_one_has_left() -> None:
    waiting = Waiting()
    waiting.tells = True
    await waiting.begun()
    waiting.stop()
    await waiting.interrupted.wait()
    waiting.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting.task


async def test_what_is_being_sent_is_not_interrupted() -> None:
    waiting = Waiting()
    await waiting.begun()
    waiting.interruptible.disarm()
    waiting.stop()
    assert not waiting.task.cancelling()
    waiting.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting.task
