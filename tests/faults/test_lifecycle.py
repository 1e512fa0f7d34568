"""What is remembered, time that jumps or is taken, bugs of our own and outages (F76-F81)."""

import asyncio
from itertools import count

import orjson
import pytest

from proxy import app
from proxy.core.policy.retry import RESERVE
from proxy.core.stream.pipeline import Pipeline
from tests.support.loop_delay import post_aside, watching
from tests.support.outcomes import ASK, final, in_short, told
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    Line,
    ScriptedBackend,
    answer,
    finish,
    reply,
    text,
    usage,
)

MIB = 1 << 20


# ── what is remembered ──


async def test_f76_without_a_store_nothing_depends_on_one(start_proxy: StartProxy) -> None:
    """A client that asks for its answer to be stored gets it all the same."""
    proxy = await start_proxy(store={"url": "off"})
    for store in (True, False, None):
        async with proxy.post(ASK | {"store": store}) as response:
            assert in_short(final(await response.read())) == "completed | Hello"


@pytest.mark.parametrize(
    ("id", "code"),
    [
        ("resp_0", "previous_response_not_found"),
        ("", "invalid_value"),
        ("x" * 5000, "invalid_value"),
        ("../etc", "invalid_value"),
        ("resp_\x00", "invalid_value"),
    ],
)
async def test_f77_what_is_not_known_is_said_to_be_unknown(
    id: str, code: str, backend: ScriptedBackend, proxy: Proxy
) -> None:
    async with proxy.post(ASK | {"previous_response_id": id}) as response:
        error = (await response.json())["error"]
    assert response.status == 400
    assert (error["code"], error["param"]) == (code, "previous_response_id")
    assert backend.received == []


# ── time, and time on the loop ──


@pytest.fixture
def _jumping_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the date finds it a day later."""
    days = count(1)
    monkeypatch.setattr(app.time, "time", lambda: 1_700_000_000.0 + 86_400 * next(days))


@pytest.mark.usefixtures("_jumping_clock")
async def test_f78_a_wall_clock_that_jumps_ends_no_stream(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """All waits go by the monotonic clock, and so do the log's durations."""
    limits = {"idle_seconds": 5, "first_byte_seconds": 5, "total_seconds": 5}
    proxy = await start_proxy(server={"heartbeat_seconds": 5}, backend=limits)
    backend.answers(reply(*[text("x")] * 100))
    assert await told(proxy) == f"completed | {'x' * 100}"
    assert 0 <= proxy.log.request["ms_total"] < 5000


@pytest.mark.usefixtures("_jumping_clock")
async def test_f78_nor_does_it_open_what_is_shut(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """The breaker's pause and a minute's quota last as long as they last."""
    proxy = await start_proxy(
        breaker={"consecutive_failures": 1, "open_seconds": 30}, limits={"requests_per_minute": 3}
    )
    backend.answers(answer(500, b"oops"))
    said = [await told(proxy) for _ in range(4)]
    assert said == ["502 upstream_error", *["503 server_is_overloaded"] * 2, "429 rate_limit_exceeded"]
    assert len(backend.received) == 1


async def test_f79_a_huge_body_does_not_hold_the_others_up(backend: ScriptedBackend, proxy: Proxy) -> None:
    """As large as pictures make it; whoever asks meanwhile does not notice."""
    picture = "data:image/png;base64," + "A" * (12 * MIB)
    content = [{"type": "input_text", "text": "Hi"}, {"type": "input_image", "image_url": picture}]
    body = orjson.dumps({"model": "m", "input": [{"role": "user", "content": content}]})
    backend.answers(reply(text("Hello")))
    async with watching() as watch:
        status, _ = await post_aside(f"{proxy.url}/v1/responses", body)
    assert status == 200
    assert watch.longest < 0.1


# ── bugs, and the outage ──


async def test_f80_a_bug_of_ours_harms_one_stream(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told without its traceback; the stream beside it ends as it should."""
    goes_on = asyncio.Event()

    async def begins(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await goes_on.wait()
        line.send(text("lo"), finish(), usage(), DONE, END)

    backend.plays(begins)
    async with proxy.post(ASK) as beside:
        await beside.content.readuntil(b"output_text.delta")
        with monkeypatch.context() as broken:
            broken.setattr(Pipeline, "__init__", lambda *_, **__: 1 / 0)
            async with proxy.post(ASK) as response:
                said = await response.text()
        assert response.status == 500
        assert "ZeroDivision" not in said
        assert "Traceback" not in said
        (line,) = proxy.log.named("unhandled_exception")
        assert line["request_id"] == response.headers["X-Request-Id"]
        goes_on.set()
        assert b"response.completed" in await beside.read()


@pytest.mark.parametrize("failures", [5, 1000], ids=["with the breaker", "without it"])
async def test_f81_an_outage_is_not_made_worse(
    failures: int, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """A hundred clients at once: the backend sees a fifth more than their requests, and the few that a quiet proxy may
    send besides; with the breaker open, next to none."""
    breaker = {"consecutive_failures": failures, "minimum_requests": 1000, "open_seconds": 30}
    proxy = await start_proxy(breaker=breaker)
    backend.answers(answer(503, b""))
    said = await asyncio.gather(*(told(proxy) for _ in range(20)))
    said += await asyncio.gather(*(told(proxy) for _ in range(80)))
    assert {*said} == {"503 server_is_overloaded"}
    assert len(backend.received) <= (100 if failures > 100 else 20) * 1.2 + RESERVE
