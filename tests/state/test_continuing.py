"""A response is kept and continued by its id, as the API's memory is meant (T01-T31), over real sockets."""

import asyncio
from typing import Any

import pytest

from proxy.core.tenants import digest
from tests.support.background import Talker, got
from tests.support.proxies import Proxy, StartProxy, events, final, names
from tests.support.sockets import END, HEAD, Line, ScriptedBackend, answer, delta, finish, reply, text, usage
from tests.support.state import asked, refused, sent
from tests.support.weather import CALL, WEATHER

NOT_FOUND = (400, "previous_response_not_found", "previous_response_id")


async def test_t04_the_whole_chain_is_sent_and_nothing_else_is_carried_over(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """T04, T14."""
    backend.answers(reply(text("One")), reply(text("Two")), reply(text("Three")))
    developer = {"role": "developer", "content": "As an item."}
    first = await asked(
        proxy,
        instructions="Be brief.",
        input=[developer, {"role": "user", "content": "First"}],
        metadata={"a": "b"},
        tools=[WEATHER],
    )
    second = await asked(proxy, input="Second", previous_response_id=first["id"])
    third = final(await proxy.stream(input="Third", previous_response_id=second["id"]))
    assert sent(backend) == [
        ("system", "As an item."),
        ("user", "First"),
        ("assistant", "One"),
        ("user", "Second"),
        ("assistant", "Two"),
        ("user", "Third"),
    ]
    assert (third["previous_response_id"], third["instructions"], third["metadata"]) == (
        second["id"],
        None,
        {},
    )
    assert third["tools"] == []
    assert third["store"] is True


@pytest.mark.parametrize("stream", [True, False])
async def test_t03_a_stored_parent_is_continued_without_storing(
    backend: ScriptedBackend, proxy: Proxy, stream: bool
) -> None:
    """T02, T03, T05: what is not stored is no parent."""
    parent = await asked(proxy)
    body = {"previous_response_id": parent["id"], "store": False}
    child = final(await proxy.stream(**body)) if stream else await asked(proxy, **body)
    assert child["store"] is False
    assert len(sent(backend)) == 3
    calls = len(backend.received)
    assert await refused(proxy, previous_response_id=child["id"]) == NOT_FOUND
    assert await refused(proxy, previous_response_id="resp_" + "0" * 48) == NOT_FOUND
    assert len(backend.received) == calls
    assert (await asked(proxy, previous_response_id=parent["id"]))["status"] == "completed"
    assert await got(proxy, parent["id"]) == (200, parent)


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ("", "invalid_value"),
        ("msg_1", "invalid_value"),
        ("resp_" + "a" * 4000, "invalid_value"),
        (7, "invalid_type"),
        ({}, "invalid_type"),
    ],
)
async def test_t11_what_cannot_be_an_id_is_not_looked_up(proxy: Proxy, named: Any, code: str) -> None:
    assert await refused(proxy, previous_response_id=named) == (400, code, "previous_response_id")


async def test_t11_null_names_nothing(proxy: Proxy) -> None:
    assert (await asked(proxy, previous_response_id=None, conversation=None))["previous_response_id"] is None


async def test_t12_a_parent_and_a_conversation_exclude_each_other(proxy: Proxy) -> None:
    named = {"previous_response_id": "resp_1", "conversation": "conv_1"}
    assert await refused(proxy, **named) == (400, "mutually_exclusive_parameters", None)


async def test_t13_a_wrong_field_is_told_first(proxy: Proxy) -> None:
    named = {"previous_response_id": "resp_" + "0" * 48}
    assert await refused(proxy, **named, temperature=9) == (400, "invalid_value", "temperature")
    for model in (None, ""):
        assert (await refused(proxy, **named, model=model))[2] == "model"
    wrong = await refused(proxy, conversation="conv_1", prompt={"id": "pmpt_1"})
    assert wrong == (400, "unsupported_parameter", "prompt")


async def test_t09_what_was_cut_by_length_is_in_the_history_but_for_half_a_call(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "get_weather", "arguments": '{"ci'}}
    half = delta(tool_calls=[call])
    backend.answers(HEAD + text("Let me") + half + finish("length") + usage() + END, reply(text("Fine")))
    cut = await asked(proxy, tools=[WEATHER])
    assert cut["status"] == "incomplete"
    await asked(proxy, input="Go on", previous_response_id=cut["id"])
    assert sent(backend) == [("user", "Hi"), ("assistant", "Let me"), ("user", "Go on")]


async def test_t10_what_a_failed_stream_had_finished_can_be_continued(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """T10, T24: its id was told, so it is kept."""
    backend.answers(HEAD + text("Hel") + END, reply(text("Fine")))
    failed = final(await proxy.stream())
    assert (failed["status"], failed["store"]) == ("failed", True)
    again = await asked(proxy, input="Go on", previous_response_id=failed["id"])
    assert "failed" in again["_proxy"]["warnings"][0]
    assert sent(backend) == [("user", "Hi\n\nGo on")]


@pytest.mark.parametrize("how", ["failed", "cancelled"])
async def test_t10_items_that_were_finished_are_in_the_history(
    backend: ScriptedBackend, proxy: Proxy, how: str
) -> None:
    """And half a call is not: a text and a whole call were before it."""
    half = delta(tool_calls=[{"index": 1, "id": "call_2", "function": {"name": "f", "arguments": '{"a'}}])
    pieces = HEAD + text("Let me") + CALL + half

    async def broken_off(line: Line) -> None:
        await line.request()
        line.send(pieces)
        if how == "cancelled":
            await line.closed()

    backend.plays(broken_off)
    tools = [WEATHER, WEATHER | {"name": "f"}]
    if how == "failed":
        parent = final(await proxy.stream(tools=tools))
    else:
        async with proxy.post({"model": "m", "input": "Hi", "stream": True, "tools": tools}) as response:
            head = await response.content.readuntil(b'{\\"a')
        await proxy.log.wait_for("request")
        parent = (await got(proxy, events(head.rpartition(b"\n\n")[0])[0].data["response"]["id"]))[1]
    message, call = parent["output"][:2]
    assert (parent["status"], message["status"], call["status"]) == (how, "completed", "completed")
    backend.answers(reply(text("Sunny")))
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "sun"}
    child = await asked(proxy, input=[result], previous_response_id=parent["id"], tools=tools)
    assert any(how in warning for warning in child["_proxy"]["warnings"])
    assert sent(backend) == [("user", "Hi"), ("assistant", "Let me"), ("tool", "sun")]
    said, answered = backend.received[-1].json["messages"][1:]
    assert [each["id"] for each in said["tool_calls"]] == [answered["tool_call_id"]]


async def test_t24_a_refusal_leaves_nothing(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    proxy = await start_proxy(retries={"attempts": 1})
    backend.answers(answer(400, {"error": {"message": "No."}}))
    assert (await proxy.refused())[0] == 400
    assert proxy.log.named("response_not_stored") == []


async def test_t15_another_models_thoughts_are_left_out(backend: ScriptedBackend, proxy: Proxy) -> None:
    thinking = delta(reasoning_content="Hm.") + text("Hello")
    backend.answers(reply(thinking), reply(text("Fine")))
    first = await asked(proxy, model="qwen-3")
    assert first["output"][0]["type"] == "reasoning"
    again = await asked(proxy, model="glm-5", previous_response_id=first["id"])
    assert again["model"] == "glm-5"
    assert "another model" in again["_proxy"]["warnings"][0]
    assert sent(backend)[1] == ("assistant", "Hello")


async def test_t16_a_result_meets_the_parents_call(backend: ScriptedBackend, proxy: Proxy) -> None:
    """T16, T17: and a result without its call is refused, and leaves the parent as it is."""
    backend.answers(reply(CALL), reply(text("Sunny")))
    first = await asked(proxy, tools=[WEATHER])
    (call,) = first["output"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "sun"}
    stray = [result | {"call_id": "call_other"}]
    assert (await refused(proxy, input=stray, previous_response_id=first["id"]))[0] == 400
    await asked(proxy, input=[result], previous_response_id=first["id"], tools=[WEATHER])
    messages = backend.received[-1].json["messages"]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == call["call_id"]
    assert messages[2]["content"] == "sun"


async def test_t18_calls_that_nobody_answered_are_aborted_for_the_backend_alone(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(reply(CALL), reply(text("Fine")), reply(text("Good")))
    first = await asked(proxy, tools=[WEATHER])
    second = await asked(proxy, input="Never mind", previous_response_id=first["id"])
    assert [role for role, _ in sent(backend)] == ["user", "assistant", "tool", "user"]
    assert sent(backend)[2][1].endswith("aborted")
    assert second["_proxy"]["warnings"]


async def test_t19_a_history_may_be_all_that_is_answered(backend: ScriptedBackend, proxy: Proxy) -> None:
    first = await asked(proxy)
    for nothing in (None, []):
        assert (await refused(proxy, input=nothing))[:2] == (400, "missing_required_parameter")
    assert (await asked(proxy, input=[], previous_response_id=first["id"]))["status"] == "completed"
    async with proxy.post({"model": "m", "previous_response_id": first["id"]}) as response:
        assert response.status == 200
    assert sent(backend)[:2] == [("user", "Hi"), ("assistant", "Hello")]


async def test_t20_items_that_are_there_already_are_sent_once(backend: ScriptedBackend, proxy: Proxy) -> None:
    first = await asked(proxy)
    again = [*first["output"], {"role": "user", "content": "More"}]
    second = await asked(proxy, input=again, previous_response_id=first["id"])
    assert sent(backend) == [("user", "Hi"), ("assistant", "Hello"), ("user", "More")]
    assert second["_proxy"]["warnings"]


async def test_t21_a_history_has_the_limit_of_a_body(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(server={"body_limit_mib": 1})
    half = "x" * 600_000
    first = await asked(proxy, input=half)
    second = await asked(proxy, input=half, previous_response_id=first["id"])
    assert await refused(proxy, previous_response_id=second["id"]) == (413, "request_too_large", "input")
    assert (await asked(proxy, previous_response_id=first["id"]))["status"] == "completed"


async def test_t23_who_keeps_nothing_says_so(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    proxy = await start_proxy(store={"url": "off"})
    first = await asked(proxy)
    assert first["store"] is False
    status, error = await proxy.refused(previous_response_id=first["id"])
    assert (status, error["code"]) == (400, "previous_response_not_found")
    assert "not kept here" in error["message"]
    assert (await refused(proxy, conversation="conv_1"))[:2] == (400, "unsupported_parameter")
    status, error = await proxy.refused(input=[{"type": "item_reference", "id": "msg_1"}])
    assert (status, error["param"]) == (404, "input")
    assert "`store` set to false" in error["message"]


async def test_t25_a_stream_whose_client_leaves_is_kept_as_cancelled(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """U05: by the store's own task, for the request's has ended. Its backend is left within a second."""
    talker = Talker()
    backend.plays(talker)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        await talker.says(text("Hel"))
        head = await response.content.readuntil(b"response.output_text.delta")
    async with asyncio.timeout(1):
        await talker.left.wait()
    assert (await proxy.log.wait_for("request"))["stored"] is True
    backend.answers(reply(text("Fine")))
    created = events(head.rpartition(b"\n\n")[0])[0]
    again = await asked(proxy, input="Go on", previous_response_id=created.data["response"]["id"])
    assert "cancelled" in again["_proxy"]["warnings"][0]
    assert sent(backend) == [("user", "Hi\n\nGo on")]


async def test_t28_an_item_may_stand_for_itself(backend: ScriptedBackend, proxy: Proxy) -> None:
    """As the AI SDK sends its history. T28, T29, T31."""
    first = await asked(proxy)
    (message,) = first["output"]
    reference = {"type": "item_reference", "id": message["id"]}
    more = {"role": "user", "content": "More"}
    await asked(proxy, input=[{"role": "user", "content": "Hi"}, reference, more])
    assert sent(backend) == [("user", "Hi"), ("assistant", "Hello"), ("user", "More")]
    twice = await asked(proxy, input=[{"id": message["id"]}, reference, more])
    assert sent(backend)[-2:] == [("assistant", "Hello"), ("user", "More")]
    assert [content for _, content in sent(backend)].count("Hello") == 1
    assert twice["_proxy"]["warnings"]
    there = await asked(proxy, input=[reference, more], previous_response_id=first["id"])
    assert sent(backend) == [("user", "Hi"), ("assistant", "Hello"), ("user", "More")]
    assert there["_proxy"]["warnings"]
    status, error = await proxy.refused(input=[{"type": "item_reference", "id": "msg_" + "0" * 48}])
    assert (status, error["param"], error["code"]) == (404, "input", None)
    assert error["message"].startswith(
        f"Item with id 'msg_{'0' * 48}' not found. Items are not persisted when"
    )


async def test_t91_a_parent_has_any_number_of_children(backend: ScriptedBackend, proxy: Proxy) -> None:
    parent = await asked(proxy)
    await asyncio.gather(*(asked(proxy, input=f"{n}", previous_response_id=parent["id"]) for n in range(8)))
    histories = sorted(request.json["messages"][-1]["content"] for request in backend.received[1:])
    assert histories == [f"{n}" for n in range(8)]
    assert all(len(request.json["messages"]) == 3 for request in backend.received[1:])


async def test_t06_another_tenants_response_is_as_unknown_as_any(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(tenants=_tenants("ann", "bob"))
    async with proxy.post({"model": "m", "input": "Hi"}, Authorization="Bearer key-of-ann") as response:
        mine = await response.json()
    seen = []
    for named in (mine["id"], "resp_" + "0" * 48):
        body = {"model": "m", "input": "Hi", "previous_response_id": named}
        async with proxy.post(body, Authorization="Bearer key-of-bob") as response:
            seen.append((response.status, (await response.text()).replace(named, "X")))
    assert seen[0] == seen[1]
    assert seen[0][0] == 400


def _tenants(*names: str) -> dict[str, Any]:
    return {name: {"keys": [digest(f"key-of-{name}")]} for name in names}


async def test_t01_names_of_a_stream_are_the_same_as_ever(proxy: Proxy) -> None:
    """Whether it is stored or not: the ending alone waits for the store."""
    assert names(await proxy.stream(store=True)) == names(await proxy.stream(store=False))


@pytest.mark.parametrize("added", [{}, {"input": []}, {"input": "More"}])
async def test_a_chain_is_compacted_by_the_id_of_its_last_response(
    backend: ScriptedBackend, proxy: Proxy, added: dict[str, Any]
) -> None:
    """T07: and what sums it up is no parent."""
    backend.answers(reply(text("One")), reply(text("They greeted.")))
    first = await asked(proxy)
    url = f"{proxy.url}/v1/responses/compact"
    async with proxy.session.post(
        url, json={"model": "m", "previous_response_id": first["id"]} | added
    ) as response:
        summary = await response.json()
    assert summary["object"] == "response.compaction"
    assert sent(backend)[:2] == [("user", "Hi"), ("assistant", "One")]
    assert await refused(proxy, previous_response_id=summary["id"]) == NOT_FOUND
    again = await asked(proxy, input=[*summary["output"], {"role": "user", "content": "Go on"}])
    assert again["status"] == "completed"
    assert "They greeted." in str(sent(backend))


async def test_a_refusal_names_the_item_as_its_client_has_sent_it(proxy: Proxy) -> None:
    """T20, T31: whatever of its input was left out."""
    first = await asked(proxy)
    wrong = {"role": "nobody", "content": "Hi"}
    body = {"input": [*first["output"], wrong], "previous_response_id": first["id"]}
    assert await refused(proxy, **body) == (400, "invalid_value", "input[1].role")
