"""What a turn has of the turns before it, to the last item (T01-T38), over real sockets."""

from base64 import b64encode
from typing import Any

import pytest

from tests.scripted import anthropic
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import serving
from tests.support.background import deleted, got
from tests.support.keeping import TENANT, Keeping, records, start_keeping
from tests.support.proxies import Proxy, StartProxy, final
from tests.support.sockets import ScriptedBackend, answer, delta, reply, text
from tests.support.state import asked, refused, sent
from tests.support.stores import record
from tests.support.weather import CALL, WEATHER

__all__ = ["records", "start_keeping"]


async def listed(proxy: Proxy, id: str, query: str = "?order=asc") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await got(proxy, f"{id}/input_items{query}"))[1]["data"]
    return found


def reference(item: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"type": "item_reference", "id": item["id"]} | members


@pytest.mark.parametrize("stored", [{}, {"store": None}, {"store": True}])
@pytest.mark.parametrize("stream", [True, False])
async def test_t01_what_is_read_is_what_was_answered(
    backend: ScriptedBackend, proxy: Proxy, stream: bool, stored: dict[str, Any]
) -> None:
    """Member for member, with its warnings."""
    backend.answers(reply(text("It is"), CALL))
    tools = [WEATHER | {"description": "long " * 400}]
    body = stored | {"tools": tools, "instructions": "Be brief.", "metadata": {"a": "b"}}
    said = final(await proxy.stream(**body)) if stream else await asked(proxy, **body)
    assert said["_proxy"]["warnings"]
    assert [item["type"] for item in said["output"]] == ["message", "function_call"]
    for _ in range(2):
        assert await got(proxy, said["id"]) == (200, said)


async def test_t04_t38_the_third_turn_lists_five_items(backend: ScriptedBackend, proxy: Proxy) -> None:
    """With ids and in their whole form, and without instructions. What it was asked counts as the backend counts it."""
    first = await asked(proxy, input="One", instructions="Be brief.")
    second = await asked(proxy, input="Two", previous_response_id=first["id"])
    third = await asked(proxy, input="Three", previous_response_id=second["id"])
    items = await listed(proxy, third["id"])
    assert [item["content"][0]["text"] for item in items] == ["One", "Hello", "Two", "Hello", "Three"]
    assert [item["role"] for item in items] == ["user", "assistant"] * 2 + ["user"]
    assert all(item["id"].startswith("msg_") and item["status"] == "completed" for item in items)
    assert [items[1], items[3]] == [*first["output"], *second["output"]]
    assert await listed(proxy, third["id"], "") == items[::-1]
    assert third["usage"]["input_tokens"] == 3


async def test_t14_settings_are_those_of_the_request_alone(backend: ScriptedBackend, proxy: Proxy) -> None:
    form = {"type": "json_schema", "name": "n", "schema": {"type": "object"}}
    first = await asked(
        proxy,
        text={"format": form},
        temperature=0.3,
        max_output_tokens=100,
        tools=[WEATHER],
        tool_choice="auto",
        parallel_tool_calls=False,
        truncation="auto",
        metadata={"a": "b"},
        instructions="Be brief.",
    )
    alone = await asked(proxy, input="More")
    child = await asked(proxy, input="More", previous_response_id=first["id"])
    its_own = {"id", "created_at", "completed_at", "output", "previous_response_id"}
    assert {name: child[name] for name in child.keys() - its_own} == {
        name: alone[name] for name in alone.keys() - its_own
    }
    asking = [request.json for request in backend.received[1:]]
    assert [each.keys() for each in asking] == [asking[0].keys()] * 2


async def test_t15_a_chain_goes_from_one_dialect_to_another_and_back(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Text and calls come along; what only its maker can read goes to its maker alone."""
    signed = b64encode(b"proof").decode()
    thinks = Say(
        thinking="Hm.", signature=signed, text="Hello", calls=[SayCall("toolu_1", "get_weather", {})]
    )
    async with serving(anthropic.PROVIDER, thinks, Say(text="Fine")) as claude:
        there = {"url": claude.url, "profile": "anthropic", "key": "k"}
        proxy = await start_proxy(backends={"claude": there}, routing={"models": {"claude-*": "claude"}})
        asking = {"reasoning": {"effort": "high"}, "max_output_tokens": 30_000, "tools": [WEATHER]}
        first = await asked(proxy, model="claude-sonnet-4-6", **asking)
        assert [item["type"] for item in first["output"]] == ["reasoning", "message", "function_call"]
        call_id = first["output"][-1]["call_id"]
        results = [{"type": "function_call_output", "call_id": call_id, "output": "sun"}]
        second = await asked(proxy, input=results, previous_response_id=first["id"], tools=[WEATHER])
        assert second["model"] == "m"
        assert any("another model" in warning for warning in second["_proxy"]["warnings"])
        assert [role for role, _ in sent(backend)] == ["user", "assistant", "tool"]
        assert signed not in backend.received[-1].body.decode()
        await asked(proxy, model="claude-sonnet-4-6", input="On", previous_response_id=second["id"], **asking)
        said = claude.last.body["messages"]
        assert [message["role"] for message in said] == ["user", "assistant", "user", "assistant", "user"]
        assert signed in str(said[1])


async def test_t17_a_result_without_its_call_is_refused_in_the_api_s_words(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    first = await asked(proxy)
    calls = len(backend.received)
    stray = [{"type": "function_call_output", "call_id": "call_other", "output": "1"}]
    status, error = await proxy.refused(input=stray, previous_response_id=first["id"])
    assert (status, error["param"], error["code"]) == (400, "input", None)
    assert error["message"] == "No tool call found for function call output with call_id call_other."
    assert len(backend.received) == calls


async def test_t18_what_was_made_up_is_nowhere_listed(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Of two calls one is answered, then only something is said: the other one is aborted each time."""
    calls = [
        delta(
            tool_calls=[{"index": n, "id": f"c{n}", "function": {"name": "get_weather", "arguments": "{}"}}]
        )
        for n in range(2)
    ]
    backend.answers(reply(*calls), reply(text("Fine")))
    first = await asked(proxy, tools=[WEATHER])
    one, other = (item["call_id"] for item in first["output"])
    result = {"type": "function_call_output", "call_id": one, "output": "sun"}
    second = await asked(proxy, input=[result], previous_response_id=first["id"], tools=[WEATHER])
    results = [message for message in backend.received[-1].json["messages"] if message["role"] == "tool"]
    assert [each["content"].endswith("aborted") for each in results] == [False, True]
    assert "aborted" in second["_proxy"]["warnings"][0]
    await asked(proxy, input="More", previous_response_id=second["id"], tools=[WEATHER])
    items = await listed(proxy, second["id"])
    assert [item.get("call_id") for item in items] == [None, one, other, one]
    assert "aborted" not in str(items)


async def test_t20_what_has_no_id_is_said_twice(backend: ScriptedBackend, proxy: Proxy) -> None:
    first = await asked(proxy)
    again = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    more = {"role": "user", "content": "More"}
    await asked(proxy, input=[*again, more], previous_response_id=first["id"])
    assert [content for _, content in sent(backend)] == ["Hi", "Hello", "Hi", "Hello", "More"]


@pytest.mark.parametrize("stream", [True, False])
async def test_t21_what_the_model_cannot_take_leaves_the_parent_as_it_was(
    backend: ScriptedBackend, start_keeping: Any, stream: bool
) -> None:
    keeping: Keeping = await start_keeping(retries={"attempts": 1})
    proxy = keeping.proxy
    words = "This model's maximum context length is 10 tokens. Please reduce the length of the messages."
    too_long = answer(400, {"error": {"message": words, "code": "context_length_exceeded"}})
    backend.answers(reply(text("Hello")), too_long)
    first = await asked(proxy)
    status, code, _ = await refused(proxy, previous_response_id=first["id"], stream=stream)
    assert (status, code) == (400, "context_length_exceeded")
    assert (await keeping.records.size()).responses == 1
    assert await got(proxy, first["id"]) == (200, first)


@pytest.mark.parametrize("records", ["memory", "sqlite"], indirect=True)
async def test_t27_a_turn_behind_five_hundred_has_them_all(
    backend: ScriptedBackend, start_keeping: Any
) -> None:
    """And adds no more to what is kept than one behind none."""
    keeping: Keeping = await start_keeping()
    proxy = keeping.proxy
    alone = await asked(proxy, input="x" * 2000)
    before = (await keeping.records.size()).bytes
    short = await asked(proxy, input="x" * 2000, previous_response_id=alone["id"])
    one = (await keeping.records.size()).bytes - before
    parent = None
    for number in range(499):
        parent = record(parent=parent, text=f"turn {number}")
        await keeping.records.save(TENANT, parent)
    before = (await keeping.records.size()).bytes
    assert parent is not None
    last = await asked(proxy, input="x" * 2000, previous_response_id=parent.id)
    assert (await keeping.records.size()).bytes - before <= one + (16 << 10)
    said = str(sent(backend))
    assert all(f"turn {number} {side}" in said for number in range(499) for side in ("in", "out"))
    assert len(await listed(proxy, last["id"], "?limit=100")) == 100
    assert short["status"] == last["status"] == "completed"


async def test_t28_an_item_that_was_asked_may_stand_for_itself_too(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """By the id that it got, with and without a type."""
    first = await asked(proxy, input="Long words")
    (item,) = await listed(proxy, first["id"])
    for named in ({"id": item["id"]}, {"id": item["id"], "type": None}, reference(item)):
        await asked(
            proxy, input=[named, {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "No"}]
        )
        assert sent(backend) == [("user", "Long words"), ("assistant", "Yes?"), ("user", "No")]


@pytest.mark.parametrize("id", ["", "msg_", "msg_1", "rs_../x", "m" * 4000, "msg_" + "0" * 48, "msg_\ud800"])
async def test_t29_what_nobody_knows_is_refused_before_the_backend_is_asked(
    backend: ScriptedBackend, proxy: Proxy, id: str
) -> None:
    status, error = await proxy.refused(input=[{"type": "item_reference", "id": id}])
    assert (status, error["param"], error["code"]) == (404, "input", None)
    assert "Try again with `store` set to true, or remove this item from your input." in error["message"]
    assert backend.received == []


async def test_t30_an_item_lives_as_long_as_something_holds_it(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """T37: a child has its whole history when its parent is deleted, and names it."""
    first = await asked(proxy)
    child = await asked(proxy, input="More", previous_response_id=first["id"])
    (item,) = first["output"]
    assert (await deleted(proxy, first["id"]))[0] == 200
    assert (await got(proxy, first["id"]))[0] == 404
    assert (await refused(proxy, previous_response_id=first["id"]))[0] == 400
    named = await asked(proxy, input=[reference(item), {"role": "user", "content": "Again"}])
    assert sent(backend)[-2:] == [("assistant", "Hello"), ("user", "Again")]
    again = await asked(proxy, input="Last", previous_response_id=child["id"])
    assert [content for _, content in sent(backend)] == ["Hi", "Hello", "More", "Hello", "Last"]
    assert (await got(proxy, child["id"]))[1]["previous_response_id"] == first["id"]
    for gone in (child, again, named):
        assert (await deleted(proxy, gone["id"]))[0] == 200
    assert (await refused(proxy, input=[reference(item)]))[0] == 404


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({f"{number}": "" for number in range(17)}, "object_above_max_properties"),
        ({"k" * 65: ""}, "property_name_above_max_length"),
        ({"k": "v" * 513}, "string_above_max_length"),
    ],
)
@pytest.mark.parametrize("background", [True, False])
async def test_t22_metadata_has_its_limits(
    proxy: Proxy, metadata: dict[str, str], code: str, background: bool
) -> None:
    status, found, param = await refused(proxy, metadata=metadata, background=background)
    assert (status, found) == (400, code)
    assert str(param).startswith("metadata")


async def test_t91_children_of_one_parent_do_not_meet(backend: ScriptedBackend, proxy: Proxy) -> None:
    parent = await asked(proxy)
    one = await asked(proxy, input="One", previous_response_id=parent["id"])
    await asked(proxy, input="Other", previous_response_id=parent["id"])
    assert [content for _, content in sent(backend)] == ["Hi", "Hello", "Other"]
    await asked(proxy, input="On", previous_response_id=one["id"])
    assert [content for _, content in sent(backend)] == ["Hi", "Hello", "One", "Hello", "On"]
    assert await got(proxy, parent["id"]) == (200, parent)
