"""What was said in one request, as the page shows it."""

from pathlib import Path
from typing import Any

import pytest

from proxy.core.masking.redact import MASK
from tests.support.inspecting import asked, only_request, recorded
from tests.support.proxies import Proxy, StartProxy, backend, start_proxy
from tests.support.sockets import ScriptedBackend, answer, reply, text

__all__ = ["backend", "start_proxy"]

KEY = "sk-proj-abcdefghijklmnopqrstuvwx"


@pytest.fixture
async def proxy(tmp_path: Path, start_proxy: StartProxy) -> Proxy:
    backend = {"key": "the-key-of-the-backend"}
    return await start_proxy(backend=backend, retries={"attempts": 2}, **recorded(tmp_path))


async def content(proxy: Proxy, attempt: int = -1) -> Any:
    request = await only_request(proxy)
    assert request["has_content"]
    return await asked(proxy, "content", id=request["id"], attempt=attempt)


async def test_both_requests_stand_beside_each_other(proxy: Proxy) -> None:
    await proxy.stream(input="Say hello")
    bodies = (await content(proxy))["bodies"]
    ours = next(line for line in bodies["client"]["lines"] if line["key"] == "input")
    theirs = bodies["backend"]["lines"][ours["partner"]]
    assert (ours["mark"], theirs["key"], theirs["text"]) == ("moved", "content", '"Say hello"')


async def test_both_streams_are_told_event_by_event(proxy: Proxy) -> None:
    await proxy.stream()
    events = (await content(proxy))["events"]
    assert events["backend"]["events"][-1][2] == "[DONE]"
    assert events["client"]["events"][0][1] == "response.created"
    assert all(seconds > 0 for seconds, _, _ in events["client"]["events"])


async def test_a_stream_that_broke_off_shows_where(proxy: Proxy, backend: ScriptedBackend) -> None:
    backend.answers(reply(text("He"))[: -len(b"\n\ndata: [DONE]\n\n") - 30])
    await proxy.stream()
    told = await content(proxy)
    assert told["events"]["backend"]["rest"].startswith("data: {")


async def test_markup_stands_beside_the_call_that_it_became(proxy: Proxy, backend: ScriptedBackend) -> None:
    call = '<tool_call>{"name": "look", "arguments": {"at": "it"}}</tool_call>'
    backend.answers(reply(text("I look. "), text(call)))
    await proxy.stream(tools=[{"type": "function", "name": "look", "parameters": {"type": "object"}}])
    said = (await content(proxy))["said"]
    assert [call, False] in said["pieces"]
    assert said["client"]["calls"] == [{"name": "look", "arguments": '{"at":"it"}'}]
    assert said["model"]["calls"] == []


async def test_keys_are_masked_wherever_they_stand(proxy: Proxy, backend: ScriptedBackend) -> None:
    """S06."""
    backend.answers(reply(text(f"Is it {KEY}?")))
    async with proxy.post(
        {"model": "m", "input": f"My key is {KEY}, yours the-key-of-the-backend", "user": KEY},
        Authorization="Bearer the-key-of-the-client",
        **{"X-Api-Key": KEY, "Cookie": "a=secret-cookie"},
    ) as response:
        await response.read()
    told = await content(proxy)
    assert MASK in str(told)
    for secret in (KEY, "the-key-of-the-backend", "the-key-of-the-client", "secret-cookie"):
        assert secret not in str(told)


async def test_any_attempt_may_be_asked_for(proxy: Proxy, backend: ScriptedBackend) -> None:
    backend.answers(answer(503, {"error": {"message": "not now"}}), reply(text("Hello")))
    await proxy.stream()
    first, last = await content(proxy, 0), await content(proxy, 7)
    assert (first["attempt"], last["attempt"]) == (0, 1)
    assert "not now" in str(first["events"]["backend"])
    assert "not now" not in str(last["events"]["backend"])


async def test_a_refused_body_is_shown_as_far_as_it_can_be(proxy: Proxy) -> None:
    async with proxy.session.post(
        f"{proxy.url}/v1/responses", data=b"{", headers={"Content-Type": "application/json"}
    ) as response:
        assert response.status == 400
    told = await content(proxy)
    assert told["said"]["model"] is None
    assert told["bodies"]["backend"] is None, "nobody was asked"
    assert [line["mark"] for line in told["bodies"]["client"]["lines"]] == [None], "so nothing was left out"
