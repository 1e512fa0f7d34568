"""Checks that could take long, in processes beside this one, which are ended when they do.

A pattern holds the process that matches it, all of it, and nothing within it can end that: no task, no thread, not even
a signal's handler. So the schema of a stranger meets the arguments of another one in a child. It is started when there
is something for it to do, it sets its own alarm before each check, and it ends when we do: with our last word to it, or
with the pipe between us. A check that is given up costs the request that asked for it.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from typing import Any, Protocol

from proxy.core import jsontext
from proxy.core.policy.awaited_checks import AwaitedChecks, PendingCheck
from proxy.core.tools.arguments import UNCHECKED, Problem, written
from proxy.shell.offload.check_process import ANSWER, QUESTION, READY
from proxy.shell.offload.turns import Turns
from proxy.shell.ops.logs import Log

COMMAND = (sys.executable, "-m", "proxy.shell.offload.check_process")

CHILDREN = 2
"""So that one long check does not keep all others waiting. Each has some 40 MiB."""

CHECK_SECONDS = 1.0
"""For one check, which usually takes a thousandth of that."""

REPLY_SECONDS = 5.0
"""For all checks of one reply, the wait for a child included."""

STARTING_SECONDS = 10.0
"""For a child to say that it is there."""

MAX_BYTES = 4 << 20
"""Of arguments. The largest honest ones are files, of some hundred KiB."""


class Lost(Exception):
    """The child has ended, or cannot be asked."""


class Checked(Protocol):
    """A request whose reply waits for checks."""

    owner: str
    log: Log
    checks: AwaitedChecks[Problem] | None
    seconds_checked: float


class CheckProcesses:
    def __init__(self) -> None:
        self._turns = Turns(CHILDREN)
        self._idle: list[Process] = []
        self._children: set[Process] = set()

    async def settle(self, request: Checked) -> None:
        """Answers the questions that have come up in a reply."""
        checks = request.checks
        assert checks is not None
        try:
            while (question := checks.pending) is not None:
                checks.settle(await self._patiently(question, request))
        except BaseException:
            checks.give_up()
            raise

    async def _patiently(self, question: PendingCheck, request: Checked) -> Problem | None:
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(REPLY_SECONDS - request.seconds_checked):
                return await self.verdict(question, request.owner)
        except (TimeoutError, Lost, OSError) as cause:
            request.log.error("check_abandoned", cause=type(cause).__name__)
            return UNCHECKED
        finally:
            request.seconds_checked += clock() - began

    async def verdict(self, question: PendingCheck, owner: str = "") -> Problem | None:
        """Raises Lost, TimeoutError or OSError where there is none to be had."""
        schema, said = written(question.spec), question.arguments.encode("utf-8", "surrogatepass")
        if len(said) > MAX_BYTES:
            raise Lost
        async with self._turns.turn(owner):
            child = self._idle.pop() if self._idle else await self._started()
            try:
                async with asyncio.timeout(2 * CHECK_SECONDS):  # it should have ended itself by then
                    answer = await self._asked(child, schema, said)
            except BaseException:  # whatever it goes on to say would be taken for another answer
                await self._end(child)
                raise
            self._idle.append(child)
        return None if answer is None else Problem(*answer)

    async def _started(self) -> Process:
        child = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,  # Ctrl+C is for us, and we end it
        )
        self._children.add(child)
        assert child.stdout is not None
        try:
            async with asyncio.timeout(STARTING_SECONDS):
                ready = await child.stdout.read(len(READY))
            if not ready:
                raise Lost
        except BaseException:
            await self._end(child)
            raise
        return child

    async def _asked(self, child: Process, schema: bytes, said: bytes) -> list[Any] | None:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(QUESTION.pack(CHECK_SECONDS, len(schema), len(said)) + schema + said)
        try:
            (size,) = ANSWER.unpack(await child.stdout.readexactly(ANSWER.size))
            answer: list[Any] | None = jsontext.loads(await child.stdout.readexactly(size))
        except asyncio.IncompleteReadError:
            raise Lost from None
        return answer

    async def _end(self, child: Process) -> None:
        """Also while we are being cancelled: what is killed is waited for by whoever closes."""
        with suppress(ProcessLookupError):
            child.kill()
        assert child.stdin is not None
        child.stdin.close()
        await child.wait()
        self._children.discard(child)

    async def close(self) -> None:
        for child in list(self._children):
            await self._end(child)
        self._idle.clear()
