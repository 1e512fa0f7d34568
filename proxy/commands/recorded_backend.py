"""The backend's side of a recorded exchange, for any client: its status, headers and bytes, at their own tempo.

The attempts are answered in their order, one for each POST; then the last of them again and again.
"""

import asyncio
import contextlib
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import chain, repeat

from proxy.commands.command import DONE, show
from proxy.core import jsontext
from proxy.core.masking.unseen import UNSEEN
from proxy.core.policy.hosts import AUTHORITY, is_loopback
from proxy.core.recorded.lines import BadRecording
from proxy.core.recorded.recording import RecordedAttempt, Recording

LOCAL = "127.0.0.1"
MOST_BODY = 64 << 20
OURS = frozenset({"content-length", "transfer-encoding", "content-encoding", "connection", "keep-alive"})
"""Headers that say how the bytes were sent, which is done otherwise here."""
LETTING_IN = "access-control-"
"""Headers by which a server lets the pages of others read its answers. Here they would read what was recorded."""
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")

NOT_FOR_PAGES = b"This is for programs on this machine, and for no page of a browser.\n"


async def serve(recording: Recording, port: int) -> int:
    """Until it is interrupted."""
    backend = RecordedBackend(recording)
    server = await asyncio.start_server(backend.answer, LOCAL, port)
    host, bound = server.sockets[0].getsockname()[:2]
    show(f"Playing the backend of {recording.request.request_id} at http://{host}:{bound}/v1")
    async with server:
        await server.serve_forever()
    return DONE


class RecordedBackend:
    def __init__(self, recording: Recording) -> None:
        attempts = recording.attempts
        if not attempts:
            raise BadRecording("No backend was asked in this exchange, so there is none to play.")
        self._attempts: Iterator[RecordedAttempt] = chain(attempts, repeat(attempts[-1]))
        self._models = {
            "object": "list",
            "data": [{"id": each.model, "object": "model"} for each in attempts],
        }

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
            pass  # the client has left, or does not speak HTTP
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request. Returns whether the connection stays."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:])
        }
        await reader.readexactly(min(int(fields.get("content-length", 0)), MOST_BODY))
        if _is_of_a_page(fields):
            writer.write(_head(403, {"Content-Length": str(len(NOT_FOR_PAGES))}) + NOT_FOR_PAGES)
            return True
        if not head[0].startswith("POST "):
            data = jsontext.dumps(self._models)
            writer.write(
                _head(200, {"Content-Type": "application/json", "Content-Length": str(len(data))}) + data
            )
            return True
        return await _play(next(self._attempts), writer)


async def _play(attempt: RecordedAttempt, writer: asyncio.StreamWriter) -> bool:
    clock = asyncio.get_running_loop().time
    asked = clock() - (attempt.began if attempt.place is None else attempt.place)

    async def at(moment: float) -> None:
        await asyncio.sleep(max(0.0, asked + moment - clock()))

    if attempt.status is None:
        await at(attempt.ended or 0.0)
        writer.transport.abort()
        return False
    await at(attempt.head or 0.0)
    kept = {name: value for name, value in attempt.answer_headers.items() if _is_sent(name, value)}
    writer.write(_head(attempt.status, kept | {"Transfer-Encoding": "chunked"}))
    for moment, data in attempt.reads:
        await at(moment)
        if data:
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await writer.drain()
    if attempt.failure is not None and attempt.status // 100 == 2:
        await at(attempt.ended or 0.0)
        writer.close()  # what was sent arrives, and the end is missing
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _is_of_a_page(fields: Mapping[str, str]) -> bool:
    """A page in a browser on this machine could otherwise take an answer away from whom it is for; and one whose name
    was made to mean this machine could read it (S31)."""
    host = AUTHORITY.fullmatch(fields.get("host", LOCAL))
    return "origin" in fields or host is None or not is_loopback(host["six"] or host["name"])


def _is_sent(name: str, value: str) -> bool:
    """A recording may come from anybody: no header of it may end its line."""
    lowered = name.lower()
    if lowered in OURS or lowered.startswith(LETTING_IN):
        return False
    return HEADER_NAME.fullmatch(name) is not None and not UNSEEN.search(value)


def _head(status: int, headers: dict[str, str]) -> bytes:
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")
