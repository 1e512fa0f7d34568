"""Wherever a message repeats what the client has sent, with something there that is far too long and begins with a
key: people paste keys into the wrong fields, and messages go into logs (S06)."""

from typing import Any

from tests.refusals.cases import Case, chat, native, responses
from tests.refusals.of_messages import CALL, CALLED, RESULT
from tests.refusals.of_tools import BAD_PARAMETERS, CHAT_F, WHOLE, F

SECRET = "sk-canary0123456789"
QUOTED = f"{SECRET}/{'x' * 5_000}"
ENCODED = QUOTED.replace("/", "%2F")
SHOWN = f"[redacted]/{'x' * 68}…"


def _deep() -> Any:
    value: Any = []
    for _ in range(128):
        value = [value]
    return value


def _native(says: str, param: str, *messages: Any) -> Case:
    return native(says, param, messages=messages)


def _called(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [CALL | fields]}


def _part(says: str, param: str, code: str, **more: Any) -> Case:
    part = more.pop("part")
    return chat(
        says, f"messages[0].content[0]{param}", code, messages=[{"role": "user", "content": [part]}], **more
    )


OF_THE_HEAD = (
    Case("GET /openapi.json lists", None, "not_found", 404, path=f"/{QUOTED}", body={}),
    Case(
        f"with id '{SHOWN}' not found",
        None,
        "response_not_found",
        404,
        path=f"/v1/responses/{ENCODED}",
        method="GET",
    ),
    Case(
        f"with id '{SHOWN}' not found",
        None,
        "conversation_not_found",
        404,
        path=f"/v1/conversations/{ENCODED}",
        method="GET",
    ),
    Case("/v1/models lists", "model", "model_not_found", 404, path=f"/v1/models/{QUOTED}", method="GET"),
    Case(
        "must be application/json",
        None,
        "unsupported_media_type",
        415,
        body=b"{}",
        headers={"Content-Type": f"text/{QUOTED}"},
    ),
    Case(
        "use gzip or deflate",
        None,
        "unsupported_encoding",
        415,
        body=b"{}",
        headers={"Content-Encoding": QUOTED},
    ),
    responses("must be one of", "x-proxy-events", headers={"x-proxy-events": QUOTED}),
)

NAMES = (
    responses("flatten it", SHOWN, **{QUOTED: _deep()}),
    responses(
        "at most 64 characters", f"metadata.{SHOWN}", "property_name_above_max_length", metadata={QUOTED: "v"}
    ),
    responses(
        "must be a schema",
        f"tools[0].parameters.properties.{SHOWN}",
        BAD_PARAMETERS,
        tools=[F | {"parameters": {"type": "object", "properties": {QUOTED: 5}}}],
    ),
    chat(
        "mend it, or leave strict out",
        "tools[0].function.parameters.required",
        BAD_PARAMETERS,
        tools=[
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "strict": True,
                    "parameters": {
                        "type": "object",
                        "properties": {QUOTED: {}},
                        "additionalProperties": False,
                    },
                },
            }
        ],
    ),
    native(
        "Write the schema without it",
        f"tools[0].function.parameters.properties.{SHOWN}.not",
        "tool_schema_incompatible",
        world="google",
        type="semantic_error",
        features=("not",),
        tools=[
            {
                "type": "function",
                "function": WHOLE
                | {"parameters": {"type": "object", "properties": {QUOTED: {"not": {"const": 1}}}}},
            }
        ],
    ),
)

VALUES = (
    responses("must be one of", "input[0].role", input=[{"role": QUOTED}]),
    responses(
        f"No tool call found for function call output with call_id {SHOWN}.",
        "input",
        None,
        input=[{"type": "function_call_output", "call_id": QUOTED, "output": ""}],
    ),
    responses(
        "must be a data URL",
        "input[0].content[0].audio_url",
        "unsupported_value",
        input=[{"role": "user", "content": [{"type": "input_audio", "audio_url": QUOTED}]}],
    ),
    responses(
        "must be the id of a response",
        "previous_response_id",
        previous_response_id=QUOTED,
    ),
    responses("must be the id of a conversation", "conversation", conversation=QUOTED),
    responses(
        f"Item with id '{SHOWN}' not found",
        "input",
        None,
        status=404,
        input=[{"type": "item_reference", "id": QUOTED}],
    ),
    responses("Choose one of", "model", "model_not_found", status=404, world="routed", model=QUOTED[:1024]),
    responses("letters, digits", "tools[0].name", tools=[F | {"name": QUOTED}]),
    responses("Leave one out", "tools[1].name", tools=[F | {"name": SECRET}] * 2),
    responses("must be one of", "tool_choice", tools=[F], tool_choice=QUOTED),
    responses("Declare it", "tool_choice.name", tools=[F], tool_choice=F | {"name": QUOTED}),
    chat("must be one of", "messages[0].role", messages=[{"role": QUOTED}]),
    chat("must be one of", "messages[0].tool_calls[0].type", messages=[_called(type=QUOTED)]),
    chat("Put the call before", "messages[0].tool_call_id", messages=[RESULT | {"tool_call_id": QUOTED}]),
    chat("Put the call before", "messages[0].name", messages=[{"role": "function", "name": QUOTED}]),
    chat(
        "leave one out",
        "messages[2].tool_call_id",
        messages=[_called(id=QUOTED), *[RESULT | {"tool_call_id": QUOTED}] * 2],
    ),
    chat("must be one of", "function_call", functions=[{"name": "g"}], function_call=QUOTED),
    chat("Declare it", "function_call.name", functions=[{"name": "g"}], function_call={"name": QUOTED}),
    chat("by its own type", "tool_choice.type", tools=[CHAT_F], tool_choice={"type": QUOTED}),
    chat('must be "function"', "tools[0].type", tools=[{"type": QUOTED, "function": {"name": "f"}}]),
    native('must be "function"', "tools[0].type", "unsupported_value", tools=[{"type": QUOTED}]),
    native(
        "letters, digits or underscores",
        "tools[0].function.name",
        tools=[{"type": "function", "function": WHOLE | {"name": QUOTED}}],
    ),
    _native("Give each call its own", "messages[1].tool_calls[0].id", *[_called(id=SECRET)] * 2),
    _native("send that name", "messages[1].name", CALLED, RESULT | {"name": QUOTED}),
    native(
        'must be "function"',
        "messages[0].tool_calls[0].type",
        "unsupported_value",
        messages=[_called(type=QUOTED)],
    ),
    native(
        "not given out in this conversation",
        "messages[0].tool_calls[0].id",
        conversation_id="c",
        messages=[_called(id=SECRET)],
    ),
    _part(
        "send a jpeg, png, gif or webp",
        ".image_url.url",
        "unsupported_content",
        world="anthropic",
        type="semantic_error",
        features=(SHOWN,),
        part={"type": "image_url", "image_url": {"url": f"data:{QUOTED};base64,AAAA"}},
    ),
    _part(
        "send its text",
        ".file.file_data",
        "unsupported_content",
        world="text only",
        part={"type": "file", "file": {"file_data": f"data:{QUOTED};base64,AAAA"}},
    ),
    Case(
        "Only messages of type",
        "type",
        "unknown_message_type",
        kind="socket",
        body=({"type": QUOTED},),
    ),
)

CASES = (*OF_THE_HEAD, *NAMES, *VALUES)
