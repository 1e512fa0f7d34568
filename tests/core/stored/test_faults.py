"""The words of each refusal as clients know them, with its status, code and param."""

from dataclasses import replace

from proxy.core.errors import Fault
from proxy.core.stored import faults
from proxy.core.stored.record import Record, Status
from proxy.core.surfaces.errors import error_body
from tests.support.tables import table

RECORD = Record("resp_1", Status.COMPLETED, created=1, model="m", background=True, streamed=True)
PREVIOUS = "previous_response_id"

ROWS: list[tuple[Fault | None, int, str, str | None, str | None]] = [
    (
        faults.previous_not_found("resp_1"),
        400,
        "Previous response with id 'resp_1' not found.",
        "previous_response_not_found",
        PREVIOUS,
    ),
    (
        faults.nothing_is_kept("resp_1"),
        400,
        "Previous response with id 'resp_1' not found. Responses are not kept here: leave previous_response_id out "
        "and send the whole history as input.",
        "previous_response_not_found",
        PREVIOUS,
    ),
    (
        faults.previous_not_completed("resp_1"),
        400,
        "Previous response with id 'resp_1' is not completed yet. Wait until it is, or cancel it.",
        "previous_response_not_completed",
        PREVIOUS,
    ),
    (
        faults.exclusive(),
        400,
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one "
        "of: 'previous_response_id' or 'conversation'.",
        "mutually_exclusive_parameters",
        None,
    ),
    (
        faults.nothing_to_answer(),
        400,
        "Nothing is to be answered: send at least one item as input, or name a previous_response_id or a conversation.",
        "missing_required_parameter",
        None,
    ),
    (
        faults.history_too_large(64 << 20),
        413,
        "The history and the input together are over 64 MiB: continue a shorter chain, or make this one shorter by "
        "/v1/responses/compact.",
        "request_too_large",
        "input",
    ),
    (
        faults.reference_not_found("msg_1"),
        404,
        "Item with id 'msg_1' not found. Items are not persisted when `store` is set to false. Try again with `store` "
        "set to true, or remove this item from your input.",
        None,
        "input",
    ),
    (
        faults.no_item_is_kept("msg_1"),
        404,
        "Item with id 'msg_1' not found. Items are not persisted here. Try again with `store` set to false and the "
        "item itself in its place, or remove this item from your input.",
        None,
        "input",
    ),
    (faults.response_not_found("x"), 404, "Response with id 'x' not found.", "response_not_found", None),
    (faults.cannot_cancel(RECORD), 400, "Cannot cancel a completed response.", None, None),
    (
        faults.cannot_cancel(replace(RECORD, status=Status.FAILED)),
        400,
        "Cannot cancel a failed response.",
        None,
        None,
    ),
    (
        faults.cannot_cancel(replace(RECORD, status=Status.INCOMPLETE)),
        400,
        "Cannot cancel a response in terminal state.",
        None,
        None,
    ),
    (
        faults.cannot_cancel(replace(RECORD, background=False)),
        400,
        "Cannot cancel a synchronous response.",
        None,
        None,
    ),
    (faults.cannot_delete(), 400, "Cannot delete an in-flight response.", None, None),
    (
        faults.cannot_stream(replace(RECORD, background=False)),
        400,
        "This response cannot be streamed because it was not created with background=true.",
        "invalid_request_error",
        "stream",
    ),
    (
        faults.cannot_stream(replace(RECORD, streamed=False)),
        400,
        "This response cannot be streamed because it was not created with stream=true.",
        "invalid_request_error",
        "stream",
    ),
    (
        faults.cannot_stream(replace(RECORD, streamed=None)),
        400,
        "This response can no longer be streamed because its events have expired.",
        "invalid_request_error",
        "stream",
    ),
    (
        faults.events_are_gone(),
        400,
        "This response can no longer be streamed because its events have expired.",
        "invalid_request_error",
        "stream",
    ),
    (
        faults.no_encrypted_content(),
        400,
        "Encrypted content cannot be requested for persisted responses.",
        None,
        "include",
    ),
    (
        faults.too_large_for_the_background(8 << 20),
        413,
        "Work in the background is kept, and this input is over 8 MiB: send less, or leave background out.",
        "request_too_large",
        "input",
    ),
    (
        faults.too_much_in_the_background(),
        429,
        "Too many responses are under way in the background: wait until some of them have ended.",
        "rate_limit_exceeded",
        None,
    ),
    (
        faults.too_many_questions(),
        429,
        "Too many requests about what is kept are under way: wait until some of them are answered.",
        "rate_limit_exceeded",
        None,
    ),
    (
        faults.too_many_followers(),
        429,
        "Too many streams follow work in the background: close one, or wait until one ends.",
        "rate_limit_exceeded",
        None,
    ),
    (
        faults.conversation_not_found("conv_1"),
        404,
        "Conversation with id 'conv_1' not found.",
        "conversation_not_found",
        None,
    ),
    (
        faults.no_conversation_is_kept(),
        404,
        "There are no conversations: nothing is kept here. Send the whole history as input.",
        "not_found",
        None,
    ),
    (
        faults.conversation_locked(),
        400,
        "Another process is currently operating on this conversation. Please retry in a few seconds.",
        "conversation_locked",
        "conversation",
    ),
    (
        faults.not_in_conversation("msg_1"),
        404,
        "Item with id 'msg_1' not found in conversation.",
        "item_not_found",
        None,
    ),
    (
        faults.already_in_conversation(),
        400,
        "Item already in conversation",
        "item_already_in_conversation",
        "items",
    ),
    (
        faults.too_many_in_conversation(2, 9000),
        400,
        "With these 2 items the conversation would hold more than 9000, which is the most: delete some, or begin "
        "another one.",
        "array_above_max_length",
        "items",
    ),
    (
        faults.conversation_is_full(9000),
        400,
        "The conversation holds 9000 items, and may hold no more: delete some, or begin another one.",
        "array_above_max_length",
        "conversation",
    ),
    (faults.cursor_not_found("msg_1", "after"), 404, "No item found with id 'msg_1'", None, "after"),
    (faults.store_is_down(), 503, "What is kept cannot be reached at the moment.", "storage_error", None),
    (
        faults.unreadable(),
        500,
        "What is kept of this cannot be read: it is damaged, its key is missing, or a later version has written it.",
        "storage_error",
        None,
    ),
    (
        faults.too_much_kept(),
        413,
        "This asks for more of what is kept than can be read at a time: ask for a smaller page by limit, name fewer "
        "items, or delete large items of the conversation.",
        "request_too_large",
        None,
    ),
    (
        faults.no_background(),
        400,
        "background is not supported: the response could not be fetched later. Leave it out and read the answer from "
        "this request, streamed or whole.",
        "unsupported_parameter",
        "background",
    ),
    (
        faults.no_conversations(),
        400,
        "conversation is not supported: nothing is kept here. Send the whole history as input.",
        "unsupported_parameter",
        "conversation",
    ),
]


@table(("fault", "status", "message", "code", "param"), ROWS)
def test_a_refusal(fault: Fault, status: int, message: str, code: str | None, param: str | None) -> None:
    assert fault.status == status
    kind = {429: "rate_limit_error", 500: "server_error", 503: "server_error"}.get(
        status, "invalid_request_error"
    )
    assert error_body(fault)["error"] == {"message": message, "type": kind, "param": param, "code": code}


def test_a_stream_in_the_background_can_be_streamed_again() -> None:
    assert faults.cannot_stream(RECORD) is None


def test_a_busy_conversation_heals_by_itself() -> None:
    """OpenAI's clients repeat a 400 that tells them to."""
    assert faults.conversation_locked().headers == {
        "Retry-After": "1",
        "Retry-After-Ms": "1000",
        "X-Should-Retry": "true",
    }


def test_a_store_that_is_away_may_be_back_soon_and_a_damaged_record_stays_damaged() -> None:
    assert faults.store_is_down().headers == {"Retry-After": "1", "Retry-After-Ms": "1000"}
    assert faults.store_is_down().retryable
    assert not faults.unreadable().retryable
    assert faults.unreadable().headers == {}


def test_a_full_background_says_when_to_come_back() -> None:
    assert faults.too_much_in_the_background().headers["Retry-After"] == "5"
