"""Tools that a backend runs itself, over real sockets: passed on where it does, left out with one line elsewhere."""

from proxy.core.stream.stages.hosted_left_out import LEFT_OUT
from tests.contract.client import proxy
from tests.contract.item_backend import Json, post, saying

SEARCH = {"type": "web_search"}
CLOCK = {"type": "function", "name": "clock", "parameters": {"type": "object", "properties": {}}}
LINK = {"type": "url_citation", "url": "https://x.example", "title": "x", "start_index": 0, "end_index": 4}
DID = {
    "type": "web_search_call",
    "id": "ws_theirs",
    "status": "completed",
    "action": {"type": "search", "query": "x"},
}
PART = {"type": "output_text", "text": "Cold.", "annotations": [LINK], "logprobs": []}
SAID = {
    "type": "message",
    "id": "msg_theirs",
    "status": "completed",
    "role": "assistant",
    "content": [PART],
    "phase": "final_answer",
}


async def test_a_search_of_the_backends_comes_through_and_goes_back() -> None:
    ask: Json = {
        "model": "gpt-5.6",
        "input": [{"role": "user", "content": "How cold is it?"}],
        "tools": [SEARCH, CLOCK],
        "tool_choice": {"type": "web_search"},
        "include": ["web_search_call.action.sources"],
    }
    async with saying([DID, SAID]) as (backend, asked), proxy({"url": backend, "profile": "openai"}) as url:
        told = await post(url, "/v1/responses", ask)
        again = [*ask["input"], *told["output"], {"role": "user", "content": "And tomorrow?"}]
        await post(url, "/v1/responses", ask | {"input": again})
        await post(url, "/v1/responses", ask | {"input": "And then?", "previous_response_id": told["id"]})
    (path, first, _), (_, second, _), (_, third, _) = asked
    assert path == "/v1/responses"
    assert [tool["type"] for tool in first["tools"]] == ["function", "web_search"]
    assert first["tool_choice"] == {"type": "web_search"}
    assert first["include"] == ["reasoning.encrypted_content", "web_search_call.action.sources"]
    search, message = told["output"]
    assert search == DID | {"id": search["id"]}
    assert search["id"].startswith("ws_")
    assert search["id"] != DID["id"]
    assert message["content"][0]["annotations"] == [LINK]
    assert message["phase"] == "final_answer"
    assert [tool["type"] for tool in told["tools"]] == ["web_search", "function"]
    for body in (second, third):
        assert [item.get("type") for item in body["input"]] == [
            "message",
            "web_search_call",
            "message",
            "message",
        ]
        assert body["input"][1] == search
        assert body["input"][2]["phase"] == "final_answer"


async def test_elsewhere_it_is_left_out() -> None:
    ask: Json = {"model": "m", "input": "How cold is it?", "tools": [SEARCH, CLOCK]}
    backend_of = {"profile": "default", "overrides": {"wire": "responses"}}
    async with saying([DID, SAID]) as (backend, asked), proxy({"url": backend, **backend_of}) as url:
        told = await post(url, "/v1/responses", ask)
    ((_, body, _),) = asked
    assert [tool["type"] for tool in body["tools"]] == ["function"]
    assert [tool["type"] for tool in told["tools"]] == ["function"]
    assert [item["type"] for item in told["output"]] == ["web_search_call", "message"]  # it ran one unasked


async def test_a_chat_client_hears_the_answer_and_its_sources() -> None:
    ask: Json = {"model": "gpt-5.6", "messages": [{"role": "user", "content": "How cold is it?"}]}
    backend_of = {"profile": "openai", "overrides": {"wire": "responses"}}
    async with saying([DID, SAID]) as (backend, _), proxy({"url": backend, **backend_of}) as url:
        told = await post(url, "/v1/chat/completions", ask)
    (choice,) = told["choices"]
    assert choice["message"]["content"] == "Cold."
    assert choice["message"]["annotations"][0]["url_citation"]["url"] == LINK["url"]
    assert told["_proxy"]["warnings"] == [LEFT_OUT.format(kind="web_search_call")]
