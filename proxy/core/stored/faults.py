"""What can be wrong about what is kept, in the words that clients compare.

Another tenant's response, conversation or item is told of in the same words as one that never was.
"""

from proxy.core.errors import ClientFault, NotFound, OwnWords, ProxyFault, TooLarge, TooMany
from proxy.core.masking.redact import quoted
from proxy.core.stored.record import Record, Status

MIB = 1 << 20

UNREADABLE = "The response could not be stored: what it refers to cannot be read any more."

LOCK_SECONDS = 1.0
"""Seconds after which a turn on a busy conversation may be tried again."""
STORE_SECONDS = 1.0
"""Seconds after which a store that is away may be back."""
PLACE_SECONDS = 5.0
"""Seconds after which background work may have ended."""

LOOKUP_SECONDS = 1.0
"""Seconds after which a request about what is kept may be answered."""

PREVIOUS, CONVERSATION = "previous_response_id", "conversation"

# ── continuing ──


def previous_not_found(id: str) -> ClientFault:
    message = f"Previous response with id {quoted(id)} not found."
    return ClientFault(message, code="previous_response_not_found", param=PREVIOUS)


def nothing_is_kept(id: str) -> ClientFault:
    """Storing is switched off."""
    return ClientFault(
        f"Previous response with id {quoted(id)} not found. Responses are not kept here: leave {PREVIOUS} out and "
        "send the whole history as input.",
        code="previous_response_not_found",
        param=PREVIOUS,
    )


def previous_not_completed(id: str) -> ClientFault:
    return ClientFault(
        f"Previous response with id {quoted(id)} is not completed yet. Wait until it is, or cancel it.",
        code="previous_response_not_completed",
        param=PREVIOUS,
    )


def exclusive() -> ClientFault:
    return ClientFault(
        OwnWords(
            "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing "
            "one of: 'previous_response_id' or 'conversation'."
        ),
        code="mutually_exclusive_parameters",
    )


def nothing_to_answer() -> ClientFault:
    return ClientFault(
        OwnWords(
            "Nothing is to be answered: send at least one item as input, or name a previous_response_id or a "
            "conversation."
        ),
        code="missing_required_parameter",
    )


def history_too_large(limit_bytes: int) -> TooLarge:
    return TooLarge(
        OwnWords(
            f"The history and the input together are over {limit_bytes / MIB:g} MiB: continue a shorter chain, or make "
            "this one shorter by /v1/responses/compact."
        ),
        param="input",
    )


def reference_not_found(id: str) -> NotFound:
    return NotFound(
        f"Item with id {quoted(id)} not found. Items are not persisted when `store` is set to false. Try again with "
        "`store` set to true, or remove this item from your input.",
        param="input",
    )


def no_item_is_kept(id: str) -> NotFound:
    """Storing is switched off."""
    return NotFound(
        f"Item with id {quoted(id)} not found. Items are not persisted here. Try again with `store` set to false and "
        "the item itself in its place, or remove this item from your input.",
        param="input",
    )


# ── responses ──


def response_not_found(id: str) -> NotFound:
    return NotFound(f"Response with id {quoted(id)} not found.", code="response_not_found")


def cannot_cancel(record: Record) -> ClientFault:
    """For a record that is final, and not cancelled: that one is the answer to its cancelling."""
    if not record.background:
        return ClientFault(OwnWords("Cannot cancel a synchronous response."))
    return ClientFault(CANNOT_CANCEL[record.status])


CANNOT_CANCEL = {
    Status.COMPLETED: OwnWords("Cannot cancel a completed response."),
    Status.FAILED: OwnWords("Cannot cancel a failed response."),
    Status.INCOMPLETE: OwnWords("Cannot cancel a response in terminal state."),
}


def cannot_delete() -> ClientFault:
    return ClientFault(OwnWords("Cannot delete an in-flight response."))


def cannot_stream(record: Record) -> ClientFault | None:
    """None: it was made as a stream, in the background, and can be streamed again while its events are kept."""
    if not record.background:
        return _unstreamable(NOT_BACKGROUND)
    if record.streamed is None:
        return events_are_gone()
    return None if record.streamed else _unstreamable(NOT_STREAMED)


NOT_STREAMED = OwnWords("This response cannot be streamed because it was not created with stream=true.")
NOT_BACKGROUND = OwnWords("This response cannot be streamed because it was not created with background=true.")


def events_are_gone() -> ClientFault:
    return _unstreamable(OwnWords("This response can no longer be streamed because its events have expired."))


def _unstreamable(message: OwnWords) -> ClientFault:
    return ClientFault(message, code="invalid_request_error", param="stream")


def no_encrypted_content() -> ClientFault:
    message = OwnWords("Encrypted content cannot be requested for persisted responses.")
    return ClientFault(message, param="include")


def too_much_in_the_background() -> TooMany:
    return TooMany(
        OwnWords("Too many responses are under way in the background: wait until some of them have ended."),
        retry_after=PLACE_SECONDS,
    )


def too_many_questions() -> TooMany:
    return TooMany(
        OwnWords("Too many requests about what is kept are under way: wait until some of them are answered."),
        retry_after=LOOKUP_SECONDS,
    )


def too_many_followers() -> TooMany:
    return TooMany(
        OwnWords("Too many streams follow work in the background: close one, or wait until one ends."),
        retry_after=PLACE_SECONDS,
    )


def too_large_for_the_background(limit_bytes: int) -> TooLarge:
    return TooLarge(
        OwnWords(
            f"Work in the background is kept, and this input is over {limit_bytes / MIB:g} MiB: send less, or leave "
            "background out."
        ),
        param="input",
    )


# ── conversations ──


def conversation_not_found(id: str) -> NotFound:
    return NotFound(f"Conversation with id {quoted(id)} not found.", code="conversation_not_found")


def no_conversation_is_kept() -> NotFound:
    """Storing is switched off."""
    message = OwnWords("There are no conversations: nothing is kept here. Send the whole history as input.")
    return NotFound(message, code="not_found")


def conversation_locked() -> ClientFault:
    return ClientFault(
        OwnWords(
            "Another process is currently operating on this conversation. Please retry in a few seconds."
        ),
        code="conversation_locked",
        param=CONVERSATION,
        retry_after=LOCK_SECONDS,
        retryable=True,
    )


def not_in_conversation(id: str) -> NotFound:
    return NotFound(f"Item with id {quoted(id)} not found in conversation.", code="item_not_found")


def already_in_conversation() -> ClientFault:
    return ClientFault(
        OwnWords("Item already in conversation"), code="item_already_in_conversation", param="items"
    )


def too_many_in_conversation(added: int, limit: int) -> ClientFault:
    return ClientFault(
        OwnWords(
            f"With these {added:d} items the conversation would hold more than {limit:d}, which is the most: delete "
            "some, or begin another one."
        ),
        code="array_above_max_length",
        param="items",
    )


def conversation_is_full(limit: int) -> ClientFault:
    return ClientFault(
        OwnWords(
            f"The conversation holds {limit:d} items, and may hold no more: delete some, or begin another one."
        ),
        code="array_above_max_length",
        param=CONVERSATION,
    )


# ── lists ──


def cursor_not_found(id: str, param: str) -> NotFound:
    return NotFound(f"No item found with id {quoted(id)}", param=param)


# ── the store ──


def store_is_down() -> ProxyFault:
    return ProxyFault(
        OwnWords("What is kept cannot be reached at the moment."),
        code="storage_error",
        status=503,
        retry_after=STORE_SECONDS,
        retryable=True,
    )


def unreadable() -> ProxyFault:
    """Nothing is wrong with the store, and to ask it again does not help."""
    return ProxyFault(
        OwnWords(
            "What is kept of this cannot be read: it is damaged, its key is missing, or a later version has written it."
        ),
        code="storage_error",
        retryable=False,
    )


def too_much_kept() -> TooLarge:
    return TooLarge(
        OwnWords(
            "This asks for more of what is kept than can be read at a time: ask for a smaller page by limit, name "
            "fewer items, or delete large items of the conversation."
        )
    )


# ── what is not offered ──


def no_background() -> ClientFault:
    """Storing is switched off, or a WebSocket asks for it."""
    return ClientFault(
        OwnWords(
            "background is not supported: the response could not be fetched later. Leave it out and read the answer "
            "from this request, streamed or whole."
        ),
        code="unsupported_parameter",
        param="background",
    )


def no_conversations() -> ClientFault:
    """Storing is switched off."""
    return ClientFault(
        OwnWords("conversation is not supported: nothing is kept here. Send the whole history as input."),
        code="unsupported_parameter",
        param=CONVERSATION,
    )
