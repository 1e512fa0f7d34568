"""A scripted Responses API: OpenAI's own, with a model that thinks, seals its thoughts, and thinks beside tools.

What the SDK's types say of requests and of events is checked by the SDK itself, in `tests.providers`; here are the
rules that they do not say, and that nothing unknown is sent anywhere.
"""

import re
from typing import Any

from proxy.core import jsontext
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import Provider, Recorded

Json = dict[str, Any]

NAME = "openai"
MODEL = "gpt-5.6"
PATH = "/v1/responses"
SEALED = "reasoning.encrypted_content"
CODES = {400: "invalid_request_error", 404: "invalid_request_error", 429: "rate_limit_exceeded"}
MODELS = {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "openai"}]}
EMPTY: Json = {
    "id": "resp_theirs",
    "object": "response",
    "created_at": 1_700_000_000,
    "status": "in_progress",
    "model": MODEL,
    "output": [],
    "tools": [],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "temperature": 1.0,
    "top_p": 1.0,
    "usage": None,
}


def provider() -> Provider:
    return Provider(
        stream=stream,
        body=body,
        error=error,
        check=check,
        streamed=lambda recorded: bool(recorded.body["stream"]),
        models=MODELS,
    )


# ── a stream ──


def stream(say: Say) -> list[bytes]:
    said = [
        {"type": "response.created", "response": EMPTY},
        {"type": "response.in_progress", "response": EMPTY},
    ]
    for index, item in enumerate(_items(say)):
        said += _item(item, index)
    said += _ending(say)
    return [event(each | {"sequence_number": number}) for number, each in enumerate(said)]


def event(said: Json) -> bytes:
    return f"event: {said['type']}\ndata: ".encode() + jsontext.dumps(said) + b"\n\n"


def _item(item: Json, index: int) -> list[Json]:
    open_item = item | {"status": "in_progress"} if "status" in item else item
    at = {"item_id": item["id"], "output_index": index}
    match item["type"]:
        case "reasoning":
            open_item, inside = open_item | {"summary": []}, _summary(item, at)
        case "message":
            open_item, inside = open_item | {"content": []}, _parts(item, at)
        case _:
            open_item, inside = open_item | {"arguments": ""}, _arguments(item, at)
    return [
        {"type": "response.output_item.added", "output_index": index, "item": open_item},
        *inside,
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _summary(item: Json, at: Json) -> list[Json]:
    said: list[Json] = []
    for number, part in enumerate(item["summary"]):
        where = at | {"summary_index": number}
        stem = "response.reasoning_summary"
        said += [
            {"type": f"{stem}_part.added", **where, "part": part | {"text": ""}},
            *({"type": f"{stem}_text.delta", **where, "delta": half} for half in _halves(part["text"])),
            {"type": f"{stem}_text.done", **where, "text": part["text"]},
            {"type": f"{stem}_part.done", **where, "part": part},
        ]
    return said


def _parts(item: Json, at: Json) -> list[Json]:
    said: list[Json] = []
    for number, part in enumerate(item["content"]):
        where = at | {"content_index": number}
        kind, member = ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
        more = {} if kind == "refusal" else {"logprobs": []}
        said += [
            {"type": "response.content_part.added", **where, "part": part | {member: ""}},
            *(
                {"type": f"response.{kind}.delta", **where, "delta": half} | more
                for half in _halves(part[member])
            ),
            {"type": f"response.{kind}.done", **where, member: part[member]} | more,
            {"type": "response.content_part.done", **where, "part": part},
        ]
    return said


def _arguments(item: Json, at: Json) -> list[Json]:
    stem, arguments = "response.function_call_arguments", item["arguments"]
    return [
        *({"type": f"{stem}.delta", **at, "delta": half} for half in _halves(arguments)),
        {"type": f"{stem}.done", **at, "arguments": arguments, "name": item["name"]},
    ]


def _ending(say: Say) -> list[Json]:
    if say.cut:
        return []
    if say.error_midway is not None:
        failed = {"code": "server_error", "message": say.error_midway}
        response = EMPTY | {"status": "failed", "error": failed, "output": _items(say)}
        return [{"type": "error", "param": None, **failed}, {"type": "response.failed", "response": response}]
    response = body(say)
    return [{"type": f"response.{response['status']}", "response": response}]


# ── a whole body ──


def body(say: Say) -> Json:
    reason = {"length": "max_output_tokens", "filter": "content_filter", "refusal": "content_filter"}.get(
        say.finish
    )
    return EMPTY | {
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": _items(say),
        "usage": _usage(say),
    }


def error(status: int, message: str) -> Json:
    code = CODES.get(status, "server_error")
    return {"error": {"message": message, "type": code, "param": None, "code": None}}


# ── both ──


def _items(say: Say) -> list[Json]:
    items: list[Json] = []
    if say.thinking or say.signature:
        summary = [{"type": "summary_text", "text": say.thinking}] if say.thinking else []
        items.append(
            {
                "id": "rs_1",
                "type": "reasoning",
                "summary": summary,
                "encrypted_content": say.signature or None,
            }
        )
    content: list[Json] = []
    if say.text:
        content.append({"type": "output_text", "text": say.text, "annotations": [], "logprobs": []})
    if say.refusal:
        content.append({"type": "refusal", "refusal": say.refusal})
    if content:
        status = "incomplete" if say.finish != "stop" else "completed"
        items.append(
            {"id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": content}
        )
    return items + [_call(call, number) for number, call in enumerate(say.calls)]


def _call(call: SayCall, number: int) -> Json:
    arguments = call.arguments if isinstance(call.arguments, str) else jsontext.compact(call.arguments)
    return {
        "id": f"fc_{number}",
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
    }


def _usage(say: Say) -> Json:
    sent, made = say.usage
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sent + made,
    }


def _halves(text: str) -> list[str]:
    """In two fragments, as far as there is text for two."""
    middle = (len(text) + 1) // 2
    return [part for part in (text[:middle], text[middle:]) if part]


# ── what it refuses ──

FIELDS = {
    "model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens", "text",
    "reasoning", "include", "temperature", "top_p", "top_logprobs", "store", "stream", "service_tier",
    "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "max_tool_calls",
}  # fmt: skip
ITEMS = {
    "message": {"type", "role", "content", "phase"},
    "function_call": {"type", "call_id", "name", "arguments"},
    "function_call_output": {"type", "call_id", "output"},
    "custom_tool_call": {"type", "call_id", "name", "input"},
    "custom_tool_call_output": {"type", "call_id", "output"},
    "reasoning": {"type", "id", "summary", "content", "encrypted_content"},
}
PARTS = {
    "input_text": {"type", "text"},
    "input_image": {"type", "image_url", "detail"},
    "input_file": {"type", "filename", "file_data", "file_url", "file_id"},
    "input_audio": {"type", "input_audio"},
}
NAME_FORM = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SUBSET = {"additionalProperties", "properties", "required", "type"}


def check(recorded: Recorded) -> None:
    assert recorded.path == PATH, recorded.path
    assert recorded.headers["content-type"] == "application/json"
    body = recorded.body
    assert body.keys() <= FIELDS, body.keys() - FIELDS
    assert body["store"] is False, "nothing may be left behind"
    assert SEALED in body["include"], "the thoughts would be lost"
    assert body.get("max_output_tokens", 16) >= 16
    assert body["input"], "there must be something to answer"
    _check_items(body["input"])
    _check_tools(body)
    if form := body.get("text", {}).get("format"):
        assert form["type"] == "json_object" or (form["name"] and form["schema"])


def _check_items(items: list[Json]) -> None:
    called: dict[str, str] = {}
    for before, item in zip([{}, *items], items, strict=False):
        kind = item["type"]
        assert item.keys() <= ITEMS[kind], item.keys() - ITEMS[kind]
        if kind == "message":
            _check_message(item)
        elif kind == "reasoning":
            assert item["encrypted_content"], "only what was sealed here can be read again"
        elif kind.endswith("_call"):
            assert item["call_id"] not in called
            assert NAME_FORM.fullmatch(item["name"])
            assert len(item["call_id"]) <= 64
            called[item["call_id"]] = kind
        else:
            assert called.pop(item["call_id"]) == kind.removesuffix("_output"), "it answers no call"
        if before.get("type") == "reasoning":
            assert (
                kind in ("function_call", "custom_tool_call", "reasoning") or item["role"] == "assistant"
            ), "a thought belongs before what it led to"
    assert not called, f"no output for {called}"
    assert items[-1]["type"].endswith("_output") or items[-1]["role"] != "assistant"


def _check_message(item: Json) -> None:
    assert item["role"] in ("user", "developer", "assistant"), item["role"]
    assert item["content"]
    if isinstance(item["content"], str):
        return
    for part in item["content"]:
        assert part.keys() <= PARTS[part["type"]], part


def _check_tools(body: Json) -> None:
    names = set()
    for tool in body.get("tools", ()):
        if tool["type"] == "custom":
            assert tool.keys() <= {"type", "name", "description", "format"}
            names.add(tool["name"])
            continue
        assert tool["type"] == "function"
        assert tool.keys() <= {"type", "name", "description", "parameters", "strict"}
        assert NAME_FORM.fullmatch(tool["name"])
        assert tool["strict"] in (True, False), "left out it means true"
        if tool["strict"]:
            schema = tool["parameters"]
            assert schema["additionalProperties"] is False
            assert set(schema["required"]) == set(schema["properties"])
        names.add(tool["name"])
    choice = body.get("tool_choice", "auto")
    if choice not in ("auto", "none", "required"):
        allowed = choice["type"] == "allowed_tools"
        assert not allowed or choice["mode"] in ("auto", "required")
        assert {tool["name"] for tool in (choice["tools"] if allowed else [choice])} <= names
    assert names or "tool_choice" not in body
    assert names or "parallel_tool_calls" not in body
