"""Requests and replies that have a little of everything: each field of theirs is spoiled in turn."""

from typing import Any

from tests.contract.cases import DOCUMENT, PIXEL, SOUND
from tests.scripted.say import Say, SayCall

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "c", "enum": ["Oslo", "Rome"], "pattern": "^[A-Z]"},
        "days": {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
        "more": {"anyOf": [{"$ref": "#/$defs/more"}, {"type": "array", "items": {"type": "string"}}]},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"more": {"type": "object", "properties": {"x": {"const": 5}}}},
}
FUNCTION = {"name": "get_weather", "description": "The weather.", "parameters": SCHEMA}
ANSWER = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}

CALLED = '{"city":"Oslo"}'

RESPONSES: dict[str, Any] = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "How is it?"},
                {"type": "input_image", "image_url": PIXEL, "detail": "low"},
                {"type": "input_file", "filename": "a.pdf", "file_data": DOCUMENT},
            ],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "content": [{"type": "reasoning_text", "text": "Hmm."}],
            "encrypted_content": "x",
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "a",
            "name": "get_weather",
            "namespace": "ns",
            "arguments": CALLED,
        },
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": [{"type": "input_text", "text": "sunny"}],
        },
        {"type": "custom_tool_call", "call_id": "b", "name": "patch", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "b", "output": "done"},
        {
            "type": "local_shell_call",
            "call_id": "c",
            "action": {"type": "exec", "command": ["ls"], "env": {}},
        },
        {"type": "local_shell_call_output", "call_id": "c", "output": "a"},
        {"type": "apply_patch_call", "call_id": "d", "operation": {"type": "delete_file", "path": "a"}},
        {"type": "apply_patch_call_output", "call_id": "d", "status": "completed", "output": ""},
        {"type": "item_reference", "id": "x"},
        {"type": "compaction", "encrypted_content": "a summary"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "So.", "annotations": []}]},
        {"role": "developer", "content": "Go on."},
    ],
    "tools": [
        {"type": "function", "strict": False, **FUNCTION},
        {"type": "namespace", "name": "ns", "tools": [{"type": "function", **FUNCTION}]},
        {"type": "custom", "name": "patch", "description": "p", "format": {"type": "text"}},
        {"type": "web_search"},
        {"type": "local_shell"},
    ],
    "tool_choice": {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "get_weather"}],
    },
    "parallel_tool_calls": True,
    "max_output_tokens": 99,
    "temperature": 0.5,
    "top_p": 0.5,
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "text": {
        "format": {"type": "json_schema", "name": "n", "schema": ANSWER, "strict": True},
        "verbosity": "low",
    },
    "metadata": {"k": "v"},
    "store": False,
    "user": "u",
    "service_tier": "auto",
    "stream_options": {"include_obfuscation": False},
    "request_options": {"validate_tool_arguments": True},
    "prompt_cache_key": "k",
    "truncation": "disabled",
}

COMPACTION = {"model": "m", "input": RESPONSES["input"][:4], "instructions": "Be brief."}

MESSAGES: list[Any] = [
    {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
    {
        "role": "user",
        "name": "ann",
        "content": [
            {"type": "text", "text": "How is it?"},
            {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}},
            {"type": "input_audio", "input_audio": {"data": SOUND.partition(",")[2], "format": "wav"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": DOCUMENT}},
        ],
    },
]
CALL = {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": CALLED}}
THOUGHT = {
    "reasoning_content": "Hm.",
    "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "signature": "s", "index": 0}],
}
TUNING = {
    "temperature": 0.5,
    "top_p": 0.5,
    "max_tokens": 99,
    "stop": ["x"],
    "seed": 5,
    "logprobs": True,
    "top_logprobs": 2,
    "presence_penalty": 0.1,
    "n": 1,
    "reasoning_effort": "low",
    "verbosity": "low",
    "user": "u",
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "n", "schema": ANSWER, "strict": True},
    },
    "request_options": {"validate_tool_arguments": True},
}
CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        *MESSAGES,
        {
            "role": "assistant",
            "content": None,
            "refusal": None,
            **THOUGHT,
            "tool_calls": [CALL | {"extra_content": {"google": {"thought_signature": "c2ln"}}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "sunny"},
        {"role": "assistant", "content": [{"type": "text", "text": "So."}]},
        {"role": "user", "content": "Go on."},
    ],
    "tools": [
        {"type": "function", "function": FUNCTION},
        {"type": "custom", "custom": {"name": "patch", "format": {"type": "text"}}},
    ],
    "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
    "parallel_tool_calls": False,
    **TUNING,
}
OLD_CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "How is it?"},
        {"role": "assistant", "content": None, "function_call": {"name": "get_weather", "arguments": CALLED}},
        {"role": "function", "name": "get_weather", "content": "sunny"},
    ],
    "functions": [FUNCTION],
    "function_call": {"name": "get_weather"},
}
NATIVE: dict[str, Any] = {
    "model": "m",
    "messages": [
        *MESSAGES,
        {
            "role": "assistant",
            "content": "Hm.",
            **THOUGHT,
            "tool_calls": [CALL | {"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}],
        },
        {
            "role": "tool",
            "tool_call_id": "a",
            "name": "get_weather",
            "content": {"sky": ["blue"]},
            "is_error": False,
        },
    ],
    "tools": [{"type": "function", "function": FUNCTION}],
    "tool_choice": "auto",
    "_proxy": {"call_ids": ""},
    **TUNING,
}

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "responses": ("/v1/responses", RESPONSES),
    "compaction": ("/v1/responses/compact", COMPACTION),
    "chat": ("/v1/chat/completions", CHAT),
    "old chat": ("/v1/chat/completions", OLD_CHAT),
    "native": ("/native/v1/chat/completions", NATIVE),
}

ASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "responses": (
        "/v1/responses",
        {"model": "m", "input": "Hi", "tools": RESPONSES["tools"][:1], "include": RESPONSES["include"]},
    ),
    "chat": ("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "logprobs": True,
             "tools": CHAT["tools"][:1]}),
    "native": ("/native/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "Hi"}],
               "tools": NATIVE["tools"]}),
}  # fmt: skip
"""What replies are asked for with."""

SAID = Say(
    thinking="Hm, well.",
    signature="c2lnbmF0dXJl",
    text="It is so.",
    calls=[SayCall("a", "get_weather", {"city": "Oslo"}), SayCall("b", "get_weather", {"city": "Rome"})],
)
