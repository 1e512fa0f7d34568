"""What the chosen backend cannot do or does not take: said by us before anything is sent, or by itself."""

from typing import Any

from tests.contract.cases import SOUND
from tests.refusals.cases import Case, chat, native, responses
from tests.scripted.say import Say

UNREADABLE, UNFIT, SEMANTIC = "unsupported_content", "tool_schema_incompatible", "semantic_error"
ZIP = "data:application/zip;base64,AAAA"
BROKEN = "data:image/png;base64,a"
NOT: dict[str, Any] = {"not": {"const": 1}}


def _chat_part(says: str, param: str, code: str | None, **more: Any) -> Case:
    part = more.pop("part")
    said = {"role": "user", "content": [{"type": "text", "text": "Hi"}, part]}
    return chat(says, f"messages[0].content[1]{param}", code, messages=[said], **more)


def _file(data: str) -> dict[str, Any]:
    return {"type": "file", "file": {"file_data": data}}


CONTENT = (
    responses(
        "send a jpeg, png, gif or webp instead",
        "input[0].content[0].image_url",
        UNREADABLE,
        world="anthropic",
        type=SEMANTIC,
        features=("image/bmp",),
        input=[
            {
                "role": "user",
                "content": [{"type": "input_image", "image_url": "data:image/bmp;base64,AAAA"}],
            }
        ],
    ),
    _chat_part(
        "send its text instead",
        ".file.file_data",
        UNREADABLE,
        world="anthropic",
        type=SEMANTIC,
        features=("application/zip",),
        part=_file(ZIP),
    ),
    _chat_part(
        "send its text, or images of its pages",
        ".file.file_data",
        UNREADABLE,
        world="text only",
        part=_file(ZIP),
    ),
    _chat_part(
        "send a data URL, or a link as file_url",
        ".file.file_id",
        UNREADABLE,
        world="google",
        part={"type": "file", "file": {"file_id": "f"}},
    ),
    _chat_part(
        "what follows 'base64,' must be base64",
        ".image_url.url",
        "invalid_value",
        world="google",
        part={"type": "image_url", "image_url": {"url": BROKEN}},
    ),
    _chat_part(
        "send a transcript instead, or choose a model of another backend",
        ".input_audio.data",
        UNREADABLE,
        world="anthropic",
        type=SEMANTIC,
        features=("input_audio",),
        part={"type": "input_audio", "input_audio": {"data": SOUND.partition(",")[2], "format": "wav"}},
    ),
    responses(
        "send the request without them, or choose a model of another backend",
        "tools",
        UNFIT,
        world="no tools",
        type=SEMANTIC,
        features=("tools",),
        tools=[{"type": "function", "name": "f"}],
    ),
    chat(
        "send the request without them",
        "functions",
        UNFIT,
        world="no tools",
        type=SEMANTIC,
        features=("tools",),
        functions=[{"name": "f"}],
    ),
    native(
        "Write the schema without it, or choose a model of another backend",
        "tools[0].function.parameters.properties.x.not",
        UNFIT,
        world="google",
        type=SEMANTIC,
        features=("not",),
        tools=[
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "description": "Does it.",
                    "parameters": {"type": "object", "properties": {"x": NOT}},
                },
            }
        ],
    ),
    chat(
        "Write the schema without it",
        "response_format.json_schema.schema.not",
        UNFIT,
        world="google",
        type=SEMANTIC,
        features=("not",),
        response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": NOT}},
    ),
    responses(
        "Choose one of: m",
        "model",
        "model_not_found",
        status=404,
        world="routed",
        model="other",
    ),
)

SHORTEN = "Shorten the conversation, or choose a model with a larger context window"
LISTED = "GET /v1/models lists those that there are"
TOO_LONG = "This model's maximum context length is 8192 tokens."


def _said(says: str, param: str | None, code: str | None, theirs: int, words: str, **more: Any) -> Case:
    """By the backend, with this status and these words."""
    more = {"status": theirs} | more
    return responses(says, param, code, backend=(Say(status=theirs, refusal=words),), **more)


BACKENDS = (
    _said(SHORTEN, None, "context_length_exceeded", 400, TOO_LONG),
    _said(SHORTEN, None, "request_too_large", 413, "Too large: tokens per minute (TPM)", status=400),
    _said(SHORTEN, None, "request_too_large", 413, "No."),
    _said(SHORTEN, None, "request_too_large", 413, "No.", world="anthropic"),
    _said(LISTED, "model", "model_not_found", 404, "The model `m` does not exist"),
    _said(LISTED, "model", "model_not_found", 404, "model: m", world="anthropic"),
    _said("Leave out what is optional, or choose another model", None, None, 400, ""),
    _said(
        "Not in your country.",
        None,
        "permission_denied",
        403,
        "Not in your country.",
        type="permission_error",
    ),
    _said(
        "this request brought none. Send one",
        None,
        "invalid_api_key",
        401,
        "No.",
        world="their key",
        type="authentication_error",
        tells={"WWW-Authenticate": "Bearer"},
    ),
    _said(
        "Send one that is valid there",
        None,
        "invalid_api_key",
        401,
        "No.",
        world="their key",
        headers={"Authorization": "Bearer theirs"},
        type="authentication_error",
        tells={"WWW-Authenticate": "Bearer"},
    ),
    responses(
        "Ask in other words",
        None,
        "invalid_prompt",
        status=200,
        type="",
        headers={"originator": "codex_cli_rs"},
        stream=True,
        backend=(Say(text="It is", finish="filter"),),
    ),
    responses("Shorten it", None, "context_length_exceeded", backend=(Say(finish="no room"),)),
    Case(
        "raise it, or leave it out",
        "max_output_tokens",
        "invalid_value",
        path="/v1/responses/compact",
        body={"model": "m", "input": "Hi", "max_output_tokens": 5.0},
        backend=(Say(text="It", finish="length"),),
    ),
)

COUNTS = (
    Case(
        "Count with the model's own tokenizer, or send the request itself and read its usage",
        None,
        "unsupported_parameter",
        path="/v1/responses/input_tokens",
        body={"model": "m", "input": "Hi"},
        tells={"X-Should-Retry": "false"},
    ),
)

CASES = (*COUNTS, *CONTENT, *BACKENDS)
