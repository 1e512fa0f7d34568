"""The same Responses over a WebSocket: one message for each event, one turn at a time.

A connection may have several lanes, each a conversation of its own, which its messages name (`stream_id`). Lanes take
turns: a request on one waits until the answer on another has ended.

Two tasks serve a socket. One listens all the time, so that pings are answered and a turn ends when its client leaves.
It queues what it receives for the other task, which gives turn after turn to the engine. A refusal is sent in its place
among the turns, because a client takes everything that comes during a turn for a part of it.

Messages are not compressed (RFC 7692): aiohttp would decompress a message at once and whole, before its size could be
checked; each event would be compressed by itself, and each socket would keep the memory for both.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from aiohttp import WSCloseCode, WSMessage, WSMsgType
from aiohttp.http_websocket import WSMessageTextBytes
from aiohttp.web_request import BaseRequest
from aiohttp.web_ws import WebSocketResponse

from proxy.core.errors import ClientFault, Fault
from proxy.core.ledger import Ledger
from proxy.core.policy.shares import Loan, Shares
from proxy.core.stored.named import Known, Named
from proxy.core.surfaces.responses.latest_responses import PIECE_BYTES, LatestResponses, Remembered
from proxy.core.surfaces.responses.socket_messages import (
    Unsteered,
    error_message,
    read_create,
    take_lane,
)
from proxy.core.surfaces.surface import Stored, Surface
from proxy.shell.engine import Engine
from proxy.shell.http.answers import SERVER
from proxy.shell.http.connection import connection_of
from proxy.shell.http.heartbeat import StreamTiming
from proxy.shell.in_flight import Caller, InFlight
from proxy.shell.offload.threads import LARGE_BYTES
from proxy.shell.ops.tasks import Tasks
from proxy.shell.stored_turns import StoredTurns
from proxy.shell.turn_store import TurnStore
from proxy.shell.websocket.stream import SocketStream

LIFETIME_SECONDS = 3600.0
"""The limit of the specification. A turn that is under way by then is finished first."""

MAX_WAITING = 32
"""This many messages may wait for their turn. Published clients send one and wait for its end."""

CLOSE_ANSWER_SECONDS = 3.0
"""The time that a client has to answer the proxy's close with its own."""

MESSAGE = (WSMsgType.TEXT, WSMsgType.BINARY)
SIGN_OF_LIFE = (WSMsgType.PING, WSMsgType.PONG)

Socket = WebSocketResponse[Literal[False]]
Message = tuple[WSMsgType, bytes, Loan]


class _TurnStore:
    """The newest responses of this connection, for one turn; behind them the store that all share."""

    remembers = True

    def __init__(self, known: LatestResponses, loan: Loan, stored: TurnStore) -> None:
        self._known = known
        self._loan = loan
        self._stored = stored
        self.begin = stored.begin
        self.save = stored.save
        self.save_later = stored.save_later
        self.recall = stored.recall
        self.share = stored.share
        self.give_up = stored.give_up
        self.close = stored.close

    async def load(self, named: Named, ledger: Ledger) -> Known:
        if named.previous is None or not self._known.knows(named.previous):
            return await self._stored.load(named, ledger)
        pieces = []
        for piece in self._known.unpacked(named.previous, self._loan.take):
            pieces.append(piece)
            await asyncio.sleep(0)
        ledger.work.takes_long |= len(pieces) * PIECE_BYTES > LARGE_BYTES
        history = b"".join(pieces)
        if not named.references:
            return Known(named, history)
        items = await self._stored.load(named._replace(previous=None), ledger)
        return Known(named, history, items.references)

    def remember(self, stored: Callable[[], Stored | None]) -> None:
        if (response := stored()) is not None:
            self._known.keep(response)


@dataclass(slots=True, frozen=True)
class SocketTools:
    """What all sockets of a process share."""

    engine: Engine
    surface: Surface
    timing: StreamTiming
    message_limit: int
    memory: Shares
    remembered: Remembered
    tasks: Tasks
    stored_turns: StoredTurns


class SocketSession:
    """One socket, from its handshake to its end."""

    def __init__(self, request: BaseRequest, request_id: str, caller: Caller, tools: SocketTools) -> None:
        self._request = request
        self._request_id = request_id
        self._caller = caller
        self._tools = tools
        self._known = LatestResponses(tools.message_limit, tools.remembered, caller.owner)
        self._coming = Loan(tools.memory, caller.owner)
        """The memory for a message that has not arrived completely."""
        self._socket: Socket = WebSocketResponse(
            timeout=CLOSE_ANSWER_SECONDS,
            max_msg_size=tools.message_limit,
            decode_text=False,
            compress=False,
            autoping=False,
        )
        self._waiting: asyncio.Queue[Message | Fault | None] = asyncio.Queue()
        self._waiting_bytes = 0
        self._leaving = False
        self._last_word: Fault | None = None
        self.turns = 0
        self.cut: Fault | None = None
        """Why the connection was cut, if it was."""

    async def run(self) -> Socket:
        self._socket.headers.update({"Server": SERVER, "X-Request-Id": self._request_id})
        await self._socket.prepare(self._request)
        connection_of(self._request).listener = self._hear_bytes
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
            self._let_go()
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
        """Listens until one side closes the socket."""
        while await self._hear():
            pass

    async def _hear(self) -> bool:
        """Receives one message, and says whether there may be more. It keeps no message while it waits."""
        try:
            message = await self._socket.receive(self._tools.timing.heartbeat)
        except TimeoutError:
            return await self._ping()
        if message.type in SIGN_OF_LIFE:
            return await self._is_answered(message)
        if message.type not in MESSAGE:
            return False
        self._coming.end()
        self._waiting.put_nowait(self._admitted(message.type, message.data))
        if self._too_much_waits():
            await self._socket.close(
                code=WSCloseCode.POLICY_VIOLATION, message=b"Too many messages are waiting."
            )
            return False
        return True

    def _admitted(self, kind: WSMsgType, data: bytes) -> "Message | Fault":
        """Returns what is answered in its turn: the message, or a fault if there is no memory for it."""
        loan = Loan(self._tools.memory, self._caller.owner)
        try:
            loan.take(len(data))
        except Fault as fault:
            return fault
        self._waiting_bytes += len(data)
        return kind, data, loan

    def _hear_bytes(self, size: int) -> None:
        """Takes memory for bytes of a message that may be large, and may never end."""
        try:
            self._coming.take(size)
        except Fault as fault:
            self.cut = fault
            connection = connection_of(self._request)
            connection.listener = None
            connection.stop_reading()  # else all that comes before its close would be kept
            self._tools.tasks.start(self._close_for_want_of_memory(), "close")

    async def _close_for_want_of_memory(self) -> None:
        await self._socket.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"Too much is under way.")

    def _let_go(self) -> None:
        """Gives back the memory of what nobody will answer or continue."""
        connection_of(self._request).listener = None
        self._coming.end()
        while not self._waiting.empty():
            if isinstance(message := self._waiting.get_nowait(), tuple):
                message[2].end()
        self._known.close()

    def _too_much_waits(self) -> bool:
        """One message may always wait: aiohttp has checked its size when it received it."""
        count = self._waiting.qsize()
        return count > MAX_WAITING or (count > 1 and self._waiting_bytes > self._tools.message_limit)

    async def _is_answered(self, sign: WSMessage | WSMessageTextBytes) -> bool:
        """Answers a ping and lets other tasks run: aiohttp itself would answer thousands without a pause."""
        try:
            if sign.type is WSMsgType.PING:
                await self._socket.pong(sign.data)
        except ConnectionError:
            return False
        await asyncio.sleep(0)
        return True

    async def _ping(self) -> bool:
        """Keeps programs on the way from closing the connection. A missing answer means little, because a client need
        not read its socket between two turns."""
        try:
            await self._socket.ping()
        except ConnectionError:
            return False
        return True

    # ── answering ──

    async def _answer_all(self, listening: asyncio.Task[None]) -> None:
        try:
            while not self._leaving:
                await self._answer(await self._waiting.get())  # of which nothing stays here
            if self._last_word is not None:
                await self._refuse(self._last_word)
            listening.cancel()
        except ConnectionError:
            pass  # the client has left, which is heard by whoever listens

    async def _answer(self, message: Message | Fault | None) -> None:
        if isinstance(message, Fault):
            await self._refuse(message)
        if not isinstance(message, tuple):
            return
        self._waiting_bytes -= len(message[1])
        self.turns += 1
        turn_id = f"{self._request_id}.{self.turns}"
        stream = SocketStream(self._send, self._cut, turn_id, self._tools.timing, self._tools.tasks)
        try:
            await self._turn(message, stream)
            for _ in self._known.shelve():
                await asyncio.sleep(0)
        finally:
            message[2].end()

    async def _turn(self, message: Message, stream: SocketStream) -> None:
        try:
            body = partial(self._body, message, stream)
            tenant, loan = self._caller.tenant.name, message[2]
            store = _TurnStore(self._known, loan, self._tools.stored_turns.turn(tenant, loan))
            await self._tools.engine.respond(self._tools.surface, body, self._caller, stream, store)
        except Fault as fault:
            await self._refuse(fault, stream.lane)

    async def _body(self, message: Message, stream: SocketStream, in_flight: InFlight) -> dict[str, Any]:
        kind, data, loan = message
        ledger = in_flight.ledger
        in_flight.received(data)
        if kind is not WSMsgType.TEXT:
            raise ClientFault(
                "Messages must be text, not binary: send the JSON as text.", code="invalid_message"
            )
        try:
            body = await self._tools.engine.threads.read(data, read_create, ledger, loan)
        except Unsteered as fault:
            stream.lane = self._known.lane_of(fault.details["previous_response_id"])
            raise
        stream.lane = take_lane(body)
        self._known.begin(stream.lane)
        return body

    async def _send(self, message: bytes) -> None:
        await self._socket.send_frame(message, WSMsgType.TEXT)

    def _cut(self) -> None:
        if self._request.transport is not None:
            self._request.transport.abort()

    async def _refuse(self, fault: Fault, lane: str | None = None) -> None:
        fault = self._tools.engine.secret_mask.hidden_in(fault, self._request.headers)
        await self._send(error_message(fault, lane))


def _limit_reached() -> ClientFault:
    return ClientFault(
        f"This connection has reached its limit of {LIFETIME_SECONDS / 60:g} minutes. Open a new one to go on.",
        code="websocket_connection_limit_reached",
    )
