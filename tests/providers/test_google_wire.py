"""The whole proxy before a scripted Gemini, over real sockets: what is refused once is asked again in another way."""

from typing import Any

import aiohttp

from proxy.core import jsontext
from tests.contract.client import proxy
from tests.scripted import google
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import Recorded, serving

SIGNATURE = "c2lnbmVk"
DUMMY = "skip_thought_signature_validator"
TOOL = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
ASK: dict[str, Any] = {
    "model": google.MODEL,
    "tools": [TOOL],
    "include": ["reasoning.encrypted_content"],
    "store": False,
}


async def asked(url: str, path: str, body: dict[str, Any]) -> Any:
    async with aiohttp.ClientSession() as session, session.post(url + path, json=body) as response:
        return jsontext.strict(await response.read())


def signatures(recorded: Recorded) -> list[str]:
    parts = [part for content in recorded.body["contents"] for part in content["parts"]]
    return [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]


async def test_refused_signatures_are_replaced_for_this_request_only() -> None:
    """Asked again before the first byte, with a stand-in for each; the next request tries the real ones."""
    call = Say(signature=SIGNATURE, calls=[SayCall("c1", "f", {})])
    refused = Say(status=400, refusal="Corrupted thought signature.")
    async with (
        serving(google.provider(), call, refused, Say(text="ok"), Say(text="ok")) as backend,
        proxy({"url": backend.url, "profile": "google"}) as url,
    ):
        first = await asked(url, "/v1/responses", ASK | {"input": "Hi"})
        said = [{name: each[name] for name in each if name != "status"} for each in first["output"]]
        output = {"type": "function_call_output", "call_id": said[-1]["call_id"], "output": "ok"}
        history = [{"role": "user", "content": "Hi"}, *said, output]
        for _ in range(2):
            answer = await asked(url, "/v1/responses", ASK | {"input": history})
            assert answer["output"][-1]["content"][0]["text"] == "ok"
    assert [signatures(each) for each in backend.requests] == [[], [SIGNATURE], [DUMMY], [SIGNATURE]]


async def test_the_key_and_the_list_of_models_are_in_googles_form() -> None:
    async with (
        serving(google.provider(), Say(text="ok")) as backend,
        proxy({"url": backend.url, "profile": "google"}) as url,
    ):
        await asked(url, "/v1/responses", {"model": f"models/{google.MODEL}", "input": "Hi"})
        async with aiohttp.ClientSession() as session, session.get(f"{url}/v1/models") as response:
            listed = jsontext.strict(await response.read())
    assert backend.last.headers["x-goog-api-key"] == "a key"
    assert backend.last.path == f"/v1beta/models/{google.MODEL}:streamGenerateContent?alt=sse"
    assert [each["id"] for each in listed["data"]] == [google.MODEL]


async def test_a_signature_that_a_chat_client_carries_is_believed_under_any_name_of_the_model() -> None:
    """Accepted back when present."""
    function = {"name": "f", "arguments": "{}"}
    extra = {"google": {"thought_signature": SIGNATURE}}
    call = {"id": "c1", "type": "function", "function": function, "extra_content": extra}
    result = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [call]}, result]
    async with (
        serving(google.provider(), Say(text="ok")) as backend,
        proxy({"url": backend.url, "profile": "google", "models": {"mine": google.MODEL}}) as url,
    ):
        tools = [{"type": "function", "function": {"name": "f"}}]
        await asked(url, "/v1/chat/completions", {"model": "mine", "messages": history, "tools": tools})
    assert signatures(backend.last) == [SIGNATURE]


async def test_where_one_call_is_wanted_one_comes() -> None:
    """Gemini cannot be told."""
    both = Say(calls=[SayCall("c1", "f", {"a": 1}), SayCall("c2", "f", {"a": 2})])
    async with (
        serving(google.provider(), both) as backend,
        proxy({"url": backend.url, "profile": "google"}) as url,
    ):
        answer = await asked(url, "/v1/responses", ASK | {"input": "Hi", "parallel_tool_calls": False})
    calls = [each["arguments"] for each in answer["output"] if each["type"] == "function_call"]
    assert calls == ['{"a":1}']
