"""Traces from end to end: a client's trace, the proxy's spans in a real collector, and what the backend is told."""

import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from proxy import app
from proxy.settings.root import Settings
from proxy.shell.ops.logs import make_log
from proxy.traces import FLUSH_SECONDS
from tests.support.background import ended
from tests.support.otlp import OtlpCollector, attributes, collecting
from tests.support.processes import ROOT, free_port
from tests.support.proxies import LogLines, Proxy, StartProxy, backend, start_proxy
from tests.support.samples import samples
from tests.support.sockets import ScriptedBackend, answer, reply, text

__all__ = ["backend", "start_proxy"]

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "a=1"}
PROMPT, ANSWER, KEY = "canary-of-the-prompt", "canary-of-the-answer", "sk-canary-of-the-key-0123456789"


@pytest.fixture
async def collector() -> AsyncIterator[OtlpCollector]:
    async with collecting() as collector:
        yield collector


def otel(collector: OtlpCollector, **more: Any) -> dict[str, Any]:
    return {"endpoint": collector.url, "headers": {"X-Key": KEY}} | more


async def asked(proxy: Proxy, headers: dict[str, str] | None = None, **body: Any) -> Any:
    whole = {"model": "m", "input": PROMPT} | body
    async with proxy.session.post(f"{proxy.url}/v1/responses", json=whole, headers=headers or {}) as response:
        return await response.read()


async def test_a_trace_goes_through_the_proxy(
    backend: ScriptedBackend, start_proxy: StartProxy, collector: OtlpCollector
) -> None:
    backend.answers(reply(text(ANSWER)))
    proxy = await start_proxy(otel=otel(collector, service="mine"))
    wishes = {"temperature": 1, "max_output_tokens": 99, "stop": [PROMPT], "reasoning": {"effort": "low"}}
    await asked(proxy, PARENT, stream=True, **wishes)
    request, attempt = await collector.until(2)
    assert (request.trace_id.hex(), attempt.trace_id.hex()) == (TRACE, TRACE)
    assert (request.parent_span_id.hex(), attempt.parent_span_id) == (SPAN, request.span_id)
    told = backend.received[-1].headers
    assert told["traceparent"] == f"00-{TRACE}-{attempt.span_id.hex()}-01"
    assert told["tracestate"] == "a=1"
    assert request.start_time_unix_nano <= attempt.start_time_unix_nano
    assert attempt.end_time_unix_nano <= request.end_time_unix_nano
    told_of = attributes(attempt)
    assert told_of["gen_ai.usage.output_tokens"] == 5
    assert (told_of["gen_ai.request.temperature"], told_of["gen_ai.request.max_tokens"]) == (1.0, 99)
    assert "gen_ai.request.reasoning.level" not in told_of, "this backend has no such field"
    assert PROMPT not in str(told_of)
    assert [event.name for event in attempt.events] == [
        "slot got",
        "response head",
        "first byte",
        "first text",
    ]


async def test_nothing_that_was_said_and_no_key_is_in_it(
    backend: ScriptedBackend, start_proxy: StartProxy, collector: OtlpCollector
) -> None:
    """S05, S06: the collector's own key comes in a header, and stands in no line of the log."""
    backend.answers(reply(text(ANSWER)), answer(400, {"error": {"message": f"you said {PROMPT}"}}))
    proxy = await start_proxy(otel=otel(collector), backend={"key": KEY}, logs={"level": "debug"})
    await asked(proxy, {"Authorization": f"Bearer {KEY}2", "X-Secret": KEY}, instructions=PROMPT)
    await asked(proxy, {"baggage": KEY}, user=PROMPT)
    await collector.until(4)
    for canary in (PROMPT, ANSWER, KEY):
        assert not any(canary.encode() in body for body in collector.bodies)
        assert canary not in proxy.log.stream.getvalue()
    assert {headers["X-Key"] for headers in collector.headers} == {KEY}
    assert not any("baggage" in received.headers for received in backend.received)


async def test_each_attempt_is_a_span_and_tells_its_backend_another_one(
    backend: ScriptedBackend, start_proxy: StartProxy, collector: OtlpCollector
) -> None:
    backend.answers(answer(503, {"error": {"message": "busy"}}), reply(text("Hello")))
    proxy = await start_proxy(otel=otel(collector))
    await asked(proxy)
    request, first, second = await collector.until(3)
    told = [received.headers["traceparent"] for received in backend.received if received.method == "POST"]
    assert told == [f"00-{request.trace_id.hex()}-{span.span_id.hex()}-01" for span in (first, second)]
    assert [attributes(span)["responses_proxy.attempt"] for span in (first, second)] == ["first", "again"]
    assert first.status.code > second.status.code == request.status.code == 0


async def test_work_in_the_background_is_one_span_to_its_end(
    backend: ScriptedBackend, start_proxy: StartProxy, collector: OtlpCollector
) -> None:
    backend.answers(reply(text("Hello")))
    proxy = await start_proxy(otel=otel(collector))
    async with proxy.post({"model": "m", "input": "Hi", "background": True}) as response:
        id = (await response.json())["id"]
    await ended(proxy, id)
    request, _ = await collector.until(2)
    assert attributes(request)["responses_proxy.background"] is True
    assert attributes(request)["gen_ai.response.id"] == id


async def test_who_wants_no_traces_passes_none_on(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """As any other header of a client's."""
    backend.answers(reply(text("Hello")))
    await asked(await start_proxy(), PARENT)
    assert not {"traceparent", "tracestate"} & {*map(str.lower, backend.received[-1].headers)}


async def test_a_client_that_records_nothing_has_its_trace_passed_on_all_the_same(
    backend: ScriptedBackend, start_proxy: StartProxy, collector: OtlpCollector
) -> None:
    backend.answers(reply(text("Hello")))
    proxy = await start_proxy(otel=otel(collector))
    await asked(proxy, {"traceparent": f"00-{TRACE}-{SPAN}-00"})
    await asked(proxy)
    assert backend.received[0].headers["traceparent"].startswith(f"00-{TRACE}-")
    assert TRACE not in {span.trace_id.hex() for span in await collector.until(2)}


# ── a collector that does not do what it should ──


def settings(backend: ScriptedBackend, endpoint: str) -> Settings:
    return Settings.model_validate(
        {
            "server": {"port": 0, "grace_seconds": 0},
            "backend": {"url": backend.url, "profile": "default"},
            "store": {"url": "off"},
            "otel": {"endpoint": endpoint},
        }
    )


async def test_a_collector_that_cannot_be_reached_is_told_once_and_hurts_nobody(
    backend: ScriptedBackend, start_proxy: StartProxy, collector: OtlpCollector
) -> None:
    backend.answers(reply(text("Hello")))
    collector.status = 503
    proxy = await start_proxy(otel=otel(collector))
    for _ in range(3):
        assert b"Hello" in await asked(proxy)
    await collector.until(12)  # the same, again and again
    assert [line["reason"] for line in proxy.log.named("collector_down")] == ["it answers with status 503"]
    collector.status = 200
    await proxy.log.wait_for("collector_up")
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        found = samples(await response.read())
    assert found[("spans_total", "outcome=sent worker=0")] == 6
    assert len(proxy.log.named("collector_down")) == 1


@pytest.mark.parametrize("listens", [True, False])
async def test_the_end_waits_for_no_collector_that_does_not_answer(
    backend: ScriptedBackend, collector: OtlpCollector, listens: bool
) -> None:
    backend.answers(reply(text("Hello")))
    collector.may_answer.clear()
    endpoint = collector.url if listens else f"http://127.0.0.1:{free_port()}/v1/traces"
    log = LogLines()
    began = time.monotonic()
    async with (
        aiohttp.ClientSession() as session,
        app.running(settings(backend, endpoint), make_log(stream=log.stream)) as url,
    ):
        await asked(Proxy(url, log, session))
    assert time.monotonic() - began < FLUSH_SECONDS + 5
    assert not log.named("task_failed")


# ── without what it needs ──

WITHOUT = "import sys; sys.modules['opentelemetry'] = None; from proxy.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.parametrize(
    "command", [("serve", "--port", "0"), ("serve", "--port", "0", "--workers", "2"), ("check-config",)]
)
def test_without_the_packages_it_says_what_to_install(command: tuple[str, ...], tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text(
        '[otel]\nendpoint = "http://127.0.0.1:4318/v1/traces"\n[store]\nurl = "off"', encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *command, "--config", config],
        cwd=ROOT, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.endswith("pip install '.[otel]' in a checkout of the proxy\n")
    assert done.stderr.count("\n") == 1


def test_without_the_packages_all_else_works() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "check-config", "--store", "off"],
        cwd=ROOT, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
