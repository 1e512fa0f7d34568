"""attack-21: whole numbers of any size pass as they are: another digit is another amount, or somebody else's id.

What reads JSON quickly makes floats of those that no 64 bits hold, so every place is tried where a number is read and
written again: arguments as objects, calls leaked into text, results, and the schemas of tools.
"""

import io
from typing import Any

import orjson
import pytest

from proxy.core import jsontext
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import ScriptedBackend, answer, http_chunk

WEI = "20000000000000000001"
UINT128 = "340282366920938463463374607431768211455"
ARGUMENTS = f'{{"wei":{WEI},"id":-{UINT128}}}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

PAY: dict[str, Any] = {
    "name": "pay",
    "description": "Pays.",
    "parameters": {"type": "object", "properties": {"wei": {"type": "integer"}, "id": {"type": "integer"}}},
}
NESTED = {"type": "function", "function": PAY}

SURFACES: dict[str, tuple[str, dict[str, Any]]] = {
    "responses": ("/v1/responses", {"model": "m", "input": "Pay.", "tools": [{"type": "function", **PAY}]}),
    "chat": (
        "/v1/chat/completions",
        {"model": "m", "messages": [{"role": "user", "content": "Pay."}], "tools": [NESTED]},
    ),
    "native": (
        "/native/v1/chat/completions",
        {"model": "m", "messages": [{"role": "user", "content": "Pay."}], "tools": [NESTED]},
    ),
}


def sse(*events: str) -> bytes:
    told = "".join(f"data: {event}\n\n" for event in events).encode()
    return HEAD + http_chunk(told) + b"0\r\n\r\n"


def chat_chunk(delta: str, finish: str = "null") -> str:
    return f'{{"choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}'


CALLS: dict[str, tuple[str, bytes]] = {
    "chat, as text": (
        "default",
        sse(
            chat_chunk(
                '{"tool_calls":[{"index":0,"id":"a","function":{"name":"pay","arguments":'
                + orjson.dumps(ARGUMENTS).decode()
                + "}}]}"
            ),
            chat_chunk("{}", '"tool_calls"'),
            "[DONE]",
        ),
    ),
    "chat, as an object": (
        "default",
        sse(
            chat_chunk(
                '{"tool_calls":[{"index":0,"id":"a","function":{"name":"pay","arguments":'
                + ARGUMENTS
                + "}}]}"
            ),
            chat_chunk("{}", '"tool_calls"'),
            "[DONE]",
        ),
    ),
    "chat, in a whole answer": (
        "default",
        answer(
            200,
            (
                '{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a",'
                '"function":{"name":"pay","arguments":' + ARGUMENTS + "}}]}}]}"
            ).encode(),
        ),
    ),
    "chat, leaked into the text": (
        "default",
        sse(
            chat_chunk(
                '{"content":'
                + orjson.dumps(f'<tool_call>{{"name":"pay","arguments":{ARGUMENTS}}}</tool_call>').decode()
                + "}"
            ),
            chat_chunk("{}", '"stop"'),
            "[DONE]",
        ),
    ),
    "google": (
        "google",
        sse(
            '{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"pay","args":'
            + ARGUMENTS
            + '}}]},"finishReason":"STOP"}]}'
        ),
    ),
    "anthropic": (
        "anthropic",
        sse(
            '{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{}}}',
            '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"pay",'
            '"input":' + ARGUMENTS + "}}",
            '{"type":"content_block_stop","index":0}',
            '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{}}',
            '{"type":"message_stop"}',
        ),
    ),
}


async def posted(proxy: Proxy, path: str, body: bytes) -> bytes:
    headers = {"Content-Type": "application/json"}
    async with proxy.session.post(f"{proxy.url}{path}", data=io.BytesIO(body), headers=headers) as response:
        data = await response.read()
        assert response.status == 200, data
        return data


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("call", CALLS)
async def test_attack_21_a_call_holds_every_digit(
    call: str, surface: str, stream: bool, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    profile, said = CALLS[call]
    backend.answers(said)
    proxy = await start_proxy(backend={"profile": profile})
    path, body = SURFACES[surface]
    got = await posted(proxy, path, orjson.dumps(body | {"stream": stream}))
    assert WEI.encode() in got
    assert UINT128.encode() in got
    assert b"e+" not in got


SENT: dict[str, tuple[str, str, str]] = {
    "a schema, chat": (
        "default",
        "/v1/responses",
        '{"model":"m","input":"Hi","tools":[{"type":"function","name":"pay","parameters":{"type":"object",'
        f'"properties":{{"wei":{{"type":"integer","maximum":{WEI}}},"id":{{"enum":[{UINT128}]}}}}}}}}]}}',
    ),
    "a schema, anthropic": (
        "anthropic",
        "/v1/responses",
        '{"model":"m","input":"Hi","tools":[{"type":"function","name":"pay","parameters":{"type":"object",'
        f'"properties":{{"wei":{{"type":"integer","maximum":{WEI}}},"id":{{"enum":[{UINT128}]}}}}}}}}]}}',
    ),
    "arguments and a result, native": (
        "default",
        "/native/v1/chat/completions",
        '{"model":"m","conversation_id":"c","messages":[{"role":"user","content":"Pay."},{"role":"assistant",'
        f'"content":"","tool_calls":[]}},{{"role":"user","content":[{{"type":"text","text":"{WEI} {UINT128}"}}]}}]}}',
    ),
    "arguments, google": (
        "google",
        "/v1/responses",
        '{"model":"m","input":[{"type":"function_call","call_id":"a","name":"pay","arguments":'
        + orjson.dumps(ARGUMENTS).decode()
        + '},{"type":"function_call_output","call_id":"a","output":'
        + orjson.dumps(ARGUMENTS).decode()
        + "}]}",
    ),
    "arguments as an object, chat": (
        "default",
        "/v1/chat/completions",
        '{"model":"m","messages":[{"role":"user","content":"Pay."},{"role":"assistant","content":null,'
        '"tool_calls":[{"id":"a","type":"function","function":{"name":"pay","arguments":'
        + ARGUMENTS
        + '}}]},{"role":"tool","tool_call_id":"a","content":"ok"}]}',
    ),
    "a result as an object, responses": (
        "default",
        "/v1/responses",
        '{"model":"m","input":[{"type":"function_call","call_id":"a","name":"pay","arguments":"{}"},'
        '{"type":"function_call_output","call_id":"a","output":' + ARGUMENTS + "}]}",
    ),
}


@pytest.mark.parametrize("place", SENT)
async def test_attack_21_a_request_keeps_every_digit(
    place: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    profile, path, body = SENT[place]
    proxy = await start_proxy(backend={"profile": profile})
    if profile != "default":
        backend.answers(CALLS["google" if profile == "google" else "anthropic"][1])
    await posted(proxy, path, body.encode())
    sent = backend.received[-1].body
    assert WEI.encode() in sent
    assert UINT128.encode() in sent


async def test_attack_21_a_large_request_with_such_a_number_is_refused_by_name(proxy: Proxy) -> None:
    """To read it exactly takes the slow way, which is bounded: better no answer than another number. Digits in a text
    are none."""
    path, body = SURFACES["native"]
    filled = orjson.dumps(body | {"metadata": {"a": "x" * jsontext.MAX_EXACT, "b": f"[{UINT128}, {WEI}]"}})
    await posted(proxy, path, filled)
    headers = {"Content-Type": "application/json"}
    wrong = filled[:-1] + f',"seed":{UINT128}}}'.encode()
    async with proxy.session.post(f"{proxy.url}{path}", data=io.BytesIO(wrong), headers=headers) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (400, "invalid_json")
        assert "whole number" in (await response.json())["error"]["message"]


FIELDS = {
    "responses": [
        "temperature",
        "top_p",
        "max_output_tokens",
        "top_logprobs",
        "presence_penalty",
        "max_tool_calls",
    ],
    "chat": ["temperature", "max_tokens", "seed", "presence_penalty", "n", "top_logprobs", "logit_bias"],
    "native": ["temperature", "max_tokens", "seed", "presence_penalty", "n"],
}


@pytest.mark.parametrize("digits", ["1" + "0" * 30, "-1" + "0" * 400, "9" * 4001])
@pytest.mark.parametrize(("surface", "field"), [(name, field) for name in FIELDS for field in FIELDS[name]])
async def test_attack_21_no_number_is_too_large_to_be_answered(
    surface: str, field: str, digits: str, proxy: Proxy
) -> None:
    path, body = SURFACES[surface]
    data = orjson.dumps(body)[:-1] + f',"{field}":{digits}}}'.encode()
    headers = {"Content-Type": "application/json"}
    async with proxy.session.post(f"{proxy.url}{path}", data=data, headers=headers) as response:
        assert response.status in (200, 400), await response.text()
    assert proxy.log.named("unhandled_exception") == []
