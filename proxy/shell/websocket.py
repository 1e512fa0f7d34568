"""The same Responses over a WebSocket: one message for each event, one turn at a time.

A connection may have several lanes, each a conversation of its own, which its messages name (`stream_id`). They take
turns: what is asked on one waits until the other's answer has ended.

Two tasks serve a socket. One listens all the time, so that pings are answered and a client that leaves takes its turn
along; what it hears waits for the other one, which puts turn after turn to the engine. What is refused is answered in
its place among the turns, because a client takes whatever comes during a turn for a part of it.

Nothing is packed (RFC 7692): a message would be unpacked at once and whole, before anybody could ask what it holds,
each event would be packed by itself, and each socket keep the memory for both.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal
from urllib.parse import urlsplit

from aiohttp import WSCloseCode, WSMsgType, web

from proxy.core.errors import ClientFault, Fault, OwnWords
from proxy.core.inbound.responses_encode import SOCKET
from proxy.core.inbound.responses_memory import LatestResponses
from proxy.core.inbound.responses_socket import error_message, on_lane, read_create, take_lane
from proxy.core.inbound.responses_surface import ResponsesSurface
from proxy.core.ledger import Ledger
from proxy.core.policy.shares import Shares
from proxy.shell.channel import Channel, Tempo
from proxy.shell.engine import Engine
from proxy.shell.errand import Visitor
from proxy.shell.failures import exhausted
from proxy.shell.http import SERVER
from proxy.shell.logs import Log
from proxy.shell.tasks import Tasks

LIFETIME_SECONDS = 3600.0
"""The specification's: a turn that is under way by then is finished first."""

MAX_OPEN = 2048
"""Shared among owners, so one alone may have 1,024; as many as requests at one backend."""

MAX_WAITING = 32
"""Messages that may wait for their turn; published clients send one and wait for its end."""

CLOSING_SECONDS = 3.0
"""For a client to answer our close with its own."""

HANDSHAKE = (
    "This is not a valid WebSocket handshake: send Connection: Upgrade, Upgrade: websocket, "
    "Sec-WebSocket-Version: 13 and a Sec-WebSocket-Key of 16 bytes in base64."
)

MESSAGE = (WSMsgType.TEXT, WSMsgType.BINARY)

Socket = web.WebSocketResponse[Literal[False]]
Message = tuple[WSMsgType, bytes]


class SocketChannel(Channel):
    """The way back for one turn: in the tempo of any stream, but on a socket that others have used before."""

    framing = SOCKET

    def __init__(
        self, socket: Socket, request: web.BaseRequest, request_id: str, tempo: Tempo, tasks: Tasks
    ) -> None:
        super().__init__(request, request_id, tempo, tasks)
        self.lane: str | None = None
        self._socket = socket
        self._in_order = asyncio.Lock()
        """A heartbeat may be sending too: while one message waits, the next one would overtake it."""

    @property
    def flows(self) -> bool:
        """Messages go through the socket's own writer, which waits."""
        return False

    async def flush(self) -> None:
        await self._send_frames()
        self._busy = False

    async def finish(self) -> None:
        await self._send_frames()

    async def _send_frames(self) -> None:
        """One by one: if the turn is interrupted here, the rest is still there to be sent before its ending."""
        self.opened = True
        self._starts_to_write()
        async with self._in_order:
            while self._frames:
                message = on_lane(self._frames.pop(0), self.lane)
                self.bytes_out += len(message)
                await self._socket.send_frame(message, WSMsgType.TEXT)

    def _comment(self) -> None:
        """Silence is filled by pings, turn or no turn."""


class Conversation:
    """One socket, from its handshake to its end."""

    def __init__(
        self,
        request: web.BaseRequest,
        request_id: str,
        engine: Engine,
        surface: ResponsesSurface,
        visitor: Visitor,
        tempo: Tempo,
        message_limit: int,
        tasks: Tasks,
    ) -> None:
        self._request = request
        self._request_id = request_id
        self._engine = engine
        self._memory = LatestResponses(message_limit)
        self._surface = replace(surface, memory=self._memory)
        self._visitor = visitor
        self._tempo = tempo
        self._limit = message_limit
        self._tasks = tasks
        self._socket: Socket = web.WebSocketResponse(
            timeout=CLOSING_SECONDS, max_msg_size=message_limit, decode_text=False, compress=False
        )
        self._waiting: asyncio.Queue[Message | None] = asyncio.Queue()
        self._waiting_bytes = 0
        self._leaving = False
        self._last_word: Fault | None = None
        self.turns = 0

    async def run(self) -> Socket:
        self._socket.headers.update({"Server": SERVER, "X-Request-Id": self._request_id})
        await self._socket.prepare(self._request)
        loop = asyncio.get_running_loop()
        lifetime = loop.call_later(LIFETIME_SECONDS, self.leave, _limit_reached())
        try:
            async with asyncio.TaskGroup() as group:
                listening = group.create_task(self._listen())
                answering = group.create_task(self._answer_all(listening))
                await asyncio.wait((listening,))
                answering.cancel()
        finally:
            lifetime.cancel()
        # While somebody listens, aiohttp would not wait for the client's own close.
        await self._socket.close(code=WSCloseCode.GOING_AWAY)
        return self._socket

    @property
    def close_code(self) -> int | None:
        return self._socket.close_code

    def leave(self, last_word: Fault | None = None) -> None:
        """Closes the socket, after the turn that is under way."""
        self._leaving = True
        self._last_word = last_word
        self._waiting.put_nowait(None)

    # ── listening ──

    async def _listen(self) -> None:
        """Until the socket is closed, whoever closes it."""
        while True:
            try:
                message = await self._socket.receive(self._tempo.heartbeat)
            except TimeoutError:
                if await self._ping():
                    continue
                return
            if message.type not in MESSAGE:
                return
            self._waiting_bytes += len(message.data)
            self._waiting.put_nowait((message.type, message.data))
            if self._too_much_waits():
                await self._socket.close(
                    code=WSCloseCode.POLICY_VIOLATION, message=b"Too many messages are waiting."
                )
                return

    def _too_much_waits(self) -> bool:
        """One message may always wait: how large it is has been checked by whoever received it."""
        count = self._waiting.qsize()
        return count > MAX_WAITING or (count > 1 and self._waiting_bytes > self._limit)

    async def _ping(self) -> bool:
        """Keeps whatever lies between from closing the connection. That it is not answered means little: a client
        need not look at its socket between two turns."""
        try:
            await self._socket.ping()
        except ConnectionError:
            return False
        return True

    # ── answering ──

    async def _answer_all(self, listening: asyncio.Task[None]) -> None:
        try:
            while not self._leaving:
                message = await self._waiting.get()
                if message is not None:
                    await self._answer(message)
            if self._last_word is not None:
                await self._refuse(self._last_word)
            listening.cancel()
        except ConnectionError:
            pass  # the client has left, which is heard by whoever listens

    async def _answer(self, message: Message) -> None:
        self._waiting_bytes -= len(message[1])
        self.turns += 1
        this = f"{self._request_id}.{self.turns}"
        channel = SocketChannel(self._socket, self._request, this, self._tempo, self._tasks)
        channel.bytes_in = len(message[1])
        try:
            body = partial(self._body, message, channel)
            await self._engine.respond(self._surface, body, self._visitor, channel)
        except Fault as fault:
            await self._refuse(fault, channel.lane)

    async def _body(self, message: Message, channel: SocketChannel, ledger: Ledger) -> dict[str, Any]:
        kind, data = message
        if kind is not WSMsgType.TEXT:
            raise ClientFault(
                "Messages must be text, not binary: send the JSON as text.", code="invalid_message"
            )
        body = read_create(data)
        channel.lane = self._memory.lane = take_lane(body)
        return body

    async def _refuse(self, fault: Fault, lane: str | None = None) -> None:
        fault = self._engine.cover.over(fault, self._request.headers)
        await self._socket.send_frame(error_message(fault, lane), WSMsgType.TEXT)


class Conversations:
    """All that are open."""

    def __init__(
        self,
        *,
        engine: Engine,
        surface: ResponsesSurface,
        tempo: Tempo,
        message_limit: int,
        tasks: Tasks,
        log: Log,
    ) -> None:
        self._engine = engine
        self._surface = surface
        self._tempo = tempo
        self._message_limit = message_limit
        self._tasks = tasks
        self._log = log
        self._open: set[Conversation] = set()
        self._shares = Shares(MAX_OPEN)
        self._none = asyncio.Event()
        self._none.set()

    async def hold(self, request: web.BaseRequest, request_id: str, visitor: Visitor) -> web.StreamResponse:
        if (refusal := self._refusal(request)) is not None:
            raise refusal
        this = Conversation(
            request,
            request_id,
            self._engine,
            self._surface,
            visitor,
            self._tempo,
            self._message_limit,
            self._tasks,
        )
        if not self._shares.take(visitor.owner):
            raise exhausted(OwnWords("Too many WebSockets are open: close one, or try again later."))
        self._open.add(this)
        self._none.clear()
        try:
            return await this.run()
        finally:
            self._shares.give_back(visitor.owner)
            self._open.discard(this)
            if not self._open:
                self._none.set()
            self._log.info("websocket", request_id=request_id, turns=this.turns, code=this.close_code)

    def _refusal(self, request: web.BaseRequest) -> Fault | None:
        if not web.WebSocketResponse().can_prepare(request):
            return ClientFault(HANDSHAKE, code="invalid_handshake")
        if _comes_from_elsewhere(request):
            return ClientFault(
                "Web pages of other origins are not served: connect from a program, or from a page of this origin.",
                status=403,
                code="origin_not_allowed",
            )
        return None

    def leave(self) -> None:
        """No further turns; those under way are the engine's."""
        for conversation in self._open:
            conversation.leave()

    async def closed(self) -> None:
        """All have taken leave, or had the time to. From then on nothing is heard of them."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                await self._none.wait()


def _comes_from_elsewhere(request: web.BaseRequest) -> bool:
    """Browsers let any page open a WebSocket to anywhere: a stranger's could speak with this model too."""
    origin = request.headers.get("Origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != request.host
    except ValueError:  # not even an address
        return True


def _limit_reached() -> ClientFault:
    return ClientFault(
        f"This connection has reached its limit of {LIFETIME_SECONDS / 60:g} minutes. Open a new one to go on.",
        code="websocket_connection_limit_reached",
    )
