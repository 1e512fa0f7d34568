"""One request as data, over real sockets: who was asked, when, and what came of it."""

import asyncio
import gc
from types import FrameType, FunctionType, ModuleType, TracebackType

import pytest
from multidict import CIMultiDictProxy

from proxy.core.ledger import Ledger
from proxy.shell.ops.fault_facts import facts_of
from proxy.shell.watching.watch import Watch
from tests.support.proxies import StartProxy
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, answer, finish, reply, text
from tests.support.two_backends import BUSY, StartBoth
from tests.support.watching import Onlooker, a_watch, have_watch

TIMES = ("began", "place", "head", "first_byte", "first_text", "ended")


@pytest.fixture
def onlooker(monkeypatch: pytest.MonkeyPatch) -> Onlooker:
    onlooker = Onlooker(content=False)
    have_watch(monkeypatch, onlooker)
    return onlooker


async def test_a_stream(onlooker: Onlooker, start_proxy: StartProxy, backend: ScriptedBackend) -> None:
    proxy = await start_proxy()
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        await response.read()
    watch = await onlooker.saw()
    assert watch.request_id == response.headers["X-Request-Id"]
    assert (watch.surface, watch.transport, watch.tenant) == ("responses", "http", "anybody")
    assert (watch.method, watch.path, watch.status, watch.fault) == ("POST", "/v1/responses", 200, None)
    (attempt,) = watch.attempts
    assert (attempt.why, attempt.backend, attempt.backend_model) == ("first", "backend", "m")
    assert (attempt.profile, attempt.dialect, attempt.status) == ("default", "chat", 200)
    assert attempt.url == f"{backend.url}/chat/completions"
    assert attempt.ending == "completed"
    times = [getattr(attempt, name) for name in TIMES]
    assert times == sorted(times)
    assert watch.ended is not None
    assert watch.ended >= times[-1]
    assert watch.facts["ms_total"] > 0
    assert watch.content is None


async def test_none_has_a_dictionary_of_its_own(
    onlooker: Onlooker, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    """Without slots each would, as soon as thirty have begun before the first goes on, and as long as it is kept."""
    proxy = await start_proxy()
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        await response.read()
    watch = await onlooker.saw()
    assert not [each for each in (watch, *watch.attempts) if hasattr(each, "__dict__")]


async def test_it_is_seen_while_it_runs(
    onlooker: Onlooker, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    go_on = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await go_on.wait()
        line.send(text("lo"), finish(), DONE, END)

    backend.plays(plays)
    proxy = await start_proxy()
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        while b"Hel" not in await response.content.readany():
            pass
        (watch,) = onlooker.begun_with
        (attempt,) = watch.attempts
        assert attempt.first_text is not None
        assert (attempt.ended, watch.ended, watch.status) == (None, None, None)
        assert watch.facts["backend"] == "backend"
        go_on.set()
        await response.read()
    assert await onlooker.saw() is watch


async def test_each_attempt(onlooker: Onlooker, start_both: StartBoth, backend: ScriptedBackend) -> None:
    """E6."""
    backend.answers(BUSY)
    proxy = await start_both(retries={"attempts": 2, "after_errors": True})
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        await response.read()
    watch = await onlooker.saw()
    assert [(attempt.why, attempt.backend) for attempt in watch.attempts] == [
        ("first", "backend"),
        ("again", "backend"),
        ("elsewhere", "there"),
    ]
    assert [attempt.status for attempt in watch.attempts] == [529, 529, 200]
    assert [attempt.ending for attempt in watch.attempts] == ["failed", "failed", "completed"]
    assert watch.attempts[0].fault is not None
    assert watch.fault is None


async def test_what_a_refusal_teaches_is_an_attempt_of_its_own(
    onlooker: Onlooker, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    complaint = {"error": {"message": "Unsupported parameter: 'parallel_tool_calls'.", "code": None}}
    backend.answers(answer(400, complaint), reply(text("Hello")))
    proxy = await start_proxy()
    tool = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
    body = {"model": "m", "input": "Hi", "tools": [tool], "parallel_tool_calls": False}
    async with proxy.post(body) as response:
        assert response.status == 200, await response.text()
    first, lesson = (await onlooker.saw()).attempts
    assert (first.why, first.status, lesson.why, lesson.status) == ("first", 400, "lesson", 200)
    assert first.place == lesson.place
    assert first.ended is not None


async def test_a_backend_that_cannot_be_reached(onlooker: Onlooker, start_proxy: StartProxy) -> None:
    proxy = await start_proxy(backend={"url": "http://127.0.0.1:9/v1"}, retries={"attempts": 1})
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        assert response.status == 502
    watch = await onlooker.saw()
    (attempt,) = watch.attempts
    assert attempt.place is not None
    assert (attempt.head, attempt.status) == (None, None)
    assert attempt.fault is not None
    assert watch.status == 502
    assert watch.fault is not None


async def test_what_is_refused_before_there_is_a_plan(onlooker: Onlooker, start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    assert await proxy.refused(input=7)
    refused = await onlooker.saw()
    assert (refused.surface, refused.status, refused.attempts) == ("responses", 400, [])
    async with proxy.session.post(f"{proxy.url}/v1/nowhere?key=canary"):
        pass
    nowhere = await onlooker.saw(2)
    assert (nowhere.surface, nowhere.tenant, nowhere.status) == (None, None, 404)
    assert nowhere.path == "/v1/nowhere"
    assert nowhere.fault is not None


async def test_a_client_that_leaves(
    onlooker: Onlooker, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    left = asyncio.Event()

    async def plays(line: Line) -> None:
        await line.request()
        line.send(HEAD, text("Hel"))
        await left.wait()
        await line.closed()

    backend.plays(plays)
    proxy = await start_proxy()
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        await response.content.readany()
        response.close()
    left.set()
    watch = await onlooker.saw()
    assert watch.status == 499
    assert watch.attempts[0].ended is not None


async def test_other_surfaces_and_what_only_counts(
    onlooker: Onlooker, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    proxy = await start_proxy()
    message = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    for number, path in enumerate(("/v1/chat/completions", "/native/v1/chat/completions"), 1):
        async with proxy.session.post(f"{proxy.url}{path}", json=message) as response:
            assert response.status == 200, await response.text()
        assert (await onlooker.saw(number)).path == path
    assert [watch.surface for watch in onlooker.ended_with] == ["chat", "native"]
    backend.answers(answer(200, {"count": 7, "tokens": []}))
    proxy = await start_proxy(backend={"profile": "vllm"})
    async with proxy.session.post(
        f"{proxy.url}/v1/responses/input_tokens", json={"model": "m", "input": "Hi"}
    ) as response:
        assert response.status == 200, await response.text()
    counted = await onlooker.saw(3)
    assert counted.surface == "input_tokens"
    (attempt,) = counted.attempts
    assert (attempt.status, attempt.ending) == (200, None)
    assert None not in (attempt.place, attempt.head, attempt.first_byte, attempt.ended)


async def test_a_turn_on_a_websocket(onlooker: Onlooker, start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    async with proxy.session.ws_connect(f"{proxy.url}/v1/responses") as socket:
        await socket.send_json({"type": "response.create", "model": "m", "input": "Hi"})
        watch = await onlooker.saw()
    assert (watch.transport, watch.surface, watch.status) == ("websocket", "responses", 200)
    assert watch.request_id.endswith(".1")


async def test_work_in_the_background(onlooker: Onlooker, start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    async with proxy.post({"model": "m", "input": "Hi", "background": True}) as response:
        assert (await response.json())["status"] == "queued"
    watch = await onlooker.saw()
    assert watch.background
    assert [attempt.ending for attempt in watch.attempts] == ["completed"]
    assert onlooker.begun_with == [watch]


def test_it_says_nothing_of_what_it_holds() -> None:
    """S06."""
    assert "Ledger" not in repr(a_watch(lambda: 0.0))


async def test_it_holds_neither_a_key_nor_a_frame(onlooker: Onlooker, start_proxy: StartProxy) -> None:
    """S06. Whoever watches may keep it for hundreds of requests: all of a request is in the frames of its faults."""
    proxy = await start_proxy(backend={"url": "http://127.0.0.1:9/v1"}, retries={"attempts": 1})
    headers = {"Authorization": "Bearer key-of-the-client-0123456789"}
    body = {"model": "m", "input": "Hi"}
    async with proxy.session.post(f"{proxy.url}/v1/responses", json=body, headers=headers) as response:
        assert response.status == 502
    watch = await onlooker.saw()
    assert watch.fault is not None
    assert "ECONNREFUSED" in facts_of(watch.fault)["cause"]
    held = [type(each) for each in all_held_by(watch)]
    assert type(watch.fault) in held
    assert not {CIMultiDictProxy, FrameType, TracebackType, Ledger} & set(held)


def all_held_by(watch: Watch) -> list[object]:
    """But for what is there once for all requests: classes, functions."""
    found: dict[int, object] = {}
    left: list[object] = [watch]
    while left:
        each = left.pop()
        if id(each) not in found and not isinstance(each, (type, ModuleType, FunctionType)):
            found[id(each)] = each
            left += gc.get_referents(each)
    return list(found.values())
