"""Messages, on the surfaces that have them."""

from typing import Any

from tests.refusals.cases import HI, Case, chat, native
from tests.refusals.of_responses import LONG, MISSING, NO, OBJECT, STRING, TYPE

VALUE = "invalid_value"
CALL: dict[str, Any] = {"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}
CALLED: dict[str, Any] = {"role": "assistant", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": ""}


def _message(says: str, param: str, code: str = TYPE, **message: Any) -> Case:
    return chat(says, f"messages[1]{param}", code, messages=[HI, message])


def _call(says: str, param: str, code: str = TYPE, **fields: Any) -> Case:
    return _message(says, f".tool_calls[1]{param}", code, role="assistant", tool_calls=[CALL, CALL | fields])


ENVELOPE = (
    chat("the name of a model", "model", MISSING, model=""),
    chat("an array of messages", "messages", MISSING, messages=None),
    chat("send it to /v1/responses", "messages", MISSING, messages=None, input="Hi"),
    chat("must be an array", "messages", TYPE, messages=5),
    chat("must hold at least one message", "messages", messages=[]),
    chat("give one of them some content", "messages", messages=[{"role": "assistant", "content": ""}]),
    chat("set stream to true, or leave it out", "stream_options", stream_options={}),
    chat("must be 1: a request has one answer here. Send it again", "n", NO, n=2.0),
    chat('may only be ["text"]', "modalities", NO, modalities=["audio"]),
    chat("must be a string or an array of strings", "stop", TYPE, stop=5),
    chat("more than 4 strings: send fewer", "stop", LONG, stop=["a"] * 5),
    chat(STRING, "stop[1]", TYPE, stop=["a", 5]),
    chat("must be an integer", "seed", TYPE, seed=0.5),
)

MESSAGES = (
    chat("more than 20000 messages: send fewer", "messages", LONG, messages=[{}] * 20_001),
    chat(OBJECT, "messages[0]", TYPE, messages=[5]),
    _message("one of system, developer, user, assistant, tool, function", ".role", MISSING),
    _message(STRING, ".role", role=5),
    _message("must be one of system, developer, user, assistant, tool, function", ".role", VALUE, role="x"),
    _message("leave it out here", ".tool_calls", VALUE, role="user", content="", tool_calls=[CALL]),
    _message("with tool_calls or a refusal may do without", ".content", MISSING, role="assistant"),
    _message(STRING, ".refusal", role="assistant", refusal=5),
    _message("must be an array", ".tool_calls", role="assistant", tool_calls=5),
    chat(
        "50000 calls and content parts, with all before them: send fewer",
        "messages[0].tool_calls",
        LONG,
        messages=[{"role": "assistant", "tool_calls": [{}] * 50_001}],
    ),
    _message(OBJECT, ".tool_calls[0]", role="assistant", tool_calls=[5]),
    _message("an object with the file", ".content[0].file", MISSING, role="user",
             content=[{"type": "file"}]),
    _message(OBJECT, ".content[0].file", role="user", content=[{"type": "file", "file": 5}]),
    _message("file_url or file_id", ".content[0].file.file_data", MISSING, role="user",
             content=[{"type": "file", "file": {}}]),
    _message("the type of the part, such as text", ".content[0].type", MISSING, role="user", content=[{}]),
    _message("an object with the url", ".content[0].image_url", MISSING, role="user",
             content=[{"type": "image_url"}]),
    _message(OBJECT, ".content[0].image_url", role="user", content=[{"type": "image_url", "image_url": 5}]),
    _message("send single frames as image_url", ".content[0].type", NO, role="user",
             content=[{"type": "video_url"}]),
    _message("Put the call before its result, or leave the result out", ".tool_call_id", VALUE, **RESULT),
    chat("leave one out", "messages[2].tool_call_id", messages=[CALLED, RESULT, RESULT]),
    _call("the id of the call", ".id", MISSING, id=None),
    _call(STRING, ".type", type=5),
    _call("must be one of function, custom", ".type", VALUE, type="x"),
    _call("an object with the call", ".function", MISSING, function=None),
    _call(OBJECT, ".function", function=5),
    _call("the name of the tool", ".function.name", MISSING, function={}),
    _call("the name of the tool", ".function.name", MISSING, function={"name": ""}),
    _call("must be JSON text or an object", ".function.arguments", function={"name": "f", "arguments": 5}),
    _message(OBJECT, ".function_call", role="assistant", function_call=5),
    _message("that of the function which was called", ".name", MISSING, role="function"),
    _message("Put the call before its result, or leave the result out", ".name", VALUE, role="function",
             name="f"),
    _message("the id of the call that is answered", ".tool_call_id", MISSING, role="tool"),
    _message("is empty: put the id of the call", ".tool_call_id", VALUE, role="tool", tool_call_id="", content=""),
)  # fmt: skip


def _native(says: str, param: str, code: str, *messages: Any, **fields: Any) -> Case:
    return native(says, param, code, messages=[HI, *messages], **fields)


def _native_call(says: str, param: str, code: str = MISSING, **fields: Any) -> Case:
    called = {"role": "assistant", "tool_calls": [CALL | fields]}
    return _native(says, f"messages[1].tool_calls[0]{param}", code, called)


def _native_result(says: str, param: str, code: str, **fields: Any) -> Case:
    return _native(says, f"messages[2]{param}", code, CALLED, RESULT | fields)


TOKEN = "is no token of this proxy's, or was changed: send it as it came, or leave it out"

ON_NATIVE = (
    native("declare them as tools", "functions", NO, functions=[]),
    native("use tool_choice", "function_call", NO, function_call="auto"),
    native("leave it out and set request_options.validate_tool_arguments", "strict", NO, strict=True),
    native("must match ^[A-Za-z0-9_.:-]{1,128}$", "conversation_id", conversation_id=" "),
    native(TOKEN, "x-proxy-call-ids", headers={"x-proxy-call-ids": "x"}),
    native(TOKEN, "_proxy.call_ids", _proxy={"call_ids": "x"}),
    _native("may only stand in a tool message: leave it out here", "messages[1].tool_call_id", VALUE,
            {"role": "user", "content": "", "tool_call_id": "a"}),
    _native_call("the id of the call", ".id", id=""),
    _native_call("the id of the call", ".id", id=None),
    _native_call("at most 256 characters", ".id", VALUE, id="x" * 1_000),
    _native("which was not given out in this conversation", "messages[1].tool_calls[0].id", VALUE, CALLED,
            conversation_id="c"),
    _native("put the call into tool_calls", "messages[1].function_call", NO,
            {"role": "assistant", "function_call": {}}),
    _native("Give each call its own", "messages[1].tool_calls[1].id", VALUE,
            {"role": "assistant", "tool_calls": [CALL, CALL]}),
    _native_call(STRING, ".type", TYPE, type=5),
    _native_call('must be "function"', ".type", NO, type="custom"),
    _native_call("an object with the call", ".function", function=None),
    _native_call(OBJECT, ".function", TYPE, function=5),
    _native_call("the name of the tool", ".function.name", function={}),
    _native_call("the name of the tool", ".function.name", function={"name": ""}),
    _native_call("an object", ".function.arguments", function={"name": "f"}),
    _native_call(OBJECT, ".function.arguments", TYPE, function={"name": "f", "arguments": "{}"}),
    _native_result("the id of the call that is answered", ".tool_call_id", MISSING, tool_call_id=None),
    _native_result(STRING, ".name", TYPE, name=5),
    _native_result("send that name, or none", ".name", VALUE, name="g"),
    _native_result("must be a boolean", ".is_error", TYPE, is_error="no"),
    _native("what the tool returned", "messages[2].content", MISSING, CALLED,
            {"role": "tool", "tool_call_id": "a"}),
)  # fmt: skip

CASES = (*ENVELOPE, *MESSAGES, *ON_NATIVE)
