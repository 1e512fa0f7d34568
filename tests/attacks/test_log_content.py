"""Attack 20: whatever is said, and wherever, the log does not repeat it, at its chattiest."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import DONE, END, HEAD, ScriptedBackend, answer, event, finish, reply, scripted

CANARY = "a canary, 4711"
"""No name that anybody could have, for names are told."""

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Paris"], "description": "Where"}},
    "required": ["city"],
}
RESPONSES = {
    "model": "m",
    "instructions": "Be kind.",
    "input": [
        {"role": "user", "content": [
            {"type": "input_text", "text": "Hi"},
            {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"},
            {"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,aGk="},
        ]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "x"},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Paris"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "raw", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "x"}]},
        {"type": "compaction", "encrypted_content": "We met."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
        {"role": "user", "content": "And?"},
    ],
    "tools": [
        {"type": "function", "name": "weather", "description": "Tells it", "parameters": WEATHER, "strict": True},
        {"type": "custom", "name": "raw", "description": "Runs", "format": {"type": "text"}},
        {"type": "web_search"},
    ],
    "tool_choice": {"type": "function", "name": "weather"},
    "text": {"format": {"type": "json_schema", "name": "f", "schema": {"type": "object", "properties": {"a": {}}}}},
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "metadata": {"who": "me"},
    "user": "me",
    "safety_identifier": "me",
    "service_tier": "auto",
    "truncation": "auto",
    "request_options": {"validate_tool_arguments": True},
}  # fmt: skip


def chat(arguments: Any) -> dict[str, Any]:
    return {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"},
                                     {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]},
        {"role": "assistant", "content": "So?", "reasoning_content": "Hm.", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": arguments}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "description": "Tells", "parameters": WEATHER}}],
    "tool_choice": "auto",
    "response_format": {"type": "json_schema", "json_schema": {"name": "f", "schema": {"type": "object"}}},
    "stop": ["x"],
    "user": "me",
}  # fmt: skip


CARRIED = {"_proxy": {"call_ids": "x"}, "conversation_id": "c"}
"""What a client of the native surface has besides; with it the other ids would be refused."""

ASKED: dict[str, Any] = {
    "/v1/responses": RESPONSES,
    "/v1/responses/compact": RESPONSES,
    "/v1/chat/completions": chat('{"city":"Paris"}'),
    "/native/v1/chat/completions": chat({"city": "Paris"}),
}

CALL = {
    "index": 0,
    "id": "c9",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city":"Paris"}'},
}
CHUNK = {
    "id": "x", "object": "chat.completion.chunk", "model": "m", "system_fingerprint": "fp", "service_tier": "default",
    "choices": [{"index": 0, "finish_reason": None, "delta": {
        "role": "assistant", "content": "Hello", "reasoning_content": "Hm.", "refusal": "no", "tool_calls": [CALL],
        "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}],
    }}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}  # fmt: skip
ENDING = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
ERROR = {
    "error": {"message": "It broke", "type": "oops", "code": "bad", "param": "messages[0].content"},
    "detail": "x",
}

CANARIES = (CANARY, {CANARY: CANARY}, [CANARY], {"type": CANARY})


def planted(value: Any) -> Iterator[Any]:
    """The value with a canary in one place, for each place and each kind of it."""
    yield from CANARIES
    if isinstance(value, dict):
        yield value | {CANARY: CANARY}
        for name, inner in value.items():
            for changed in planted(inner):
                yield value | {name: changed}
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            for changed in planted(inner):
                yield [*value[:at], changed, *value[at + 1 :]]


async def talkative(start_proxy: StartProxy, **backend: Any) -> Proxy:
    return await start_proxy(
        backend=backend,
        retries={"attempts": 1},
        breaker={"consecutive_failures": 10_000, "minimum_requests": 10_000},
        logs={"level": "debug"},
    )


async def ask(proxy: Proxy, path: str, body: Any) -> int:
    async with proxy.session.post(proxy.url + path, json=body) as response:
        await response.read()
        return response.status


def says_nothing(proxy: Proxy) -> None:
    """Of what was said; so it has no bug to tell of either."""
    repeated = [line for line in proxy.log.lines if "canary" in str(line)]
    assert not repeated, str(repeated[0])
    assert not proxy.log.named("unhandled_exception")


@pytest.mark.parametrize("profile", ["default", "anthropic", "google"])
@pytest.mark.parametrize("path", ASKED)
async def test_attack_20_nothing_of_a_request_stands_in_the_log(
    path: str, profile: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(answer(400, ERROR))
    proxy = await talkative(start_proxy, profile=profile)
    asked = ASKED[path]
    assert await ask(proxy, path, asked) in (400, 502)
    assert backend.received, "it is a request that is passed on"
    for body in planted(asked):
        await ask(proxy, path, body)
    for carried in planted(CARRIED):
        await ask(proxy, path, asked | carried if isinstance(carried, dict) else carried)
    says_nothing(proxy)


@pytest.mark.parametrize("path", ASKED)
async def test_attack_20_nothing_of_a_reply_stands_in_the_log(
    path: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await talkative(start_proxy)
    streaming = {} if path == "/v1/responses/compact" else {"stream": True}
    replies = [
        *(event(chunk) + finish() for chunk in planted(CHUNK)),
        *(event(CHUNK) + event(ending) for ending in planted(ENDING)),
    ]
    backend.answers(*(HEAD + said + DONE + END for said in replies))
    for _ in replies:
        await ask(proxy, path, {**ASKED[path], "tool_choice": "auto"} | streaming)
    says_nothing(proxy)


GARBAGE = [
    answer(200, CANARY.encode()),
    answer(400, CANARY.encode()),
    HEAD + CANARY.encode(),
    CANARY.encode() + b"\r\n\r\n",
    f"HTTP/1.1 200 {CANARY}\r\n{CANARY}: {CANARY}\r\n\r\n".encode(),
    f"HTTP/1.1 {CANARY}\r\n\r\n".encode(),
    answer(302, b"", Location=f"http://{CANARY}/"),
    answer(200, b"x", Content_Encoding=CANARY),
    answer(500, {"error": CANARY}),
]


@pytest.mark.parametrize("profile", ["default", "anthropic", "google"])
async def test_attack_20_nothing_of_a_backends_errors_stands_in_the_log(
    profile: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await talkative(start_proxy, profile=profile)
    said = [
        answer(status, error) for error in planted(ERROR) for status in (400, 404, 413, 429, 500, 503, 200)
    ]
    said += [HEAD + event(error) + DONE + END for error in planted(ERROR)]
    said += [HEAD + event(CHUNK) + event(error) + END for error in planted(ERROR)]
    backend.answers(*said)
    for _ in said:
        await ask(proxy, "/v1/responses", {"model": "m", "input": "Hi"})
    for garbage in GARBAGE:
        async with scripted() as other:
            other.answers(garbage)
            behind = await talkative(start_proxy, profile=profile, url=other.url, first_byte_seconds=0.2)
            await ask(behind, "/v1/responses", {"model": "m", "input": "Hi"})
        says_nothing(behind)
    says_nothing(proxy)


async def test_attack_20_arguments_that_do_not_fit_are_not_told(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Their validator quotes them."""
    proxy = await talkative(start_proxy)
    call = CALL | {"function": {"name": "weather", "arguments": f'{{"city":"{CANARY}"}}'}}
    backend.answers(reply(event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})))
    for checked in (True, False):
        for stream in (False, True):
            options = {"request_options": {"validate_tool_arguments": checked}, "tool_choice": "auto"}
            assert await ask(proxy, "/v1/responses", RESPONSES | options | {"stream": stream}) in (200, 502)
    says_nothing(proxy)
    assert proxy.log.named("request")[0]["code"] == "invalid_tool_arguments"


async def test_s06_a_backends_refusal_is_told_by_its_status_and_length(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(answer(400, {"error": {"message": CANARY}}))
    assert await ask(proxy, "/v1/responses", {"model": "m", "input": "Hi"}) == 400
    assert proxy.log.request["error"] == "The backend answered 400 with 38 bytes."
    assert (proxy.log.request["fault"], proxy.log.request["tenant"]) == ("ClientFault", "anybody")
