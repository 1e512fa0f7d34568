"""What was said in one request: the bytes that passed, within bounds."""

import gc

import pytest

from proxy.shell.watching.content import ContentRoom
from tests.support.proxies import StartProxy
from tests.support.sockets import ScriptedBackend, answer
from tests.support.watching import Onlooker, a_content, have_watch

KEY = "sk-of-the-backend-1234567890"


@pytest.fixture
def onlooker(monkeypatch: pytest.MonkeyPatch) -> Onlooker:
    onlooker = Onlooker()
    have_watch(monkeypatch, onlooker)
    return onlooker


async def test_a_stream(onlooker: Onlooker, start_proxy: StartProxy, backend: ScriptedBackend) -> None:
    proxy = await start_proxy(backend={"key": KEY})
    sent = b'{"model": "m",  "input": "Hi", "stream": true}'
    headers = {"Content-Type": "application/json", "Authorization": "Bearer of-the-client-123456"}
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=sent, headers=headers) as response:
        body = await response.read()
    watch = await onlooker.saw()
    content = watch.content
    assert content is not None
    assert content.body == sent
    assert content.headers["Authorization"] == "[redacted]"
    assert b"".join(frame for _, frame in content.frames) == body
    attempt = watch.attempts[0].content
    assert attempt is not None
    assert attempt.body == backend.received[0].body
    assert attempt.headers["Authorization"] == "[redacted]"
    assert attempt.answer_headers["Content-Type"] == "text/event-stream"
    assert b"".join(data for _, data in attempt.reads).endswith(b"data: [DONE]\n\n")
    times = [time for time, _ in attempt.reads] + [time for time, _ in content.frames[-1:]]
    assert times == sorted(times)
    assert not content.cut


async def test_a_whole_answer(onlooker: Onlooker, start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        answered = await response.json()
    content = (await onlooker.saw()).content
    assert content is not None
    assert content.answer == answered
    assert content.frames == []


async def test_a_refusal_of_a_backend(
    onlooker: Onlooker, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    backend.answers(answer(404, {"error": {"message": "no such model"}}))
    proxy = await start_proxy()
    await proxy.refused()
    (attempt,) = (await onlooker.saw()).attempts
    assert attempt.content is not None
    assert b"no such model" in attempt.content.reads[0][1]


async def test_beyond_its_room_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, start_proxy: StartProxy
) -> None:
    onlooker = Onlooker()
    have_watch(monkeypatch, onlooker, room=300)
    proxy = await start_proxy()
    await proxy.stream(input="x" * 200)
    content = (await onlooker.saw()).content
    assert content is not None
    assert content.cut
    assert content.body is not None
    assert content.frames == []


def test_its_room_is_given_back_when_nobody_holds_it_any_more() -> None:
    room = ContentRoom(100, 60)
    first, second = (a_content(room) for _ in range(2))
    first.asked(b"x" * 60)
    second.asked(b"x" * 60)
    assert first.body is not None
    assert second.body is None
    del first
    gc.collect()
    third = a_content(room)
    third.asked(b"x" * 60)
    assert not third.cut
    third.received(b"of no attempt")
    assert not third.cut
