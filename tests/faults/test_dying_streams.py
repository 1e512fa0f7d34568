"""Streams that die, fall silent, drip or never end (F60-F64)."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.outcomes import ASK, Row, told
from tests.support.proxies import Proxy, StartProxy, events, names
from tests.support.sockets import HEAD, PROMPTLY, Line, ScriptedBackend, delta, silent_after_hello, text

MIB = 1 << 20


# ── streams that die ──


def dies(break_off: Callable[[Line], None], *pieces: bytes) -> Callable[[Line], Any]:
    async def plays(line: Line) -> None:
        line.send(HEAD, *pieces)
        await line.drained()
        await asyncio.sleep(0)
        break_off(line)

    return plays


def half_a_chunk(line: Line) -> None:
    line.send(b"ff\r\ndata: {")
    line.close()


CALL = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "get_time", "arguments": '{"a":'}}])
ROWS = [
    Row("F60", "reset within the text", dies(Line.reset, text("Hel")), "failed upstream_stream_truncated | Hel…"),
    Row("F60", "reset within a call", dies(Line.reset, CALL), 'failed upstream_stream_truncated | get_time({"a":)…'),
    Row("F61", "closed within the body", dies(Line.close, text("Hel")), "failed upstream_stream_truncated | Hel…"),
    Row("F61", "closed within a chunk", dies(half_a_chunk, text("Hel")), "failed upstream_stream_truncated | Hel…"),
]  # fmt: skip


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_row(row: Row, stream: bool, backend: ScriptedBackend, proxy: Proxy) -> None:
    """And nothing is asked again. A reset may overtake the text before it, but never becomes a success."""

    async def plays(line: Line) -> None:
        await line.request()
        await row.said(line)  # type: ignore[operator]

    backend.plays(plays)
    said = await told(proxy, stream=stream)
    if row.id == "F61" and stream:
        assert said == row.right
    assert said.split(" |")[0] in (
        row.right.split(" |")[0],
        "502 upstream_stream_truncated",
        "502 upstream_empty_reply",
    )
    assert len(backend.received) == 1


LIVELY = {"patience_seconds": 0.05, "heartbeat_seconds": 0.05}


async def test_f62_silence_is_filled_and_then_ended(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.plays(silent_after_hello)
    proxy = await start_proxy(server=LIVELY, backend={"idle_seconds": 0.4})
    async with proxy.post(ASK) as response:
        found = events(await response.read())
    assert names(found).count("comment") >= 3
    (failed,) = [event for event in found if event.name == "response.failed"]
    assert failed.data["response"]["error"]["code"] == "upstream_timeout"


async def test_f62_codex_is_sent_events_for_it(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """Its timer does not see comments."""
    backend.plays(silent_after_hello)
    proxy = await start_proxy(server=LIVELY, backend={"idle_seconds": 0.4})
    async with proxy.post(ASK, originator="codex_exec") as response:
        found = names(events(await response.read()))
    assert "comment" not in found
    assert found.count("response.in_progress") >= 3


async def test_f63_dripping_does_not_last_longer(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """Each drip ends a silence; what ends them all is the limit on the whole."""
    gone = asyncio.Event()

    async def drips(line: Line) -> None:
        await line.request()
        line.send(HEAD)
        loop = asyncio.get_running_loop()
        try:
            while not line.is_closing:
                line.send(text("x"))
                drop = loop.create_future()
                loop.call_later(0.03, drop.set_result, None)
                await drop
        finally:
            gone.set()

    backend.plays(drips)
    proxy = await start_proxy(backend={"idle_seconds": 5, "total_seconds": 0.3})
    async with asyncio.timeout(PROMPTLY):
        assert (await told(proxy)).startswith("failed upstream_timeout | xx")
        await gone.wait()


@pytest.mark.parametrize(
    ("piece", "right"),
    [
        (text("x" * 10_000), "failed upstream_reply_too_large | xxx"),
        (delta(reasoning_content="x" * 10_000), "failed upstream_reply_too_large | (xxx"),
        (
            delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "get_time", "arguments": "x" * 10_000}}]),
            "failed upstream_reply_too_large | get_time",
        ),
        (delta(role="assistant"), "502 upstream_reply_too_large"),
    ],
    ids=["text", "reasoning", "arguments", "nothing"],
)  # fmt: skip
async def test_f64_a_reply_without_end_is_ended(
    piece: bytes, right: str, backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S27: and nothing of it is kept. The backend's connection is closed."""
    monkeypatch.setattr("proxy.core.stream.pipeline.MAX_REPLY_BYTES", MIB)
    gone = asyncio.Event()

    async def goes_on(line: Line) -> None:
        await line.request()
        line.send(HEAD)
        try:
            while not line.is_closing:
                line.send(piece * 8)
                await line.drained()
                await asyncio.sleep(0)
        finally:
            gone.set()

    backend.plays(goes_on)
    assert (await told(proxy)).startswith(right)
    async with asyncio.timeout(1):
        await gone.wait()
