"""Puts the questions of an examination to a backend, one after another, and hands in what came.

A backend that is busy is given time; one that crashed is asked once more, because a crash that repeats itself is an
answer. Where the question says so, the connection is closed as soon as the reply has begun.
"""

import asyncio
from collections.abc import Awaitable, Callable

from proxy.core.errors import Fault, Overloaded, RateLimited, Unreachable
from proxy.core.examination.examination import Asked, Examination
from proxy.core.examination.heard import Received, heard_of
from proxy.shell.http.transport import Timeouts, Transport

MAX_REPLY_BYTES = 4 << 20
"""The longest answer that is read. A model that does not end is left there."""

PATIENCE_SECONDS = 30.0
"""The longest wait for a busy backend."""
PAUSE_SECONDS = 2.0
"""The wait for one that does not say how long."""
TRIES = 3

CRASHED = 500

SILENT_QUESTIONS = 3
"""After so many questions in a row without a connection, the backend is gone."""


class Examiner:
    def __init__(
        self,
        transport: Transport,
        timeouts: Callable[[float], Timeouts],
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`timeouts` makes the limits on waits from the time that the profile allows for the first byte."""
        self._sleep = sleep
        self._transport = transport
        self._timeouts = timeouts
        self._clock = clock

    async def examine(self, examination: Examination) -> None:
        """Raises Unreachable if the backend is gone."""
        silent = 0
        while (asked := examination.next()) is not None:
            received = await self._received(asked)
            silent = silent + 1 if isinstance(received, Unreachable) else 0
            if silent == SILENT_QUESTIONS:
                assert isinstance(received, Fault)
                raise received
            examination.take(asked, received)

    async def _received(self, asked: Asked) -> Received | Fault:
        started = self._clock()
        received = await self._once(asked, started)
        for left in reversed(range(1, TRIES)):
            if not await self._is_worth_another(asked, received, left):
                break
            received = await self._once(asked, started)
        return received

    async def _is_worth_another(self, asked: Asked, received: Received | Fault, left: int) -> bool:
        if isinstance(received, Fault):
            return False
        if received.status == CRASHED:
            return left == TRIES - 1
        fault = heard_of(asked.preparation, received).fault
        if not isinstance(fault, Overloaded | RateLimited):
            return False
        wait = fault.retry_after or PAUSE_SECONDS
        if wait > PATIENCE_SECONDS:
            return False
        await self._sleep(wait)
        return True

    async def _once(self, asked: Asked, started: float) -> Received | Fault:
        """`started`: when the question was first put. A wait for a place counts."""
        try:
            exchange = await self._transport.send(
                asked.preparation.post, self._timeouts(asked.preparation.profile.first_byte_s)
            )
        except Fault as fault:
            return fault
        seconds = self._clock() - started
        body = bytearray()
        whole = False
        try:
            while len(body) < MAX_REPLY_BYTES and not (whole := not (data := await exchange.read())):
                body += data
                if asked.question.leave:
                    break
            if whole:
                exchange.release()
        except Fault as fault:
            return fault
        finally:
            exchange.close()
        return Received(exchange.status, exchange.headers, bytes(body), seconds, whole)
