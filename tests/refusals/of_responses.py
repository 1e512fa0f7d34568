"""What the Responses surface refuses around its input, and of the items and parts in it."""

from typing import Any

from tests.refusals.cases import HI, Case, responses

MISSING, TYPE, LONG = "missing_required_parameter", "invalid_type", "array_above_max_length"
NO, FIELD = "unsupported_value", "unsupported_parameter"
STRING, OBJECT = "must be a string", "must be an object"
CODEX = {"originator": "codex_cli_rs"}


def _item(says: str, param: str, code: str = TYPE, **item: Any) -> Case:
    """Of one item that is wrong, after one that is right."""
    return responses(says, f"input[1]{param}", code, input=[HI, item])


def _part(says: str, param: str, code: str = TYPE, *, role: str = "user", **part: Any) -> Case:
    said = {"role": role, "content": [{"type": "output_text", "text": "Hi"}, part]}
    return responses(says, f"input[0].content[1]{param}", code, input=[said])


def _nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


ENVELOPE = (
    responses("the name of a model, such as those that GET /v1/models lists", "model", MISSING, model=None),
    responses("may have at most 1024 characters", "model", model="m" * 1025),
    responses("a string or an array of items", "input", MISSING, input=None),
    responses("send them to /v1/chat/completions", "input", MISSING, input=None, messages=[]),
    responses("must be a string or an array of items", "input", TYPE, input=5),
    responses("at most 10485760 characters: send less", "input", input="x" * 10_485_761),
    responses("give it a message with content", "input", input=[{"type": "unheard_of"}]),
    responses("must be a boolean", "stream", TYPE, stream="yes"),
    responses("must be between 0 and 2, got 3", "temperature", temperature=3),
    responses("must be at least 1", "max_output_tokens", max_output_tokens=0.0),
    responses("must be an integer", "max_output_tokens", TYPE, max_output_tokens=5.5),
    responses("must be an object", "metadata", TYPE, metadata=5),
    responses("must be a string", "metadata.k", TYPE, metadata={"k": 5}),
    responses(
        "at most 64 characters in its name",
        f"metadata.{'k' * 79}…",
        "property_name_above_max_length",
        metadata={"k" * 99: "v"},
    ),
    responses("at most 512 characters", "metadata.k", "string_above_max_length", metadata={"k": "v" * 513}),
    responses(
        "at most 16 entries",
        "metadata",
        "object_above_max_properties",
        metadata={str(number): "v" for number in range(17)},
    ),
    responses("see /openapi.json for what belongs there", "text.format.type", MISSING, text={"format": {}}),
    responses("a name for the schema", "text.format.name", MISSING, text={"format": {"type": "json_schema"}}),
    responses(
        "a JSON Schema",
        "text.format.schema",
        MISSING,
        text={"format": {"type": "json_schema", "name": "n"}},
    ),
    responses("deeper than 128 levels: flatten it", "extra", extra=_nested(128)),
    responses("which begins with 'conv_'", "conversation", conversation="c"),
    responses("the id of a conversation", "conversation", "invalid_type", conversation=7),
    responses("the id of the conversation", "conversation.id", MISSING, conversation={}),
    responses("Send their text as instructions and input", "prompt", FIELD, prompt={"id": "p"}),
    responses(
        "must be one of auto, extended, standard",
        "x-proxy-events",
        headers={"x-proxy-events": "loud"},
    ),
    Case("must be a JSON object", None, TYPE, body=[]),
)

ITEMS = (
    responses("more than 20000 items: send fewer", "input", LONG, input=[{}] * 20_001),
    responses(OBJECT, "input[0]", TYPE, input=[5]),
    _item(STRING, ".type", type=5),
    _item("one of user, assistant, system, developer", ".role", MISSING, content="Hi"),
    _item(STRING, ".role", role=5),
    _item("must be one of user, assistant, system, developer", ".role", "invalid_value", role="boss"),
    _item("send a function_call_output", ".role", "invalid_value", role="tool", tool_call_id="c", content=""),
    _item("send each call as an item of its own, a function_call", ".tool_calls", "invalid_value",
          role="assistant", content=None, tool_calls=[{"id": "c"}]),
    _item("a string or an array of parts", ".content", MISSING, role="user"),
    _item("must be a string or an array of parts", ".content", role="user", content=5),
    _item(
        "a string",
        ".content[0].encrypted_content",
        MISSING,
        type="agent_message",
        content=[{"type": "encrypted_content"}],
    ),
    _item("the name of the tool", ".name", MISSING, type="function_call", call_id="c", name=""),
    _item(STRING, ".name", type="function_call", call_id="c", name=5),
    _item("the id of the call", ".call_id", MISSING, type="function_call", name="f"),
    _item(
        "must be JSON text or an object",
        ".arguments",
        type="function_call",
        call_id="c",
        name="f",
        arguments=[],
    ),
    _item(STRING, ".namespace", type="function_call", call_id="c", name="f", namespace=5),
    _item(STRING, ".input", type="custom_tool_call", call_id="c", name="f", input=5),
    _item(STRING, ".call_id", type="tool_search_call", call_id=5, arguments={}),
    _item(STRING, ".call_id", type="tool_search_output", call_id=5),
    _item("must be an array", ".tools", type="tool_search_output", tools=5),
    _item("the id of the call that it answers", ".call_id", MISSING, type="function_call_output", output=""),
    _item(STRING, ".name", type="function_call_output", name=5, output=""),
    _item("what the tool returned", ".output", MISSING, type="function_call_output", call_id="c"),
    responses(
        "No tool call found for function call output with call_id c.",
        "input",
        None,
        input=[{"type": "function_call_output", "call_id": "c", "output": ""}],
    ),
    responses(
        "leave one out",
        "input[2].call_id",
        input=[
            {"type": "function_call", "call_id": "c", "name": "f"},
            *[{"type": "function_call_output", "call_id": "c", "output": ""}] * 2,
        ],
    ),
    _item("the id of the call", ".call_id", MISSING, type="apply_patch_call_output", status="completed"),
    _item(STRING, ".status", type="apply_patch_call_output", call_id="c", status=5),
    _item(STRING, ".output", type="apply_patch_call_output", call_id="c", output=5),
    _item(STRING, ".encrypted_content", type="reasoning", encrypted_content=5),
    _item(STRING, ".encrypted_content", type="compaction", encrypted_content=5),
    _item(STRING, ".id", id=5),
)  # fmt: skip

PARTS = (
    responses(
        "50000 content parts, with all before it: send fewer",
        "input[0].content",
        LONG,
        input=[{"role": "user", "content": [{}] * 50_001}],
    ),
    responses(OBJECT, "input[0].content[0]", TYPE, input=[{"role": "user", "content": [5]}]),
    _part("the type of the part, such as input_text", ".type", MISSING),
    _part(STRING, ".type", type=5),
    _part("send only text", ".type", "invalid_value", role="system", type="input_image", image_url="u"),
    _part("a string", ".text", MISSING, type="input_text"),
    _part("a string", ".refusal", MISSING, role="assistant", type="refusal"),
    _part("a string", ".text", MISSING, role="assistant", type="reasoning_text"),
    _part("send the image as image_url", ".file_id", NO, type="input_image", file_id="f"),
    _part("a string", ".image_url", MISSING, type="input_image"),
    _part(STRING, ".detail", type="input_image", image_url="u", detail=5),
    _part(STRING, ".detail", type="image_url", image_url="u", detail=5),
    _part("a string", ".image_url.url", MISSING, type="image_url", image_url={}),
    _part(STRING, ".image_url.detail", type="image_url", image_url={"url": "u", "detail": 5}),
    _part("as a data URL, or else its file_url or file_id", ".file_data", MISSING, type="input_file"),
    _part(STRING, ".filename", type="input_file", filename=5),
    _part(STRING, ".file_data", type="input_file", file_data=5),
    _part(STRING, ".file_url", type="input_file", file_url=5),
    _part(STRING, ".file_id", type="input_file", file_id=5),
    _part("must be a data URL such as data:audio/wav;base64", ".audio_url", NO,
          type="input_audio", audio_url="https://x.example/a.wav"),
    _part(STRING, ".audio_url", type="input_audio", audio_url=5),
    _part(OBJECT, ".input_audio", type="input_audio", input_audio=5),
    _part("a string", ".input_audio.data", MISSING, type="input_audio", input_audio={}),
    _part("a string", ".input_audio.format", MISSING, type="input_audio", input_audio={"data": ""}),
    _part("an object with the data and its format", ".input_audio", MISSING, type="input_audio"),
    _part(STRING, ".data", type="input_audio", data=5),
    _part("a string", ".format", MISSING, type="input_audio", data=""),
    _part("send single frames as input_image", ".type", NO, type="input_video"),
)  # fmt: skip

CASES = (*ENVELOPE, *ITEMS, *PARTS)
