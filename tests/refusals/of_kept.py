"""What is refused about what is kept: responses, conversations and their items, and the pages in which they are."""

from typing import Any

from tests.refusals.cases import Case, responses
from tests.refusals.kept import ANSWERED, BUSY, CONVERSATION, ITEM, LARGE, LONG, RUNNING, STREAMED, WHOLE

HI = {"role": "user", "content": "Hi"}
WRONG = "invalid_value"
PREVIOUS = "previous_response_id"


def _response(
    says: str, param: str | None, code: str | None, id: str, method: str = "GET", **more: Any
) -> Case:
    return Case(says, param, code, path=f"/v1/responses/{id}", method=method, world="keeping", **more)


def _talk(
    says: str, param: str | None, code: str | None, id: str = "", method: str = "POST", **more: Any
) -> Case:
    path = f"/v1/conversations/{id}" if id else "/v1/conversations"
    return Case(says, param, code, path=path, method=method, world="keeping", **more)


def _items(says: str, param: str, code: str | None, items: Any, **more: Any) -> Case:
    return _talk(says, param, code, f"{CONVERSATION}/items", body={"items": items}, **more)


def _pairs(says: str, param: str, code: str, metadata: Any) -> Case:
    return _talk(says, param, code, CONVERSATION, body={"metadata": metadata})


RESPONSES = (
    _response("Response with id 'resp_1' not found.", None, "response_not_found", "resp_1", status=404),
    _response("Cannot delete an in-flight response.", None, None, RUNNING, "DELETE"),
    _response("Cannot cancel a synchronous response.", None, None, f"{ANSWERED}/cancel", "POST"),
    _response("Cannot cancel a completed response.", None, None, f"{WHOLE}/cancel", "POST"),
    _response(
        "was not created with background=true", "stream", "invalid_request_error", f"{ANSWERED}?stream=true"
    ),
    _response("was not created with stream=true", "stream", "invalid_request_error", f"{WHOLE}?stream=true"),
    _response("its events have expired", "stream", "invalid_request_error", f"{STREAMED}?stream=true"),
    _response(
        "Encrypted content cannot be requested for persisted responses.",
        "include",
        None,
        f"{ANSWERED}?include[]=reasoning.encrypted_content",
    ),
    Case(
        "wait until some of them are answered",
        None,
        "rate_limit_exceeded",
        path=f"/v1/responses/{ANSWERED}",
        method="GET",
        world="keeping and asked",
        status=429,
        type="rate_limit_error",
        tells={"Retry-After": "1"},
    ),
    Case(
        "close one, or wait until one ends",
        None,
        "rate_limit_exceeded",
        path=f"/v1/responses/{STREAMED}?stream=true",
        method="GET",
        world="keeping and followed",
        status=429,
        type="rate_limit_error",
        tells={"Retry-After": "5"},
    ),
    _response("must be true or false", "stream", WRONG, f"{ANSWERED}?stream=maybe"),
    _response("0 or more", "starting_after", WRONG, f"{ANSWERED}?stream=true&starting_after=-1"),
)


def _turn(says: str, param: str | None, code: str | None, world: str = "keeping", **fields: Any) -> Case:
    own = {name: fields.pop(name) for name in ("status", "tells", "type") if name in fields}
    return responses(says, param, code, world=world, **own, **fields)


NOWHERE = "previous_response_not_found"

TURNS = (
    _turn("Previous response with id 'resp_0' not found.", PREVIOUS, NOWHERE, previous_response_id="resp_0"),
    _turn(
        f"Previous response with id '{RUNNING}' is not completed yet. Wait until it is, or cancel it.",
        PREVIOUS,
        "previous_response_not_completed",
        previous_response_id=RUNNING,
    ),
    _turn(
        "Ensure you are only providing one of",
        None,
        "mutually_exclusive_parameters",
        previous_response_id=ANSWERED,
        conversation=CONVERSATION,
    ),
    _turn(
        "Leave it out and read the answer from this request",
        "background",
        "unsupported_parameter",
        "keeping nothing",
        background=True,
    ),
    _turn(
        "send less, or leave background out",
        "input",
        "request_too_large",
        "keeping less",
        status=413,
        background=True,
        input="x" * (1 << 20),
    ),
    _turn(
        "wait until some of them have ended",
        None,
        "rate_limit_exceeded",
        "keeping enough",
        status=429,
        type="rate_limit_error",
        background=True,
        tells={"Retry-After": "5"},
    ),
    _turn("send at least one item", None, "missing_required_parameter", input=[]),
    _turn(
        "continue a shorter chain",
        "input",
        "request_too_large",
        "keeping little",
        status=413,
        previous_response_id=LONG,
    ),
    _turn(
        "begin another one",
        "conversation",
        "array_above_max_length",
        "keeping one",
        conversation=CONVERSATION,
    ),
    _turn("send the whole history", PREVIOUS, NOWHERE, "keeping nothing", previous_response_id="resp_0"),
    _turn(
        "Send the whole history",
        "conversation",
        "unsupported_parameter",
        "keeping nothing",
        conversation="conv_1",
    ),
    _turn(
        "the item itself in its place",
        "input",
        None,
        "keeping nothing",
        status=404,
        input=[{"type": "item_reference", "id": "msg_1"}],
    ),
    _turn(
        "not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or "
        "remove this item from your input.",
        "input",
        None,
        status=404,
        input=[{"type": "item_reference", "id": "msg_1"}],
    ),
)

PAGES = (
    _response("must be of code_interpreter_call.outputs", "include", WRONG, f"{ANSWERED}?include=everything"),
    _response("must be a whole number", "limit", "invalid_type", f"{ANSWERED}/input_items?limit=x"),
    _response(
        "must be between 1 and 100", "limit", "integer_below_min_value", f"{ANSWERED}/input_items?limit=0"
    ),
    _response(
        "must be between 1 and 100", "limit", "integer_above_max_value", f"{ANSWERED}/input_items?limit=101"
    ),
    _response("must be asc or desc", "order", WRONG, f"{ANSWERED}/input_items?order=up"),
    _response(
        "No item found with id 'msg_1'", "after", None, f"{ANSWERED}/input_items?after=msg_1", status=404
    ),
)

CONVERSATIONS = (
    Case(
        "Send the whole history as input",
        None,
        "not_found",
        404,
        path="/v1/conversations",
        body={},
        world="keeping nothing",
    ),
    _talk(
        "Conversation with id 'conv_1' not found.",
        None,
        "conversation_not_found",
        "conv_1",
        "GET",
        status=404,
    ),
    _talk(
        "Please retry in a few seconds",
        "conversation",
        "conversation_locked",
        BUSY,
        "DELETE",
        tells={"X-Should-Retry": "true", "Retry-After-Ms": "1000"},
    ),
    _talk(
        "which replaces all that is there", "metadata", "missing_required_parameter", CONVERSATION, body={}
    ),
    _pairs("must be an object", "metadata", "invalid_type", []),
    _pairs(
        "at most 16 entries",
        "metadata",
        "object_above_max_properties",
        {str(number): "" for number in range(17)},
    ),
    _pairs("at most 64 characters", f"metadata.{'a' * 65}", "property_name_above_max_length", {"a" * 65: ""}),
    _pairs("must be a string", "metadata.a", "invalid_type", {"a": 1}),
    _pairs("at most 512 characters", "metadata.a", "string_above_max_length", {"a": "b" * 513}),
)

ITEMS = (
    _talk("ask for a smaller page by limit", None, "request_too_large", f"{LARGE}/items", "GET", status=413),
    _talk(
        "not found in conversation", None, "item_not_found", f"{CONVERSATION}/items/msg_1", "GET", status=404
    ),
    _talk("an array of items", "items", "missing_required_parameter", f"{CONVERSATION}/items", body={}),
    Case(
        "delete some, or begin another one",
        "items",
        "array_above_max_length",
        path=f"/v1/conversations/{CONVERSATION}/items",
        method="POST",
        world="keeping one",
        body={"items": [HI]},
    ),
    _items("must be an array", "items", "invalid_type", {}),
    _items("send fewer", "items", "array_above_max_length", [HI] * 21),
    _items("must be a string", "items[0].id", "invalid_type", [HI | {"id": 1}]),
    _items("Expected an ID that begins with 'msg'.", "items[1].id", WRONG, [HI, HI | {"id": "fc_1"}]),
    _items("must be one of user", "items[0].role", WRONG, [HI | {"role": "nobody"}]),
    _items(
        "or remove this item from your input",
        "input",
        None,
        [{"type": "item_reference", "id": "x"}],
        status=404,
    ),
    _items("Item already in conversation", "items", "item_already_in_conversation", [HI | {"id": ITEM}]),
)

CASES = (*TURNS, *RESPONSES, *PAGES, *CONVERSATIONS, *ITEMS)
