"""What a Chat backend says wrongly: errors in any form, text that is not clean, and shapes without meaning."""

from typing import Any

from proxy.core.dialects.chat.template import SHORT
from proxy.core.errors import Garbled, Overloaded, RateLimited
from proxy.core.events import (
    EndDelta,
    Finish,
    FinishDelta,
    TextDelta,
)
from tests.support.chat_chunks import Decoded, calls, chunk
from tests.support.tables import table

STOPPED = FinishDelta(Finish.STOP)
ERROR = {"message": "Slow down", "code": "rate_limit_exceeded"}


class TestWhatHasNoPlace:
    @table(
        "delta", [{"images": [{"type": "image_url"}]}, {"content": "Hi", "audio": {"id": "a"}, "name": None}]
    )
    def test_is_counted(self, delta: Any) -> None:
        assert Decoded().say(chunk(delta)).odd == {"delta_field_unknown": 1}

    def test_nothing_is_not(self) -> None:
        """LiteLLM and others write each field that they know."""
        assert Decoded().say(chunk({"content": "Hi", "audio": None, "annotations": []})).odd == {}


class TestErrors:
    @table(
        "chunk",
        [
            {"error": ERROR},
            {"error": ERROR, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]},
            {"error": ERROR, "choices": [{"delta": {}}]},
            {"choices": [{"delta": {}, "finish_reason": "error", "error": ERROR}]},
            {"object": "error", **ERROR},
            {"detail": "Rate limit reached: too many requests"},
            {"type": "error", "error": ERROR},
            {"x_groq": {"id": "x", "error": "Rate limit reached"}, "choices": []},
            {"x_groq": {"id": "x", "error": "Rate limit reached"}, "choices": [{"delta": {}}]},
            {"x_groq": {"error": "Rate limit reached"}, "choices": [{"delta": {}, "finish_reason": "stop"}]},
        ],
    )
    def test_an_error_inside_the_stream(self, chunk: Any) -> None:
        """F20."""
        fault = Decoded().say(chunk).fault
        assert isinstance(fault, RateLimited)

    @table(
        "payload", [{"error": ERROR}, ERROR, "rate limit", b"rate limit, not JSON", {"choices": [], **ERROR}]
    )
    def test_an_event_that_is_called_error(self, payload: Any) -> None:
        """F20."""
        assert isinstance(Decoded().say(payload, event=b"error").fault, RateLimited)

    def test_a_ping_need_not_be_json(self) -> None:
        """F30."""
        decoded = Decoded().say(b"2023-05-01 12:00:00.000", event=b"ping").say(chunk({"content": "Hi"}))
        assert (decoded.deltas, decoded.odd) == ([TextDelta("Hi")], {"ping_with_words": 1})

    def test_other_names_of_events_mean_nothing(self) -> None:
        assert Decoded().say(chunk({"content": "Hi"}), event=b"message").deltas == [TextDelta("Hi")]

    def test_groq_says_by_a_word_why_it_stopped(self) -> None:
        """F20: beside a finish reason, or without one."""
        assert isinstance(Decoded().say(chunk({}, x_groq={"error": "over_capacity"})).fault, Overloaded)

    @table("error", [None, {}, "", {"message": "", "type": "", "code": None}])
    def test_an_empty_error_is_none(self, error: Any) -> None:
        decoded = Decoded().say(chunk({"content": "Hi"}, error=error, base_resp={"status_code": 0}))
        assert decoded.deltas == [TextDelta("Hi")]

    def test_minimax_fails_with_a_number(self) -> None:
        base = {"status_code": 1039, "status_msg": "token limit"}
        assert isinstance(Decoded().say({"choices": None, "base_resp": base}).fault, RateLimited)
        assert isinstance(Decoded().say(chunk({}, "stop", base_resp=base)).fault, RateLimited)

    @table("payload", [b"{", b"<html>502</html>", b"Internal Server Error", b'{"a":\n1', b"NaN"])
    def test_what_is_not_json_breaks_the_protocol(self, payload: bytes) -> None:
        """F34: passing it over would lose text in silence; S06: it is not echoed."""
        decoded = Decoded().say(payload)
        assert isinstance(decoded.fault, Garbled)
        assert decoded.fault.code == "upstream_protocol_error"
        assert payload.decode() not in decoded.fault.message


class TestUncleanText:
    def test_events_that_run_together_are_taken_one_by_one(self) -> None:
        """A server that forgets its blank lines: the parser joins their data."""
        payload = (
            b'{"choices":[{"delta":{"content":"a"}}]}\n\n{"choices":[{"delta":{"content":"b"}}]}\n[DONE]'
        )
        decoded = Decoded().say(payload)
        assert decoded.deltas == [TextDelta("a"), TextDelta("b"), EndDelta()]
        assert decoded.odd == {"events_run_together": 1}

    def test_one_chunk_in_several_lines_is_one_chunk(self) -> None:
        """F26."""
        assert Decoded().say(b'{"choices":\n[{"delta":{"content":"a"}}]}').deltas == [TextDelta("a")]

    def test_blank_data_is_nothing(self) -> None:
        assert Decoded().say(b" ", b"\n").deltas == []

    def test_invalid_bytes_are_replaced_and_counted(self) -> None:
        """F29."""
        decoded = Decoded().say(b'{"choices":[{"delta":{"content":"a\xffb"}}]}')
        assert decoded.deltas == [TextDelta("a\ufffdb")]
        assert decoded.odd == {"json_mended": 1}

    def test_half_characters_are_joined_over_deltas(self) -> None:
        """F36."""
        halves = [
            rb'{"choices":[{"delta":{"content":"a\ud83d"}}]}',
            rb'{"choices":[{"delta":{"content":"\ude00b"}}]}',
        ]
        deltas = Decoded().say(*halves, *halves).deltas
        assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "a😀ba😀b"

    def test_nothing_overtakes_a_half_that_is_waited_for(self) -> None:
        """Whatever the events before it have in common."""
        words = [b"a"] * (SHORT + 1) + [rb"b\ud83d", b"c"]
        deltas = Decoded().say(*(b'{"choices":[{"delta":{"content":"%b"}}]}' % word for word in words)).deltas
        assert deltas[-2:] == [TextDelta("b"), TextDelta("\ufffdc")]

    def test_a_half_that_stays_alone_is_replaced_at_the_end(self) -> None:
        decoded = Decoded().say(rb'{"choices":[{"delta":{"content":"a\ud83d"}}]}', chunk({}, "stop"))
        assert decoded.deltas == [TextDelta("a"), TextDelta("\ufffd"), STOPPED]

    @table("value", [b"null", b"3", b'"text"', b"[]", b'["x"]'])
    def test_json_that_is_no_chunk_is_odd(self, value: bytes) -> None:
        decoded = Decoded().say(value)
        assert decoded.deltas == []
        assert decoded.odd == {"chunk_not_an_object": 1}

    @table(
        ("chunk", "odd"),
        [
            ({}, "chunk_without_choices"),
            ({"choices": {"delta": {}}}, "choices_not_a_list"),
            ({"choices": "x"}, "choices_not_a_list"),
            ({"choices": ["x"]}, "choice_not_an_object"),
            (chunk(["x"]), "delta_not_an_object"),
            (chunk("x"), "delta_not_an_object"),
            (chunk({"content": {"text": "x"}}), "content_part_unknown"),
            (chunk({"content": [{"type": "image"}]}), "content_part_unknown"),
            (chunk({"reasoning": {"x": 1}}), "text_not_a_string"),
            (chunk({"refusal": ["x"]}), "text_not_a_string"),
            (chunk({"tool_calls": {"index": 0}}), "calls_not_a_list"),
            (chunk({"tool_calls": "x"}), "calls_not_a_list"),
            (calls("x", None), "call_not_an_object"),
            (calls({"index": 0, "function": None}), "call_without_function"),
            (calls({"index": 0, "function": "f"}), "call_without_function"),
            (chunk({"function_call": "f"}), "call_without_function"),
            (chunk({"refusal": {"x": 1}}), "text_not_a_string"),
        ],
    )
    def test_no_shape_makes_it_raise(self, chunk: Any, odd: str) -> None:
        decoded = Decoded().say(chunk)
        assert decoded.deltas == []
        assert odd in decoded.odd
