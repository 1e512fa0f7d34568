"""A whole Chat reply in one body: the same deltas as of a stream, or a fault that echoes nothing."""

from proxy.core.errors import BackendFault, ClientFault, Empty
from proxy.core.events import (
    CallDelta,
    EndDelta,
    Finish,
    FinishDelta,
    ReasoningDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import Usage
from tests.support.chat_chunks import Decoded
from tests.support.tables import table

USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}

COUNTED = UsageDelta(Usage(3, 4, 7))

STOPPED = FinishDelta(Finish.STOP)
MESSAGE = {
    "role": "assistant",
    "content": "Hi",
    "reasoning_content": "Hm",
    "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"index": 0, "type": "function", "function": {"name": "f", "arguments": "{}"}},
    ],
}


class TestBody:
    def test_a_whole_reply_becomes_its_deltas(self) -> None:
        """F17: and of its calls each is one, whatever indexes and ids they lack."""
        reply = {
            "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}],
            "usage": USAGE,
        }
        assert Decoded().body(reply).deltas == [
            ReasoningDelta("Hm"),
            TextDelta("Hi"),
            CallDelta(0, "a", "f", "{}"),
            CallDelta(1, None, "f", "{}"),
            COUNTED,
            STOPPED,
            EndDelta(),
        ]

    def test_calls_of_other_choices_are_further_calls(self) -> None:
        """G14."""
        message = {"tool_calls": MESSAGE["tool_calls"][:1]}
        reply = {"choices": [{"index": 0, "message": message}, {"index": 1, "message": message}]}
        decoded = Decoded(calls_in_other_choices=True).body(reply)
        assert decoded.deltas == [CallDelta(0, "a", "f", "{}"), CallDelta(1, "a", "f", "{}"), EndDelta()]

    def test_text_that_needs_mending_is_mended(self) -> None:
        decoded = Decoded().body(rb'{"choices":[{"message":{"content":"a\ud83d"},"finish_reason":"stop"}]}')
        assert decoded.deltas == [TextDelta("a"), TextDelta("\ufffd"), STOPPED, EndDelta()]

    def test_an_error_is_one(self) -> None:
        """F18."""
        fault = (
            Decoded().body({"error": {"message": "No.", "type": "invalid_request_error", "code": 400}}).fault
        )
        assert isinstance(fault, ClientFault)
        assert fault.message == "No."

    @table("body", [b"", b" \n"])
    def test_nothing_is_an_empty_reply(self, body: bytes) -> None:
        """F19."""
        assert isinstance(Decoded().body(body).fault, Empty)

    @table(
        "body",
        [
            b"<html>secret</html>",
            b'{"choices":[{"mess',
            b"[]",
            b"null",
            b"{}",
            b'{"choices":[]}',
            b'{"choices":"x"}',
        ],
    )
    def test_what_is_no_reply_is_refused_and_not_echoed(self, body: bytes) -> None:
        """F16, F23."""
        decoded = Decoded().body(body)
        assert isinstance(decoded.fault, BackendFault)
        assert decoded.fault.code == "upstream_invalid_response"
        assert "secret" not in decoded.fault.message
        assert len(decoded.deltas) == 1
