"""All WebSockets that are open: who may open one, and how they are closed together."""

import asyncio
from contextlib import suppress

from proxy.core.errors import OwnWords
from proxy.core.policy.shares import Shares
from proxy.shell.http.answers import HttpAnswer, HttpRequest
from proxy.shell.http.failures import exhausted
from proxy.shell.http.handshake import handshake_fault
from proxy.shell.in_flight import Caller
from proxy.shell.ops.fault_facts import facts_of
from proxy.shell.ops.logs import Log
from proxy.shell.websocket.session import CLOSE_ANSWER_SECONDS, SocketSession, SocketTools

MAX_OPEN = 2048
"""Shared among owners, so one alone may have 1,024; as many as requests at one backend."""


class OpenSockets:
    """All that are open."""

    def __init__(self, tools: SocketTools, log: Log) -> None:
        self._tools = tools
        self._log = log
        self._open: set[SocketSession] = set()
        self._shares = Shares(MAX_OPEN)
        self._none = asyncio.Event()
        self._none.set()

    async def hold(self, request: HttpRequest, request_id: str, caller: Caller) -> HttpAnswer:
        if (fault := handshake_fault(request)) is not None:
            raise fault
        session = SocketSession(request, request_id, caller, self._tools)
        if not self._shares.take(caller.owner):
            raise exhausted(OwnWords("Too many WebSockets are open: close one, or try again later."))
        self._open.add(session)
        self._none.clear()
        try:
            return await session.run()
        finally:
            self._shares.give_back(caller.owner)
            self._open.discard(session)
            if not self._open:
                self._none.set()
            ending = {"code": session.close_code} if session.cut is None else facts_of(session.cut)
            self._log.info("websocket", request_id=request_id, turns=session.turns, **ending)

    def leave(self) -> None:
        """No further turns; those under way are the engine's."""
        for session in self._open:
            session.leave()

    async def closed(self) -> None:
        """All have taken leave, or had the time to. From then on nothing is heard of them."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_ANSWER_SECONDS):
                await self._none.wait()
