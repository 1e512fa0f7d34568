"""Makes checks that could take long in other processes, and kills those that do.

A regular expression holds the whole process that matches it, and nothing inside can end that: no task, no thread, not
even the handler of a signal. A child process therefore checks the arguments of a call against a client's schema. It is
started when there is something to check, sets an alarm before each check, and ends with the pipe to its parent. A check
that is abandoned costs the request that asked for it.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from typing import Any, Protocol

from proxy.core import jsontext
from proxy.core.argument_problem import UNCHECKED, ArgumentProblem
from proxy.core.policy.awaited_checks import AwaitedChecks, PendingCheck
from proxy.core.tools.arguments import written
from proxy.shell.offload.check_process import ANSWER, QUESTION, READY
from proxy.shell.offload.fair_slots import FairSlots
from proxy.shell.ops.logs import Log

COMMAND = (sys.executable, "-m", "proxy.shell.offload.check_process")

CHILDREN = 2
"""One long check must not keep all others waiting. Each child takes some 40 MiB."""

CHECK_SECONDS = 1.0
"""The time for one check, which usually takes a thousandth of it."""

REPLY_SECONDS = 5.0
"""The time for all checks of one reply, with the wait for a child."""

STARTING_SECONDS = 10.0
"""The time that a child has to say that it is ready."""

MAX_BYTES = 4 << 20
"""The largest arguments that are checked. Honest ones are files of some hundred KiB at most."""


class Lost(Exception):
    """The child has ended, or cannot be asked."""


class Checked(Protocol):
    """A request whose reply waits for checks."""

    owner: str
    log: Log
    checks: AwaitedChecks | None
    seconds_checked: float

    def checked(
        self, question: PendingCheck, problem: ArgumentProblem | None, *, gave_up: bool = False
    ) -> None:
        """This is the verdict on the question. `gave_up`: nobody waited for it, nor for those on what the reply goes on
        to say."""


class CheckProcesses:
    def __init__(self) -> None:
        self._slots = FairSlots(CHILDREN)
        self._idle: list[Process] = []
        self._children: set[Process] = set()

    async def settle(self, request: Checked) -> None:
        """Answers the questions that have come up in a reply."""
        checks = request.checks
        assert checks is not None
        try:
            while (question := checks.pending) is not None:
                problem = await self._patiently(question, request)
                request.checked(question, problem)
                checks.settle(problem)
        except BaseException:
            if checks.pending is not None:
                request.checked(checks.pending, UNCHECKED, gave_up=True)
            checks.give_up()
            raise

    async def _patiently(self, question: PendingCheck, request: Checked) -> ArgumentProblem | None:
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

    async def verdict(self, question: PendingCheck, owner: str = "") -> ArgumentProblem | None:
        """Has a call checked. Raises Lost, TimeoutError or OSError if there is no verdict."""
        schema, arguments = written(question.spec), question.arguments.encode("utf-8", "surrogatepass")
        if len(arguments) > MAX_BYTES:
            raise Lost
        async with self._slots.slot(owner):
            child = self._idle.pop() if self._idle else await self._started()
            try:
                async with asyncio.timeout(2 * CHECK_SECONDS):  # it should have ended itself by then
                    answer = await self._asked(child, schema, arguments)
            except BaseException:  # whatever it goes on to say would be taken for another answer
                await self._end(child)
                raise
            self._idle.append(child)
        return None if answer is None else ArgumentProblem(*answer)

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

    async def _asked(self, child: Process, schema: bytes, arguments: bytes) -> list[Any] | None:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(QUESTION.pack(CHECK_SECONDS, len(schema), len(arguments)) + schema + arguments)
        try:
            (size,) = ANSWER.unpack(await child.stdout.readexactly(ANSWER.size))
            answer: list[Any] | None = jsontext.loads(await child.stdout.readexactly(size))
        except asyncio.IncompleteReadError:
            raise Lost from None
        return answer

    async def _end(self, child: Process) -> None:
        """Kills a child, also during a cancellation. `close` waits for it then."""
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
