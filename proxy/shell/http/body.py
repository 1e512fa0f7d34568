"""Reading a request's body: bounded in size, before and after decompression, and in time.

aiohttp's own decompression is switched off (see `connection`). Here the limit holds for the decompressed bytes, and an
unknown coding is refused instead of being passed on as garbage.
"""

import asyncio
import zlib
from collections.abc import Callable, Mapping

from aiohttp import HttpVersion11
from aiohttp.web_protocol import RequestPayloadError
from aiohttp.web_request import BaseRequest

from proxy.core.errors import ClientFault, TooLarge, Unsupported
from proxy.core.masking.redact import quoted
from proxy.shell.http.content_coding import WINDOW_BITS

PATIENCE_SECONDS = 20.0
SLOWEST_BYTES_PER_SECOND = 1024
"""Apache's rule against clients that send a body for hours: this much time, and more for each byte (F70, S26)."""

ACCEPTED_CODINGS = ("gzip", "deflate")
"""The codings that the proxy knows, one layer at a time."""

PIECE_BYTES = 1024 * 1024
"""Decompressed at a time, which takes a millisecond."""

MAX_VAIN_BYTES = 1024 * 1024
"""A compressed body may be larger than its content by this much. No client sends that, but deflate has blocks without
any content, and any number of them may follow one another."""


Reserve = Callable[[int], None]


async def read_body(request: BaseRequest, limit: int, reserve: Reserve) -> bytes:
    """Returns the decompressed body, which is never empty. `reserve` is called with the size of each piece, and raises
    where there is no memory for it."""
    _check_type(request.headers)
    data = await _read(request, limit, reserve)
    if not data:
        raise ClientFault("The request body is empty: send a JSON object.")
    return data


async def read_body_if_any(request: BaseRequest, limit: int, reserve: Reserve) -> bytes:
    """Does as `read_body`, for a request that may do without: published clients send nothing at all, and some of them
    no type, or one of a form. A web page still has to say that it means it."""
    data = await _read(request, limit, reserve)
    if data or "Origin" in request.headers:
        _check_type(request.headers)
    return data


def _check_type(headers: Mapping[str, str]) -> None:
    """Checks the content type. Programs may leave it out. A web page may not: a browser sends a request without one, or
    with the type of a form, to any server without asking, and the request would cost money at the backend."""
    kind = headers.get("Content-Type", "").split(";")[0].strip().lower()
    kind = kind or ("nothing" if "Origin" in headers else "application/json")
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Unsupported(
            f"The request body must be application/json by its Content-Type, not {quoted(kind)}."
        )


async def _read(request: BaseRequest, limit: int, reserve: Reserve) -> bytes:
    headers, content = request.headers, request.content
    if (request.content_length or 0) > limit:
        raise _too_large(limit)
    coding = headers.get("Content-Encoding", "").strip().lower() or "identity"
    collect = _Plain(limit, reserve) if coding == "identity" else _Inflated(coding, limit, reserve)
    if headers.get("Expect", "").lower() == "100-continue" and request.version >= HttpVersion11:
        await _invite(request)  # to an older client it would be the answer
    try:
        if content.is_eof():  # most bodies have come together with their head
            await collect.feed(content.read_nowait())
            return collect.close()
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        async with asyncio.timeout_at(deadline) as patience:
            while data := await content.readany():
                await collect.feed(data)
                deadline += len(data) / SLOWEST_BYTES_PER_SECOND
                patience.reschedule(deadline)
    except TimeoutError:
        raise ClientFault(
            "The request body did not arrive in time: send it faster, or less of it.",
            status=408,
            code="request_timeout",
        ) from None
    except RequestPayloadError:
        raise ClientFault(
            "The request body is broken: send it with Content-Length, or in whole chunks to the last.",
            code="invalid_framing",
        ) from None
    return collect.close()


async def _invite(request: BaseRequest) -> None:
    """Asks for the body. curl waits for that before it sends a large one, so an early refusal costs no transfer."""
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.writer.output_size = 0  # aiohttp would take it for the beginning of the answer


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"The request body is larger than {limit} bytes: send less, or raise server.body_limit_mib."
    )


class _Plain:
    def __init__(self, limit: int, reserve: Reserve) -> None:
        self._limit = limit
        self._reserve = reserve
        self._size = 0
        self._pieces: list[bytes] = []

    async def feed(self, data: bytes) -> None:
        self._append(data)

    def _append(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limit:
            raise _too_large(self._limit)
        self._reserve(len(data))
        self._pieces.append(data)

    def close(self) -> bytes:
        return b"".join(self._pieces)


class _Inflated(_Plain):
    """Decompresses no more than the limit, however much a small body grows to (S17), and lets others work in between.
    It accepts no more either, and nothing behind the end, because zlib would keep that and copy it with each piece."""

    def __init__(self, coding: str, limit: int, reserve: Reserve) -> None:
        super().__init__(limit, reserve)
        if coding not in ACCEPTED_CODINGS:
            raise Unsupported(
                f"Content-Encoding {quoted(coding)} is not supported: use {' or '.join(ACCEPTED_CODINGS)}, or none.",
                code="unsupported_encoding",
            )
        self._coding = coding
        self._unpack = zlib.decompressobj(WINDOW_BITS[coding])
        self._fed = 0

    async def feed(self, data: bytes) -> None:
        self._fed += len(data)
        if self._fed > self._limit:
            raise _too_large(self._limit)
        while True:
            if data and self._unpack.eof:
                raise self._broken()
            piece = self._unpacked(data)
            self._append(piece)
            if self._unpack.unused_data:
                raise self._broken()
            data = self._unpack.unconsumed_tail
            if len(piece) < PIECE_BYTES:
                break
            await asyncio.sleep(0)
        if not data and self._fed > self._size + MAX_VAIN_BYTES:
            raise self._broken()

    def _unpacked(self, data: bytes) -> bytes:
        try:
            return self._unpack.decompress(data, PIECE_BYTES)
        except zlib.error:
            raise self._broken() from None

    def close(self) -> bytes:
        if not self._unpack.eof:
            raise self._broken()
        return super().close()

    def _broken(self) -> ClientFault:
        return ClientFault(
            f"The request body is not valid {self._coding} data: mend it, or send it without Content-Encoding."
        )
