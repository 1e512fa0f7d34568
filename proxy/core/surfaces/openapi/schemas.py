"""JSON Schemas of all bodies, for the description of the API.

Requests are described by the forms that check them. What those leave to other readers (input, messages, tools) is
described here in its usual forms: the readers accept more than these, and unknown fields are allowed everywhere.
"""

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from proxy.core.surfaces.chat.envelope import CHAT
from proxy.core.surfaces.native.decode import NATIVE, REPLACED
from proxy.core.surfaces.responses import counting, envelope
from proxy.core.surfaces.responses.envelope import ENVELOPE

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
OBJECT: Schema = {"type": "object"}
NAME: Schema = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
TEXT: Schema = {"type": "string", "minLength": 1}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def one(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def some(schema: Schema, *, least: int = 0) -> Schema:
    return {"type": "array", "items": schema} | ({"minItems": least} if least else {})


def either(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def maybe(schema: Schema) -> Schema:
    return either(schema, {"type": "null"})


def shape(needed: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    return {"type": "object", "properties": needed | (optional or {}), "required": list(needed)}


# ── requests ──


def _checked_by(
    form: TypeAdapter[Any], needed: dict[str, Schema], optional: dict[str, Schema], *without: str
) -> Schema:
    """The form's own schema, with the fields that other readers check, and `without` the fields that it refuses."""
    schema = _untitled(form.json_schema())
    local = schema.pop("$defs")
    properties = _inlined(schema["properties"], local)
    for name in without:
        del properties[name]
    return shape(needed, properties | optional | needed)


def _untitled(schema: Any) -> Any:
    """Removes the titles that pydantic makes of names."""
    if isinstance(schema, dict):
        return {
            key: _untitled(inner)
            for key, inner in schema.items()
            if not (key == "title" and isinstance(inner, str))
        }
    return [_untitled(inner) for inner in schema] if isinstance(schema, list) else schema


def _inlined(schema: Any, local: dict[str, Schema]) -> Any:
    """Replaces references to a form's own few schemas by the schemas."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(local[schema["$ref"].rpartition("/")[2]], local)
        return {key: _inlined(inner, local) for key, inner in schema.items()}
    return [_inlined(inner, local) for inner in schema] if isinstance(schema, list) else schema


PARAMETERS = shape(
    {"type": one("object")},
    {
        "properties": {
            "type": "object",
            "additionalProperties": shape(
                {"type": one("string", "integer", "number", "boolean")}, {"description": STRING}
            ),
        },
        "required": some(STRING),
    },
)
FUNCTION = {"name": NAME}
FUNCTION_DETAILS = {"description": maybe(STRING), "parameters": maybe(PARAMETERS), "strict": maybe(BOOLEAN)}
MODE = one("none", "auto", "required")

IMAGE_URL = {"type": "string", "pattern": "^https://[a-z]{1,20}\\.example/[a-z]{0,20}$"}


def _message(arguments: Schema) -> Schema:
    """A message. The two Chat forms differ in the `arguments` of calls."""
    call = shape(
        {"id": TEXT, "type": one("function"), "function": shape({**FUNCTION, "arguments": arguments})}
    )
    part = either(
        shape({"type": one("text"), "text": STRING}),
        shape({"type": one("image_url"), "image_url": shape({"url": IMAGE_URL})}),
    )
    return either(
        shape({"role": one("user", "system", "developer"), "content": TEXT}),
        shape({"role": one("user"), "content": some(part, least=1)}),
        shape({"role": one("assistant"), "content": TEXT}),
        shape({"role": one("assistant"), "tool_calls": some(call, least=1)}, {"content": maybe(STRING)}),
        shape({"role": one("tool"), "tool_call_id": TEXT, "content": STRING}),
    )


INPUT = {"model": TEXT, "input": either(TEXT, some(ref("InputItem"), least=1))}
INPUT_TOOLS = {
    "tools": some(ref("ResponsesTool")),
    "tool_choice": either(MODE, shape({"type": one("function"), **FUNCTION})),
}
NOT_SERVED = tuple(envelope.REFUSED)
NOT_FOR_SUMMARIES = ("background", "stream", "stream_options", "max_output_tokens")
"""They come in one piece, and whole."""
NOT_COUNTED = (
    *(name for name in envelope.ResponsesEnvelope.__annotations__ if name not in counting.READ),
    "prompt",
)


def _messages(kind: str) -> dict[str, Schema]:
    return {"model": TEXT, "messages": some(ref(kind), least=1)}


def _chat_tools(kind: str) -> dict[str, Schema]:
    return {
        "tools": some(ref(kind)),
        "tool_choice": either(MODE, shape({"type": one("function"), "function": shape(FUNCTION)})),
        "stop": either(STRING, some(STRING)),
    }


REQUEST_PARTS: dict[str, Schema] = {
    "ResponsesTool": either(
        shape({"type": one("function"), **FUNCTION}, FUNCTION_DETAILS),
        shape({"type": one("custom"), **FUNCTION}, {"description": maybe(STRING)}),
    ),
    "InputPart": either(
        shape({"type": one("input_text"), "text": STRING}),
        shape({"type": one("input_image"), "image_url": IMAGE_URL}, {"detail": one("low", "high", "auto")}),
    ),
    "InputItem": either(
        shape(
            {
                "role": one("user", "system", "developer"),
                "content": either(TEXT, some(ref("InputPart"), least=1)),
            },
            {"type": one("message")},
        ),
        shape({"role": one("assistant"), "content": TEXT}),
        shape({"type": one("function_call"), "call_id": TEXT, **FUNCTION, "arguments": STRING}),
        shape({"type": one("function_call_output"), "call_id": TEXT, "output": STRING}),
        shape({"type": one("custom_tool_call"), "call_id": TEXT, **FUNCTION, "input": STRING}),
        shape({"type": one("custom_tool_call_output"), "call_id": TEXT, "output": STRING}),
        shape(
            {
                "type": one("reasoning"),
                "summary": some(shape({"type": one("summary_text"), "text": STRING})),
            }
        ),
    ),
    "ChatTool": shape({"type": one("function"), "function": shape(FUNCTION, FUNCTION_DETAILS)}),
    "NativeTool": shape(
        {
            "type": one("function"),
            "function": shape(
                {
                    "name": {"type": "string", "pattern": "^[a-zA-Z0-9_]{1,64}$"},
                    "description": {"type": "string", "pattern": "^[A-Za-z]"},
                    "parameters": PARAMETERS,
                }
            ),
        }
    ),
    "ChatMessage": _message(arguments=STRING),
    "NativeMessage": _message(arguments=OBJECT),
}

FORMS = (ENVELOPE, CHAT, NATIVE)


@cache
def request_schemas() -> dict[str, Schema]:
    """With those of the forms, which take pydantic some 12 ms: few ask for them."""
    return REQUEST_PARTS | {
        "ResponsesRequest": _checked_by(ENVELOPE, INPUT, INPUT_TOOLS, *NOT_SERVED),
        "CompactionRequest": _checked_by(ENVELOPE, INPUT, INPUT_TOOLS, *NOT_SERVED, *NOT_FOR_SUMMARIES),
        "InputTokensRequest": _checked_by(ENVELOPE, INPUT, INPUT_TOOLS, *NOT_COUNTED),
        "ChatRequest": _checked_by(CHAT, _messages("ChatMessage"), _chat_tools("ChatTool")),
        "NativeRequest": _checked_by(
            NATIVE, _messages("NativeMessage"), _chat_tools("NativeTool"), *REPLACED
        ),
    }


# ── answers ──

EVENT = shape({"data": STRING}, {"event": STRING})
"""Each one of a stream."""

USAGE = maybe(shape({"input_tokens": COUNT, "output_tokens": COUNT, "total_tokens": COUNT}))
CHAT_USAGE = maybe(shape({"prompt_tokens": COUNT, "completion_tokens": COUNT, "total_tokens": COUNT}))

ANSWER_SCHEMAS: dict[str, Schema] = {
    "Error": shape(
        {"error": shape({"message": TEXT, "type": TEXT, "param": maybe(STRING), "code": maybe(STRING)})}
    ),
    "OutputItem": shape({"id": STRING, "type": STRING}, {"status": one("completed", "incomplete")}),
    "Response": shape(
        {
            "id": STRING,
            "object": one("response"),
            "created_at": COUNT,
            "status": one("queued", "completed", "incomplete"),
            "error": {"type": "null"},
            "incomplete_details": maybe(shape({"reason": one("max_output_tokens", "content_filter")})),
            "model": STRING,
            "output": some(ref("OutputItem")),
            "usage": USAGE,
        }
    ),
    "Compaction": shape(
        {
            "id": STRING,
            "object": one("response.compaction"),
            "created_at": COUNT,
            "output": some(ref("OutputItem")),
            "usage": USAGE,
        }
    ),
    "InputTokens": shape({"object": one("response.input_tokens"), "input_tokens": COUNT}),
    "Completion": shape(
        {
            "id": STRING,
            "object": one("chat.completion"),
            "created": COUNT,
            "model": STRING,
            "choices": some(
                shape(
                    {
                        "index": COUNT,
                        "message": shape({"role": one("assistant"), "content": maybe(STRING)}),
                        "finish_reason": one(
                            "stop", "length", "content_filter", "tool_calls", "function_call"
                        ),
                    }
                ),
                least=1,
            ),
            "usage": CHAT_USAGE,
        },
        {"_proxy": OBJECT},
    ),
    "Model": shape({"id": STRING, "object": one("model"), "created": COUNT, "owned_by": STRING}),
    "Models": shape({"object": one("list"), "data": some(ref("Model"))}, {"models": some(OBJECT)}),
    "Status": shape({"status": one("ok", "ready")}, {"store": one("up", "down")}),
}
