"""JSON Schemas of all bodies, for the description of the API.

Requests are described by the forms that check them. What those leave to other readers (input, messages, tools) is
described here, as widely as it is read: what does not fit is refused, but for a few liberties that are taken for single
clients. Unknown fields are allowed everywhere.
"""

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from proxy.core.stored.faults import CONVERSATION, PREVIOUS
from proxy.core.surfaces.chat.envelope import CHAT
from proxy.core.surfaces.native.decode import NATIVE, REPLACED
from proxy.core.surfaces.responses import counting, envelope
from proxy.core.surfaces.responses.envelope import CONFIGURATION, ENVELOPE
from proxy.core.surfaces.responses.items import ITEMS

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


URL: Schema = {"type": "string", "format": "uri"}
NAME_ALONE = {"name": NAME}
PARAMETERS = shape(
    {"type": one("object")},
    {
        "properties": {"type": "object", "additionalProperties": {"type": ["object", "boolean"]}},
        "required": some(STRING),
    },
)
DETAILS = {"description": maybe(STRING), "parameters": maybe(PARAMETERS), "strict": maybe(BOOLEAN)}
CHOICE = either(
    one("none", "auto", "required"),
    shape({"type": TEXT}, {"name": STRING, "tools": some(shape({"type": TEXT}), least=1)}),
)


def _of_kind(kind: str, schema: Schema) -> Schema:
    """As Chat has it: under the name of its type."""
    return shape({"type": one(kind), kind: schema})


def _message(arguments: Schema, result: Schema) -> Schema:
    """A message. The two Chat forms differ in the `arguments` of calls and in what tools return."""
    call = {"id": TEXT, "type": one("function"), "function": shape({**NAME_ALONE, "arguments": arguments})}
    text = shape({"type": one("text"), "text": STRING})
    part = either(
        text,
        _of_kind("image_url", shape({"url": URL})),
        _of_kind("input_audio", shape({"data": STRING, "format": STRING})),
        _of_kind("file", shape({}, {"file_data": STRING, "filename": STRING})),
    )
    said = maybe(either(STRING, some(text)))
    return either(
        shape({"role": one("user"), "content": either(STRING, some(part, least=1))}),
        shape({"role": one("system", "developer"), "content": either(STRING, some(text, least=1))}),
        shape({"role": one("assistant"), "content": said}),
        shape({"role": one("assistant"), "tool_calls": some(shape(call), least=1)}, {"content": said}),
        shape({"role": one("tool"), "tool_call_id": TEXT, "content": result}),
    )


INPUT = {"input": either(STRING, some(ref("InputItem")))}
TOOLS = {"tools": some(ref("ResponsesTool")), "tool_choice": CHOICE}
CACHE = {"prompt_cache_options": maybe(shape({}, {"prewarm": maybe(BOOLEAN)}))}
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
        "tool_choice": CHOICE,
        "stop": either(STRING, some(STRING)),
    }


def _result(kind: str) -> Schema:
    return shape({"type": one(kind), "call_id": TEXT, "output": either(STRING, some(ref("InputPart")))})


DESCRIBED: dict[str, Schema] = {
    "message": shape(
        {
            "role": one("user", "system", "developer", "assistant"),
            "content": either(STRING, some(ref("InputPart"))),
        },
        {"type": one("message")},
    ),
    "function_call": shape(
        {"type": one("function_call"), "call_id": TEXT, **NAME_ALONE, "arguments": STRING}
    ),
    "function_call_output": _result("function_call_output"),
    "custom_tool_call": shape(
        {"type": one("custom_tool_call"), "call_id": TEXT, **NAME_ALONE, "input": STRING}
    ),
    "custom_tool_call_output": _result("custom_tool_call_output"),
    "reasoning": shape(
        {
            "type": one("reasoning"),
            "summary": some(shape({"type": one("summary_text"), "text": STRING})),
        },
        {"encrypted_content": maybe(STRING)},
    ),
    "item_reference": shape({"id": TEXT}, {"type": maybe(one("item_reference"))}),
    "configuration_update": ref("ConfigurationUpdate"),
}
"""Items by their type. Of all others the type alone is told."""

REQUEST_PARTS: dict[str, Schema] = {
    "ResponsesTool": either(
        shape({"type": one("function"), **NAME_ALONE}, DETAILS),
        _of_kind("function", shape(NAME_ALONE, DETAILS)),
        shape({"type": one("custom"), **NAME_ALONE}, {"description": maybe(STRING)}),
        shape({"type": one("namespace"), **NAME_ALONE, "tools": some(ref("ResponsesTool"))}),
        shape({"type": TEXT | {"not": {"enum": ["function", "custom", "namespace"]}}}),
    ),
    "InputPart": either(
        shape({"type": one("input_text", "output_text", "text"), "text": STRING}),
        shape({"type": one("refusal"), "refusal": STRING}),
        shape({"type": one("input_image"), "image_url": URL}, {"detail": maybe(one("low", "high", "auto"))}),
        shape({"type": one("input_file")}, {"file_data": STRING, "filename": STRING}),
        shape(
            {"type": one("input_audio"), "input_audio": shape({"data": STRING, "format": STRING})},
        ),
    ),
    "InputItem": either(*DESCRIBED.values(), shape({"type": one(*sorted(ITEMS.keys() - DESCRIBED.keys()))})),
    "ChatTool": either(
        _of_kind("function", shape(NAME_ALONE, DETAILS)),
        _of_kind("custom", shape(NAME_ALONE, {"description": maybe(STRING)})),
    ),
    "NativeTool": _of_kind(
        "function",
        shape(
            {
                "name": {"type": "string", "pattern": "^[a-zA-Z0-9_]{1,64}$"},
                "description": TEXT,
                "parameters": PARAMETERS,
            }
        ),
    ),
    "ChatMessage": either(
        _message(arguments=STRING, result=either(STRING, some(shape({"type": TEXT}), least=1))),
        shape({"role": one("function"), **NAME_ALONE, "content": maybe(STRING)}),
    ),
    "NativeMessage": _message(arguments=OBJECT, result={}),
}

FORMS = (ENVELOPE, CHAT, NATIVE)

ASKING = ("input", PREVIOUS, CONVERSATION)
"""Fields of which one is needed: a request that continues something need not say more."""


def _with_one_of(names: tuple[str, ...], schema: Schema) -> Schema:
    return schema | {"anyOf": [{"required": [name]} for name in names]}


@cache
def request_schemas() -> dict[str, Schema]:
    """The schemas of requests. Those of the forms take pydantic some 12 ms, so all are made when first asked for."""
    model, asked = {"model": TEXT}, INPUT | TOOLS
    return REQUEST_PARTS | {
        "ConfigurationUpdate": _checked_by(CONFIGURATION, {"type": one("configuration_update")}, {}),
        "ResponsesRequest": _with_one_of(ASKING, _checked_by(ENVELOPE, model, asked | CACHE, *NOT_SERVED)),
        "CompactionRequest": _with_one_of(
            ASKING, _checked_by(ENVELOPE, model, asked, *NOT_SERVED, *NOT_FOR_SUMMARIES)
        ),
        "InputTokensRequest": _with_one_of(
            ("input", *counting.INSTEAD), _checked_by(ENVELOPE, model, asked, *NOT_COUNTED)
        ),
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
