"""A scripted Messages API: its streams, its bodies, and all of its rules that can be checked without a model.

What the SDK's types say of a request is checked by the SDK itself, in `tests.providers`; here are the rules that they
do not say, and that nothing unknown is sent anywhere.
"""

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from proxy.core import jsontext
from tests.scripted.say import Say
from tests.scripted.serving import Provider, Recorded

Json = dict[str, Any]

PATH = "/v1/messages"
VERSIONS = ("2023-06-01", "2026-10-21")
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


# ── what it answers ──


def stream(say: Say) -> list[bytes]:
    begun = _message() | {"content": [], "stop_reason": None}
    events: list[Json] = [
        {"type": "message_start", "message": begun | {"usage": _usage(say) | {"output_tokens": 1}}},
        {"type": "ping"},
    ]
    for index, block in enumerate(_blocks(say)):
        events += _block(index, block)
    if not say.cut and say.error_midway is None:
        ending = {"stop_reason": _reason(say), "stop_sequence": None, "stop_details": _details(say)}
        events.append({"type": "message_delta", "delta": ending, "usage": _usage(say)})
        events.append({"type": "message_stop"})
    if say.error_midway is not None:
        events.append(error(500, say.error_midway))
    return [event_of(event) for event in events]


def body(say: Say) -> Json:
    return _message() | {
        "content": [
            block | {"input": _object(block["input"])} if "input" in block else block
            for block in _blocks(say)
        ],
        "stop_reason": _reason(say),
        "stop_details": _details(say),
        "usage": _usage(say),
    }


def error(status: int, message: str) -> Json:
    about = {"type": ERRORS[status], "message": message}
    return {"type": "error", "error": about, "request_id": "req_1"}


def event_of(said: Json) -> bytes:
    return f"event: {said['type']}\ndata: ".encode() + jsontext.dumps(said) + b"\n\n"


def _message() -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-scripted",
        "stop_sequence": None,
    }


def _blocks(say: Say) -> list[Json]:
    """Whole, except that a call's input is still what the script says."""
    blocks: list[Json] = []
    if say.thinking or say.signature:
        blocks.append({"type": "thinking", "thinking": say.thinking, "signature": say.signature})
    if say.text:
        blocks.append({"type": "text", "text": say.text})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in say.calls
    ]
    return blocks


def _block(index: int, block: Json) -> list[Json]:
    match block["type"]:
        case "thinking":
            start, deltas = {"thinking": "", "signature": ""}, _deltas("thinking", block["thinking"])
            if block["signature"]:
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "text":
            start, deltas = {"text": ""}, _deltas("text", block["text"])
        case _:
            start, deltas = {"input": {}}, [{"type": "input_json_delta", "partial_json": ""}]
            deltas += [
                {"type": "input_json_delta", "partial_json": half} for half in _halves(_text(block["input"]))
            ]
    return [
        {"type": "content_block_start", "index": index, "content_block": block | start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _deltas(kind: str, text: str) -> list[Json]:
    return [{"type": f"{kind}_delta", kind: half} for half in _halves(text)]


def _halves(text: str) -> list[str]:
    middle = (len(text) + 1) // 2
    return [half for half in (text[:middle], text[middle:]) if half]


def _text(arguments: Json | str) -> str:
    if isinstance(arguments, str):
        return arguments
    return jsontext.compact(arguments) if arguments else ""


def _object(arguments: Json | str) -> Json:
    said: Json = jsontext.loads(arguments) if isinstance(arguments, str) else arguments
    return said


def _reason(say: Say) -> str:
    if say.finish == "stop":
        return "tool_use" if say.calls else "end_turn"
    return {"length": "max_tokens", "filter": "refusal", "refusal": "refusal"}[say.finish]


def _details(say: Say) -> Json | None:
    if _reason(say) != "refusal":
        return None
    return {"type": "refusal", "category": None, "explanation": say.refusal or None}


def _usage(say: Say) -> Json:
    sent, made = say.usage
    return {
        "input_tokens": sent,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "output_tokens": made,
    }


# ── what it takes ──

NEWEST = {"thinks": {"adaptive"}, "samples": False, "forced": False, "instructs": True}
MODELS: dict[str, Json] = {
    "fable-5-2": NEWEST,
    "opus-5-5": NEWEST,
    "sonnet-5-5": NEWEST | {"thinks": {"adaptive", "between_tools"}},
    "haiku-5-5": NEWEST | {"thinks": {"adaptive", "disabled"}, "forced": True},
    "opus-5": NEWEST | {"thinks": {"adaptive", "disabled"}, "forced": True},
    "sonnet-5": NEWEST | {"thinks": {"adaptive", "disabled"}, "forced": True, "instructs": False},
    "opus-4-8": NEWEST | {"thinks": {"adaptive", "disabled"}, "forced": True},
    "sonnet-4-6": {
        "thinks": {"adaptive", "enabled", "disabled"},
        "samples": True,
        "forced": "unless_enabled",
        "instructs": False,
    },
    "sonnet-4-5": {
        "thinks": {"enabled", "disabled"},
        "samples": True,
        "forced": "unless_enabled",
        "instructs": False,
    },
}
"""The rules of some models, by the end of their names."""
FOREIGN = {"thinks": set(), "samples": True, "forced": True, "instructs": False}

FIELDS: dict[str, set[str]] = {
    "body": {
        "model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "temperature",
        "top_p", "stop_sequences", "stream", "cache_control", "metadata", "service_tier",
    },
    "message": {"role", "content"},
    "tool": {"name", "description", "input_schema", "strict"},
    "text": {"type", "text"},
    "image": {"type", "source"},
    "document": {"type", "source", "title"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input"},
    "tool_result": {"type", "tool_use_id", "content", "is_error"},
    "source base64": {"type", "media_type", "data"},
    "source url": {"type", "url"},
    "source text": {"type", "media_type", "data"},
    "source file": {"type", "file_id"},
    "thinking adaptive": {"type", "display", "block_binding"},
    "thinking enabled": {"type", "budget_tokens", "display"},
    "thinking disabled": {"type"},
    "thinking between_tools": {"type"},
    "choice auto": {"type", "disable_parallel_tool_use"},
    "choice any": {"type", "disable_parallel_tool_use"},
    "choice tool": {"type", "name", "disable_parallel_tool_use"},
    "choice none": {"type"},
    "output_config": {"effort", "format"},
    "format": {"type", "schema"},
}  # fmt: skip
ALLOWED = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
    "system": {"text"},
}
IMAGES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
WORD = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
GRAMMAR = {
    "type", "enum", "const", "anyOf", "allOf", "properties", "required", "additionalProperties", "items", "format",
    "minItems", "title", "description", "default", "$defs", "$ref",
}  # fmt: skip


def check(recorded: Recorded) -> None:
    headers = recorded.headers
    assert recorded.path == PATH, recorded.path
    version = headers.get("anthropic-version")
    assert version in VERSIONS, f"anthropic-version: {version}"
    assert not ("x-api-key" in headers and "authorization" in headers), "two keys"
    assert headers["content-type"] == "application/json"
    check_body(recorded.body, version, headers.get("anthropic-beta", ""))


def check_body(asked: Json, version: str = VERSIONS[0], beta: str = "") -> None:
    rules = _rules(asked["model"])
    _known("body", asked)
    assert isinstance(asked["max_tokens"], int), "max_tokens"
    assert asked["max_tokens"] >= 1, "max_tokens"
    samples = {"temperature", "top_p"} & asked.keys()
    assert not samples or (rules["samples"] and version == VERSIONS[0]), (
        f"{samples} is deprecated for this model"
    )
    assert len(samples) < 2, "temperature and top_p cannot both be specified"
    assert 0 <= asked.get("temperature", 0) <= 1, "temperature: range: 0..1"
    assert all(word.strip() for word in asked.get("stop_sequences", ())), "stop_sequences: blank"
    for block in asked.get("system", ()):
        _block_is_right(block, "system")
    _thinking(asked, rules, beta)
    _tools(asked, rules)
    _output(asked)
    _messages(asked["messages"], rules)
    if "enabled" in str(asked.get("thinking")):
        _starts_with_thought(asked["messages"])


def _rules(model: str) -> Json:
    if not model.startswith("claude-"):
        return FOREIGN
    return MODELS[re.sub(r"-\d{8}$", "", model.removeprefix("claude-"))]


def _known(kind: str, said: Json) -> None:
    extra = said.keys() - FIELDS[kind]
    assert not extra, f"{kind}.{sorted(extra)}: Extra inputs are not permitted"


def _thinking(asked: Json, rules: Json, beta: str) -> None:
    thinking = asked.get("thinking")
    if thinking is None:
        return
    kind = thinking["type"]
    assert kind in rules["thinks"], f'"thinking.type.{kind}" is not supported for this model'
    _known(f"thinking {kind}", thinking)
    if "block_binding" in thinking:
        assert "thinking-binding-controls-2026-08-01" in beta, (
            "thinking.block_binding: Extra inputs are not permitted"
        )
        assert thinking["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    if kind == "enabled":
        assert 1024 <= thinking["budget_tokens"] < asked["max_tokens"], "thinking.budget_tokens"
    if kind in ("enabled", "adaptive"):
        assert "temperature" not in asked, "`temperature` may only be set to 1 when thinking is enabled"


def _tools(asked: Json, rules: Json) -> None:
    tools, choice = asked.get("tools"), asked.get("tool_choice")
    assert tools is None or tools, "tools: empty"
    names = [tool["name"] for tool in tools or ()]
    assert len(set(names)) == len(names), "tools: Tool names must be unique"
    for tool in tools or ():
        _known("tool", tool)
        assert NAME.fullmatch(tool["name"]), f"tools.name: {tool['name']}"
        _schema(tool["input_schema"], tool["name"])
        if tool.get("strict"):
            _grammar(tool["input_schema"])
    if choice is None:
        return
    assert tools, "tool_choice may only be specified while providing tools"
    _known(f"choice {choice['type']}", choice)
    if choice["type"] == "tool":
        assert choice["name"] in names, f"tool_choice: tool {choice['name']} not found"
    if choice["type"] in ("any", "tool"):
        enabled = (asked.get("thinking") or {}).get("type") == "enabled"
        free = rules["forced"] is True or (rules["forced"] == "unless_enabled" and not enabled)
        assert free, "Thinking may not be enabled when tool_choice forces tool use"


def _schema(schema: Json, where: str) -> None:
    assert schema.get("type") == "object", f"{where}: input_schema.type: Field required"
    unions = {"oneOf", "anyOf", "allOf"} & schema.keys()
    assert not unions, f"{where}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    for inner in _inside(schema):
        for name in inner.get("properties", {}):
            assert PROPERTY.fullmatch(name), f"{where}: property {name!r}"


def _grammar(schema: Json) -> None:
    for inner in _inside(schema):
        extra = inner.keys() - GRAMMAR
        assert not extra, f"For a strict schema, {sorted(extra)} is not supported"
        if inner.get("type") == "object":
            assert inner.get("additionalProperties") is False, (
                "'additionalProperties' must be explicitly false"
            )


def _inside(schema: Any) -> Iterator[Json]:
    if isinstance(schema, dict):
        yield schema
        for holder in ("properties", "$defs"):
            for inner in schema.get(holder, {}).values():
                yield from _inside(inner)
        for keyword in ("items", "additionalProperties"):
            yield from _inside(schema.get(keyword))
        for keyword in ("anyOf", "allOf", "oneOf"):
            for inner in schema.get(keyword, ()):
                yield from _inside(inner)


def _output(asked: Json) -> None:
    output = asked.get("output_config", {})
    _known("output_config", output)
    assert output.get("effort", "low") in ("low", "medium", "high", "xhigh", "max"), "output_config.effort"
    if form := output.get("format"):
        _known("format", form)
        assert form["type"] == "json_schema"
        _grammar(form["schema"])


def _messages(messages: Sequence[Json], rules: Json) -> None:
    assert messages, "messages: at least one message is required"
    assert messages[0]["role"] == "user", "messages: first message must use the user role"
    for message in messages:
        _known("message", message)
        assert message["content"], "messages: all messages must have non-empty content"
        for block in message["content"]:
            _block_is_right(block, message["role"])
        assert message["role"] != "system" or rules["instructs"], 'messages: Unexpected role "system"'
    roles = [message["role"] for message in messages]
    assert all(one != other for one, other in pairwise(roles)), "messages: roles must alternate"
    for before, role, after in zip([None, *roles], roles, [*roles[1:], "assistant"], strict=False):
        assert role != "system" or (before, after) == ("user", "assistant"), "messages: misplaced role system"
    for message in messages:
        assert message["content"][-1]["type"] != "thinking", "the final block cannot be `thinking`"
    assert roles[-1] != "assistant", "This model does not support assistant message prefill"
    _pairs(messages)


def _pairs(messages: Sequence[Json]) -> None:
    ids = [block["id"] for message in messages for block in _of_type(message, "tool_use")]
    assert len(set(ids)) == len(ids), "tool_use ids must be unique"
    for before, message in pairwise([{"content": []}, *messages, {"content": []}]):
        calls = [block["id"] for block in _of_type(before, "tool_use")]
        answered = [block["tool_use_id"] for block in _of_type(message, "tool_result")]
        strange = set(answered) - set(calls)
        assert not strange, f"unexpected tool_use_id found in tool_result blocks: {strange}"
        missing = set(calls) - set(answered)
        assert not missing, f"tool_use ids were found without tool_result blocks immediately after: {missing}"
        assert len(set(answered)) == len(answered), "each tool_use must have a single result"
        kinds = [block["type"] == "tool_result" for block in message["content"]]
        assert kinds == sorted(kinds, reverse=True), "tool_result blocks must come first"


def _of_type(message: Json, kind: str) -> list[Json]:
    return [block for block in message["content"] if block["type"] == kind]


def _block_is_right(block: Json, role: str) -> None:
    kind = block["type"]
    assert kind in ALLOWED[role], f"{kind} in {role}"
    _known(kind, block)
    match kind:
        case "text":
            assert block["text"].strip(), "messages: text content blocks must be non-empty"
        case "thinking":
            assert b64decode(block["signature"], validate=True), "Invalid `signature` in `thinking` block"
        case "image" | "document":
            _source(block["source"], kind)
        case "tool_use":
            assert WORD.fullmatch(block["id"]), f"tool_use.id: String should match pattern: {block['id']}"
            assert NAME.fullmatch(block["name"]), block["name"]
            assert isinstance(block["input"], dict), "tool_use.input: Input should be a valid dictionary"
        case "tool_result":
            _result(block)


def _result(block: Json) -> None:
    assert WORD.fullmatch(block["tool_use_id"]), block["tool_use_id"]
    content = block["content"]
    if isinstance(content, str):
        return
    assert content, "tool_result: empty list"
    for inner in content:
        assert inner["type"] in ("text", "image", "document"), inner["type"]
        assert inner["type"] == "text" or not block.get("is_error"), (
            "all content must be type text if is_error"
        )
        _block_is_right(inner, "user")


def _source(source: Json, kind: str) -> None:
    _known(f"source {source['type']}", source)
    if source["type"] == "base64":
        assert source["media_type"] in (IMAGES if kind == "image" else {"application/pdf"}), source[
            "media_type"
        ]
        assert b64decode(source["data"], validate=True), "source.data"
    elif kind == "image":
        assert source["type"] == "url", source["type"]


def _starts_with_thought(messages: Sequence[Json]) -> None:
    for message in reversed(messages):
        if message["role"] == "assistant":
            first = message["content"][0]["type"]
            calls = bool(_of_type(message, "tool_use"))
            assert not calls or first in ("thinking", "redacted_thinking"), (
                f"Expected `thinking` or `redacted_thinking`, but found `{first}`"
            )
            return


PROVIDER = Provider(
    stream=stream,
    body=body,
    error=error,
    check=check,
    streamed=lambda recorded: recorded.body.get("stream", False),
    models={
        "data": [
            {
                "id": "claude-sonnet-4-6",
                "type": "model",
                "display_name": "Sonnet",
                "max_input_tokens": 200_000,
            }
        ],
        "has_more": False,
    },
)
