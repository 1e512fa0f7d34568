"""What is counted, who may see it (S30), and that nobody but us chooses a label (S29)."""

from typing import Any

import pytest

from proxy.core import tenants
from proxy.core.errors import BackendFault, ClientFault, Fault, Garbled, ProxyFault, RateLimited
from proxy.core.ledger import Ledger
from proxy.core.policy.breaker import AttemptOutcome, Breaker, BreakerRules
from proxy.shell.ops.exposition import page
from proxy.shell.ops.metrics import KINDS_OF_REMARKS, Metrics
from proxy.shell.websocket import open_sockets
from tests.growth.work import instructions
from tests.support.proxies import Proxy, StartProxy
from tests.support.samples import Samples, count, noted, samples
from tests.support.sockets import ScriptedBackend, answer, reply, text


def shown(counted: Metrics) -> Samples:
    return samples(page({"0": counted.counts()}))


@pytest.fixture
def counted() -> Metrics:
    return Metrics({}, {"hermes"})


# ── counting ──


def test_a_request_counts_by_its_surface_backend_status_and_ending(counted: Metrics) -> None:
    count(counted)
    count(counted)
    count(counted, status=503)
    told = shown(counted)
    assert told["requests_total", "backend=b ending=completed status=2xx surface=chat worker=0"] == 2
    assert told["requests_total", "backend=b ending=completed status=5xx surface=chat worker=0"] == 1
    assert told["tenant_requests_total", "status=2xx tenant=t worker=0"] == 2


def test_a_client_that_left_is_a_class_of_its_own(counted: Metrics) -> None:
    count(counted, status=499)
    assert ("tenant_requests_total", "status=left tenant=t worker=0") in shown(counted)


def test_a_request_that_came_to_nothing_has_no_backend_and_no_ending(counted: Metrics) -> None:
    counted.began("native")
    refused = Ledger()
    refused.note(tenant="t", status=400, ms_total=1.0)
    counted.ended("native", refused, None)
    told = shown(counted)
    assert told["requests_total", "backend=none ending=none status=4xx surface=native worker=0"] == 1


def test_what_is_under_way_is_counted_until_it_ends(counted: Metrics) -> None:
    for _ in range(2):
        counted.began("chat")
        counted.streams("chat")
    counted.began("chat")
    told = shown(counted)
    assert told["requests_in_progress", "surface=chat worker=0"] == 3
    assert told["streams_open", "surface=chat worker=0"] == 2
    for streams in (True, True, False):
        counted.ended("chat", noted({"stream": streams}), None)
    told = shown(counted)
    assert told["requests_in_progress", "surface=chat worker=0"] == 0
    assert told["streams_open", "surface=chat worker=0"] == 0


def test_tokens_and_calls_count_for_the_backend_and_the_tenant(counted: Metrics) -> None:
    """P10."""
    usage = {"input_tokens": 10, "output_tokens": 5, "cached_tokens": 3, "reasoning_tokens": 0}
    for _ in range(2):
        count(counted, calls=2, **usage)
    told = shown(counted)
    for whose in ("backend=b", "tenant=t"):
        name = "tokens_total" if whose == "backend=b" else "tenant_tokens_total"
        ordered = [
            " ".join(sorted((whose, f"kind={kind}", "worker=0"))) for kind in ("input", "output", "cached")
        ]
        assert [told[name, labels] for labels in ordered] == [20, 10, 6]
    assert told["tool_calls_total", "backend=b worker=0"] == 4
    assert told["tenant_tool_calls_total", "tenant=t worker=0"] == 4


def test_times_fall_into_buckets_that_hold_all_below_them(counted: Metrics) -> None:
    for milliseconds in (100.0, 100.1, 4000.0, 9_000_000.0):
        count(counted, ms_total=milliseconds, ms_first_text=milliseconds)
    told = shown(counted)
    buckets = [
        told["duration_seconds_bucket", f"backend=b le={le} surface=chat worker=0"]
        for le in ("0.1", "0.25", "5", "1800", "+Inf")
    ]
    assert buckets == [1, 2, 3, 3, 4]
    assert told["duration_seconds_sum", "backend=b surface=chat worker=0"] == pytest.approx(9004.2001)
    assert told["first_token_seconds_count", "backend=b worker=0"] == 4


def test_to_tell_of_many_tenants_takes_no_more_steps_than_of_two() -> None:
    """F79: the event loop tells them, and 500 tenants held it for 6 ms."""

    def steps(tenants: int) -> int:
        counted = Metrics({}, ())
        for number in range(tenants):
            count(counted, ledger=noted({"tenant": f"t{number}"}))
        return instructions(counted.counts)

    assert steps(500) == steps(2)


def test_a_reply_without_a_word_has_no_time_to_the_first(counted: Metrics) -> None:
    count(counted)
    assert ("first_token_seconds_count", "backend=b worker=0") not in shown(counted)


@pytest.mark.parametrize(
    ("fault", "who", "code"),
    [
        (ClientFault("", code="invalid_value"), "client", "invalid_value"),
        (Garbled(""), "backend", "upstream_protocol_error"),
        (RateLimited(""), "backend", "rate_limit_exceeded"),
        (ProxyFault(""), "proxy", "server_error"),
        (ClientFault(""), "client", "other"),
        (BackendFault("", code="whatever_the_backend_says"), "backend", "other"),
    ],
)
def test_a_fault_counts_by_who_must_act_and_a_code_of_ours(
    counted: Metrics, fault: Fault, who: str, code: str
) -> None:
    """S29: backends' own codes go to clients, and become no label."""
    count(counted, fault=fault)
    assert shown(counted)["faults_total", f"backend=b code={code} who={who} worker=0"] == 1


def test_a_fault_that_another_attempt_mended_counts_apart(counted: Metrics) -> None:
    """F01, F12."""
    counted.mended("b", Garbled(""))
    told = shown(counted)
    assert told["faults_mended_total", "backend=b code=upstream_protocol_error worker=0"] == 1
    assert not [name for name, _ in told if name == "faults_total"]


async def test_a_backend_that_fails_once_is_counted_though_no_client_knows(
    start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    """F12."""
    proxy = await start_proxy(retries={"attempts": 5})
    backend.answers(answer(503), reply(text("Hello")))
    await proxy.stream()
    told = samples((await read(proxy))[1])
    assert told["faults_mended_total", "backend=backend code=server_is_overloaded worker=0"] == 1


def test_remarks_count_by_what_they_say_without_its_details(counted: Metrics) -> None:
    ledger = Ledger()
    for keyword in ("pattern", "format"):
        ledger.drop(f"schema:{keyword}")
    ledger.odd("json_mended")
    ledger.found("recovered", "hermes")
    ledger.found("released", "a format from outside")
    count(counted, ledger=ledger)
    told = shown(counted)
    assert told["dropped_total", "what=schema worker=0"] == 2
    assert told["oddities_total", "what=json_mended worker=0"] == 1
    assert told["markup_total", "format=hermes outcome=recovered worker=0"] == 1
    assert told["markup_total", "format=other outcome=released worker=0"] == 1


def test_there_is_an_end_to_the_kinds_of_remarks(counted: Metrics) -> None:
    """S29."""
    ledger = Ledger()
    for number in range(KINDS_OF_REMARKS + 5):
        ledger.odd(f"odd{number}")
    for _ in range(2):
        count(counted, ledger=ledger)
    told = {labels: value for (name, labels), value in shown(counted).items() if name == "oddities_total"}
    assert len(told) == KINDS_OF_REMARKS + 1
    assert told["what=other worker=0"] == 10
    assert told["what=odd0 worker=0"] == 2


def test_the_state_of_a_breaker_is_a_number() -> None:
    now = 0.0
    breaker = Breaker(BreakerRules(consecutive=1, open_seconds=1), lambda: now)
    counted = Metrics({"b": breaker}, ())

    def state() -> float:
        return shown(counted)["breaker_state", "backend=b worker=0"]

    assert state() == 0
    breaker.admit().settle(AttemptOutcome.FAILURE)
    assert state() == 2
    now = 5.0
    breaker.admit()
    assert state() == 1


def test_a_gauge_is_read_when_the_counts_are_told() -> None:
    counted, now = Metrics({}, ()), 0.0
    counted.gauge("store_waiting_seconds", lambda: now)
    assert shown(counted)["store_waiting_seconds", "worker=0"] == 0
    now = 1.5
    assert shown(counted)["store_waiting_seconds", "worker=0"] == 1.5


def test_a_gauge_may_have_labels() -> None:
    counted, held = Metrics({}, ()), {("a", "usage"): 1.0}
    counted.gauge_by_label("lessons_held", lambda: held)
    assert shown(counted)["lessons_held", "backend=a field=usage worker=0"] == 1
    held.clear()
    assert ("lessons_held", "backend=a field=usage worker=0") not in shown(counted)


# ── at the door ──


async def read(proxy: Proxy, key: str = "") -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with proxy.session.get(f"{proxy.url}/metrics", headers=headers) as response:
        return response.status, await response.read()


async def test_on_this_machine_they_are_shown(proxy: Proxy, backend: ScriptedBackend) -> None:
    backend.answers(reply(text("Hello")))
    await proxy.stream()
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        told = samples(await response.read())
    labels = "backend=backend ending=completed status=2xx surface=responses worker=0"
    assert told["requests_total", labels] == 1
    assert told["first_token_seconds_count", "backend=backend worker=0"] == 1
    assert told["streams_open", "surface=responses worker=0"] == 0
    assert told["breaker_state", "backend=backend worker=0"] == 0
    assert told["tenant_requests_total", "status=2xx tenant=anybody worker=0"] == 1


async def test_whoever_is_refused_at_the_door_is_counted(start_proxy: StartProxy) -> None:
    """S01, S30."""
    proxy = await start_proxy(tenants=TENANTS, metrics={"open": True})
    for _ in range(2):
        assert (await proxy.refused())[0] == 401
    async with proxy.session.put(f"{proxy.url}/healthz") as response:
        assert response.status == 405
    told = samples((await read(proxy))[1])
    assert told["refusals_total", "code=invalid_api_key status=4xx worker=0"] == 2
    assert told["refusals_total", "code=method_not_allowed status=4xx worker=0"] == 1
    assert not [name for name, _ in told if name == "requests_total"]


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.mark.parametrize(
    ("wrong", "settings", "status", "code"),
    [
        ({}, {"server": {"websocket": False}}, 426, "upgrade_required"),
        ({"Sec-WebSocket-Key": "short"}, {}, 400, "invalid_handshake"),
        ({"Connection": "keep-alive"}, {}, 400, "invalid_handshake"),
        ({"Origin": "http://elsewhere.test"}, {}, 403, "origin_not_allowed"),
        ({}, {"tenants": {"ours": {"keys": [tenants.digest("k")]}}}, 401, "invalid_api_key"),
    ],
    ids=["switched off", "no handshake", "no upgrade", "a web page", "no key"],
)
async def test_whoever_is_refused_a_websocket_is_counted_too(
    start_proxy: StartProxy, wrong: dict[str, str], settings: dict[str, Any], status: int, code: str
) -> None:
    proxy = await start_proxy(metrics={"open": True}, **settings)
    async with proxy.session.get(f"{proxy.url}/v1/responses", headers=UPGRADE | wrong) as response:
        assert response.status == status
    assert refusals((await read(proxy))[1]) == {f"code={code} status=4xx worker=0": 1}


async def test_as_is_whoever_finds_no_room(start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_sockets, "MAX_OPEN", 0)
    proxy = await start_proxy()
    async with proxy.session.get(f"{proxy.url}/v1/responses", headers=UPGRADE) as response:
        assert response.status == 503
    assert refusals((await read(proxy))[1]) == {"code=server_is_overloaded status=5xx worker=0": 1}


def refusals(told: bytes) -> dict[str, float]:
    return {labels: times for (name, labels), times in samples(told).items() if name == "refusals_total"}


TENANTS = {"ours": {"keys": [tenants.digest("tenant-key")]}}


async def test_where_there_are_tenants_none_of_them_sees_the_others(start_proxy: StartProxy) -> None:
    """S30."""
    proxy = await start_proxy(tenants=TENANTS)
    assert (await read(proxy))[0] == 401
    status, words = await read(proxy, "tenant-key")
    assert status == 403
    assert b"metrics.keys" in words


@pytest.mark.parametrize("others", [{}, TENANTS])
async def test_a_key_of_their_own_opens_them_and_nothing_else(
    start_proxy: StartProxy, others: dict[str, Any]
) -> None:
    """S30."""
    proxy = await start_proxy(metrics={"keys": [tenants.digest("watch")]}, tenants=others)
    assert (await read(proxy))[0] == 401
    assert (await read(proxy, "tenant-key"))[0] == 401
    assert (await read(proxy, "watch"))[0] == 200
    if others:
        async with proxy.post({"model": "m", "input": "Hi"}, Authorization="Bearer watch") as response:
            assert response.status == 401


async def test_beyond_this_machine_they_are_closed_unless_opened(start_proxy: StartProxy) -> None:
    """S30."""
    closed = await start_proxy(server={"host": "0.0.0.0", "open": True})
    assert (await read(closed))[0] == 403
    opened = await start_proxy(server={"host": "0.0.0.0", "open": True}, metrics={"open": True})
    assert (await read(opened))[0] == 200


async def test_nothing_that_a_client_or_a_backend_says_becomes_a_label(
    proxy: Proxy, backend: ScriptedBackend
) -> None:
    """S06, S29."""
    backend.answers(*[reply(text("canary-text"))] * 2)
    for body in (
        {"model": "canary-model", "user": "canary-user", "metadata": {"canary": "canary"}},
        {"model": "canary\nx 1", "input": [{"type": "canary_item"}], "tools": [{"type": "canary_tool"}]},
    ):
        async with proxy.post({"input": "canary-prompt"} | body, **{"User-Agent": "canary"}) as response:
            await response.read()
    async with proxy.session.get(f"{proxy.url}/canary-path") as response:
        assert response.status == 404
    status, words = await read(proxy)
    assert status == 200
    assert b"canary" not in words
