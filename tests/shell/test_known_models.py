"""What the proxy remembers of a backend's models: their quirks, and what refusals and replies have taught."""

import asyncio
from typing import Any

import pytest

from proxy.shell import known_models as module
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, answer, finish, reply, text

REPLY = reply(text("Hello"))

NO_USAGE = answer(
    400, {"error": {"message": "Unknown parameter: 'stream_options'.", "type": "invalid_request_error"}}
)


def sent(backend: ScriptedBackend) -> list[dict[str, Any]]:
    return [received.json for received in backend.received]


async def test_the_quirks_of_a_models_name_apply(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    history = [
        {"type": "function_call", "call_id": "call_0123456789", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_0123456789", "output": "1"},
    ]
    await proxy.stream(model="mistral-small", input=history)
    (body,) = sent(backend)
    assert len(body["messages"][-1]["tool_call_id"]) == 9


async def test_a_backend_that_is_recognised_later_is_treated_anew(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.discovery.ASK_AGAIN_SECONDS", 0)
    proxy = await start_proxy(backend={"profile": "auto"})
    pages = {"/v1/chat/completions": REPLY}

    async def plays(line: Line) -> None:
        while True:
            page = pages.get((await line.request()).path)
            if page is None:
                line.reset()
                return
            line.send(page)

    backend.plays(plays)
    await proxy.stream()
    pages["/v1/models"] = answer(200, {"data": [{"id": "m", "owned_by": "vllm"}]})
    await proxy.stream()
    assert [line["profile"] for line in proxy.log.named("request")] == ["default", "vllm"]


# ── refusals ──


async def test_a_lesson_is_remembered_for_its_model_and_logged_once(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(NO_USAGE, REPLY)
    for model in ("a", "a", "b"):
        await proxy.stream(model=model)
    assert ["stream_options" in body for body in sent(backend)] == [True, False, False, True]
    (line,) = proxy.log.named("refusal_learned")
    assert line["model"] == "a"
    assert len(line["lessons"]) == 1


async def shown(proxy: Proxy) -> set[str]:
    """The lines of `/metrics` about lessons."""
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        lines = (await response.text()).splitlines()
    start = "responses_proxy_lessons"
    return {line.removeprefix(f"{start}_") for line in lines if line.startswith(start)}


async def test_what_is_learned_is_counted_and_what_is_held_is_told(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    value = answer(400, {"error": {"message": "Unsupported value: 'temperature' does not support it."}})
    backend.answers(NO_USAGE, REPLY, value, REPLY, OPENED)
    for body in ({}, {"temperature": 0.1}, {}):
        await proxy.stream(**body)
    assert await shown(proxy) == {
        'total{backend="backend",lesson="usage",source="refusal",worker="0"} 1.0',
        'total{backend="backend",lesson="value",source="refusal_once",worker="0"} 1.0',
        'total{backend="backend",lesson="thoughts_until",source="reply",worker="0"} 1.0',
        'held{backend="backend",field="usage",worker="0"} 1.0',
        'held{backend="backend",field="thoughts_until",worker="0"} 1.0',
    }


async def test_a_lesson_that_did_not_help_is_forgotten(backend: ScriptedBackend, proxy: Proxy) -> None:
    """It may have been a misunderstanding."""
    backend.answers(NO_USAGE, answer(400, {"error": {"message": "Something else is wrong."}}), REPLY)
    await proxy.refused()
    await proxy.stream()
    assert "stream_options" in sent(backend)[-1]
    assert proxy.log.named("refusal_learned") == []


async def test_what_is_remembered_is_bounded(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E7: the names of models come from clients."""
    monkeypatch.setattr(module, "MAX_KNOWN", 1)
    backend.answers(NO_USAGE, REPLY, NO_USAGE, REPLY, REPLY)
    for model in ("a", "b", "a"):
        await proxy.stream(model=model)
    assert ["stream_options" in body for body in sent(backend)] == [True, False, True, False, True]


async def test_what_was_learned_with_one_clients_key_is_kept_without_it(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """S05."""
    proxy = await start_proxy(backend={"key": None, "forward_key": True})
    backend.answers(NO_USAGE, REPLY)
    for headers in ({"Authorization": "Bearer one"}, {"Authorization": "Bearer other"}, {}):
        async with proxy.post({"model": "m", "input": "Hi"}, **headers) as response:
            assert response.status == 200
    keys = [request.headers.get("authorization") for request in backend.received]
    assert keys == ["Bearer one", "Bearer one", "Bearer other", None]
    assert ["stream_options" in body for body in sent(backend)] == [True, False, False, False]


# ── replies ──

OPENED = reply(text("Hm."), text("</think>\n\nHello"))


async def told(proxy: Proxy, **body: Any) -> list[str]:
    """The kinds of items of a streamed answer."""
    last = (await proxy.stream(**body))[-2].data["response"]
    return [item["type"] for item in last["output"]]


async def test_v25_what_a_reply_shows_is_remembered_for_its_model_and_logged_once(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(OPENED)
    seen = [await told(proxy, model=model) for model in ("a", "a", "a", "b")]
    assert seen == [["message"], ["reasoning", "message"], ["reasoning", "message"], ["message"]]
    of_a, of_b = proxy.log.named("reply_learned")
    assert (of_a["model"], of_a["fields"], of_a["minutes"]) == ("a", {"thoughts_until": "</think>"}, 10)
    assert of_b["model"] == "b"
    oddities = [line.get("oddities") for line in proxy.log.named("request")]
    assert oddities == [{"thought_unopened": 1}, None, None, {"thought_unopened": 1}]
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        assert 'oddities_total{what="thought_unopened",worker="0"} 2.0' in await response.text()


async def test_v25_a_lesson_that_anybody_can_give_harms_nobody_for_long(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Whoever asks a model to write the tag teaches it. The next answer comes whole, and the one after it as ever."""
    plain = reply(text("Hel"), text("lo"))
    backend.answers(OPENED, plain)
    assert await told(proxy) == ["message"]
    events = await proxy.stream()
    assert [event.data["text"] for event in events if event.name == "response.output_text.done"] == ["Hello"]
    assert await told(proxy) == ["message"]
    _, undone = proxy.log.named("reply_learned")
    assert undone["fields"] == {"thoughts_until": None}
    assert proxy.log.named("request")[1]["oddities"] == {"thought_taken_back": 1}


@pytest.mark.parametrize(
    ("set_by_hand", "kinds"), [("</think>", ["reasoning", "message"]), ("", ["message"])]
)
async def test_v25_what_is_set_by_hand_stays(
    set_by_hand: str, kinds: list[str], backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"overrides": {"thoughts_until": set_by_hand}})
    backend.answers(OPENED, reply(text("Hello")), OPENED)
    assert [await told(proxy), await told(proxy), await told(proxy)][::2] == [kinds, kinds]
    assert proxy.log.named("reply_learned") == []


async def test_v25_what_a_cut_reply_shows_counts_and_what_it_does_not_show_does_not(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    cut = b"".join((HEAD, text("Hm."), finish("length"), DONE, END))
    backend.answers(OPENED, cut, OPENED)
    assert [await told(proxy) for _ in range(3)] == [["message"], ["reasoning"], ["reasoning", "message"]]
    assert len(proxy.log.named("reply_learned")) == 1


async def test_v25_a_model_that_is_no_longer_known_learns_nothing(
    backend: ScriptedBackend, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its reply may take longer than it is remembered."""
    monkeypatch.setattr(module, "MAX_KNOWN", 1)
    backend.answers(OPENED)
    assert await asyncio.gather(told(proxy, model="a"), told(proxy, model="b")) == [["message"]] * 2
    assert len(proxy.log.named("reply_learned")) == 1
