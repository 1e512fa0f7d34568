"""The Chat dialect in every variation that backends send: the same deltas, or a counted oddity, never an exception."""

from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.chat.decode import ChatDecoder
from proxy.core.dialects.reading.decoding import MAX_KEPT_DEPTH
from proxy.core.errors import BackendFault, ClientFault, Empty, Garbled, Overloaded, RateLimited
from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    ErrorDelta,
    Finish,
    FinishDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Usage
from proxy.core.profile import DEFAULT
from tests.support import chat_requests
from tests.support.chat_requests import nested
from tests.support.tables import table

USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
COUNTED = UsageDelta(Usage(3, 4, 7))
STOPPED = FinishDelta(Finish.STOP)


class Decoded(chat_requests.Decoded):
    def __init__(self, **profile: Any) -> None:
        super().__init__()
        self.decoder = ChatDecoder(self.deltas.append, replace(DEFAULT, **profile), self.ledger)


def chunk(delta: Any = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def calls(*calls: Any) -> dict[str, Any]:
    return chunk({"tool_calls": list(calls)})


def function(**fields: Any) -> dict[str, Any]:
    return {"index": 0, "function": fields}


ENTRY = {"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": []}
ERROR = {"message": "Slow down", "code": "rate_limit_exceeded"}
OTHER = {"index": 1, "delta": {"content": "x", "tool_calls": [function(name="f")]}, "finish_reason": "stop"}
MESSAGE = {
    "role": "assistant",
    "content": "Hi",
    "reasoning_content": "Hm",
    "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"index": 0, "type": "function", "function": {"name": "f", "arguments": "{}"}},
    ],
}


class TestText:
    @table(
        ("delta", "deltas"),
        [
            ({"content": "Hi"}, [TextDelta("Hi")]),
            ({"role": "assistant", "content": " \n"}, [TextDelta(" \n")]),
            ({"role": "assistant", "content": ""}, []),
            ({"content": ""}, []),
            ({"content": None}, []),
            ({"role": "assistant"}, []),
            ({}, []),
            (None, []),
            (
                {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                [TextDelta("a"), TextDelta("b")],
            ),
            ({"content": []}, []),
            ({"refusal": "No."}, [RefusalDelta("No.")]),
            (
                {"content": "Hi", "refusal": None, "tool_calls": None, "function_call": None},
                [TextDelta("Hi")],
            ),
        ],
    )
    def test_content_in_all_its_forms(self, delta: Any, deltas: list[Delta]) -> None:
        """F47, F48, F49, F58."""
        decoded = Decoded().say(chunk(delta))
        assert decoded.deltas == deltas
        assert decoded.odd == {}

    def test_a_message_is_read_where_a_delta_was_expected(self) -> None:
        """F47."""
        assert Decoded().say({"choices": [{"message": {"content": "Hi"}}]}).deltas == [TextDelta("Hi")]

    @table("chunk", [{"choices": []}, {"choices": [], "prompt_filter_results": [{}]}])
    def test_a_chunk_without_choices_is_harmless(self, chunk: Any) -> None:
        """F47: Azure begins with one."""
        decoded = Decoded().say(chunk)
        assert decoded.deltas == []
        assert decoded.odd == {}


class TestReasoning:
    @table("name", ["reasoning_content", "reasoning", "reasoning_text"])
    def test_it_is_read_under_each_of_its_names(self, name: str) -> None:
        """G13, F57."""
        assert Decoded().say(chunk({name: "Hm"})).deltas == [ReasoningDelta("Hm")]

    def test_of_two_fields_with_the_same_text_one_is_read(self) -> None:
        """G13: Chutes sends both."""
        delta = {"reasoning_content": "Hm", "reasoning": "Hm"}
        assert Decoded().say(chunk(delta)).deltas == [ReasoningDelta("Hm")]

    def test_an_empty_field_does_not_hide_the_other(self) -> None:
        delta = {"reasoning_content": "", "reasoning": None, "reasoning_text": "Hm"}
        assert Decoded().say(chunk(delta)).deltas == [ReasoningDelta("Hm")]

    def test_details_are_read_only_where_there_is_no_text(self) -> None:
        details = [{"type": "reasoning.text", "text": "Hm"}, {"type": "reasoning.encrypted", "data": "x"}]
        assert Decoded().say(chunk({"reasoning_details": details})).deltas == [ReasoningDelta("Hm")]
        both = {"reasoning": "Hm", "reasoning_details": details}
        assert Decoded().say(chunk(both)).deltas == [ReasoningDelta("Hm")]
        assert Decoded().say(chunk({"reasoning_details": details[1:]})).deltas == []

    def test_mistral_thinks_in_a_part_of_the_content(self) -> None:
        content = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]},
            {"type": "text", "text": "Hi"},
        ]
        assert Decoded().say(chunk({"content": content})).deltas == [ReasoningDelta("Hm"), TextDelta("Hi")]

    def test_in_one_chunk_it_comes_before_what_was_thought_about(self) -> None:
        delta = {
            "tool_calls": [function(name="f")],
            "refusal": "No",
            "content": "Hi",
            "reasoning": "Hm",
        }
        kinds = [type(one) for one in Decoded().say(chunk(delta)).deltas]
        assert kinds == [ReasoningDelta, TextDelta, RefusalDelta, CallDelta]


class TestLogprobs:
    def chunk(self, content: str | None) -> dict[str, Any]:
        return {"choices": [{"delta": {"content": content}, "logprobs": {"content": [ENTRY]}}]}

    def test_they_go_with_their_text(self) -> None:
        assert Decoded().say(self.chunk("Hi")).deltas == [TextDelta("Hi", [ENTRY])]

    def test_those_of_a_token_without_text_wait_for_the_next_text(self) -> None:
        """The first bytes of a character are a token, but no text."""
        decoded = Decoded().say(self.chunk(""), self.chunk(None), self.chunk("Hi"), self.chunk("Hi"))
        assert decoded.deltas == [TextDelta("Hi", [ENTRY] * 3), TextDelta("Hi", [ENTRY])]

    def test_v33_those_of_a_thought_are_not_those_of_the_answer(self) -> None:
        thought = {"choices": [{"delta": {"reasoning": "Hm"}, "logprobs": {"content": [{"token": "Hm"}]}}]}
        assert Decoded().say(thought, self.chunk("Hi")).deltas == [
            ReasoningDelta("Hm"),
            TextDelta("Hi", [ENTRY]),
        ]
        message = {"reasoning_content": "Hm", "content": "Hi"}
        said = {"content": [{"token": "Hm"}, {"token": "</think>"}, ENTRY, {"token": "<|im_end|>"}]}
        whole = {"choices": [{"delta": message, "logprobs": said}]}
        assert Decoded().say(whole).deltas == [ReasoningDelta("Hm"), TextDelta("Hi", [ENTRY])]

    def test_no_numbers_at_all_do_not_lose_the_text(self) -> None:
        """F35."""
        text = b'{"choices":[{"delta":{"content":"Hi"},"logprobs":{"content":[{"token":"Hi","logprob":-Infinity}]}}]}'
        decoded = Decoded().say(text)
        entry = {"token": "Hi", "logprob": None, "bytes": [72, 105], "top_logprobs": []}
        assert decoded.deltas == [TextDelta("Hi", [entry])]
        assert decoded.odd == {"json_mended": 1}


class TestCalls:
    def test_fragments_are_passed_on_as_they_come(self) -> None:
        decoded = Decoded().say(
            calls({"index": 1, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}),
            calls({"index": 1, "function": {"arguments": '{"a":'}}),
            calls({"index": 1, "id": "", "function": {"name": None, "arguments": "1}"}}),
        )
        assert decoded.deltas == [
            CallDelta(1, "c1", "f", ""),
            CallDelta(1, None, None, '{"a":'),
            CallDelta(1, None, None, "1}"),
        ]
        assert decoded.odd == {}

    def test_several_in_one_chunk_keep_their_order(self) -> None:
        """F52."""
        first, second = {"index": 0, "id": "a", "function": {}}, {"index": 1, "id": "b", "function": {}}
        assert Decoded().say(calls(first, second)).deltas == [CallDelta(0, "a"), CallDelta(1, "b")]

    @table("index", [None, "0", 1.5, {}])
    def test_an_index_that_is_none_is_missing(self, index: Any) -> None:
        """F51: the assembler can do without."""
        call = {"index": index, "id": "a", "function": {"name": "f"}}
        assert Decoded().say(calls(call)).deltas == [CallDelta(None, "a", "f")]

    @table(
        ("arguments", "text"),
        [
            ('{"a":1}', '{"a":1}'),
            ({"a": [1, "é"]}, '{"a":[1,"é"]}'),
            ({}, "{}"),
            ([1], "[1]"),
            (None, ""),
            ("", ""),
        ],
    )
    def test_arguments_become_text(self, arguments: Any, text: str) -> None:
        """F53."""
        decoded = Decoded().say(calls(function(name="f", arguments=arguments)))
        assert decoded.deltas == [CallDelta(0, None, "f", text)]
        assert decoded.odd == {}

    def test_arguments_nested_too_deeply_to_be_written_fail_the_reply(self) -> None:
        """S18."""
        deep = b'{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":%b}}]}}]}'
        decoded = Decoded().say(deep % (b"[" * 400 + b"]" * 400))
        assert isinstance(decoded.fault, Garbled)

    def test_the_form_before_there_were_tools(self) -> None:
        """F55."""
        decoded = Decoded().say(
            chunk({"function_call": {"name": "f", "arguments": ""}}),
            chunk({"function_call": {"arguments": "{}"}}, "function_call"),
        )
        assert decoded.deltas == [CallDelta(0, None, "f"), CallDelta(0, None, None, "{}"), STOPPED]

    def test_a_call_said_in_both_forms_is_one(self) -> None:
        delta = {"tool_calls": [function(name="f")], "function_call": {"name": "f"}}
        assert Decoded().say(chunk(delta)).deltas == [CallDelta(0, None, "f")]

    def test_the_fields_may_stand_outside_of_function(self) -> None:
        decoded = Decoded().say(calls({"index": 0, "id": "a", "name": "f", "arguments": "{}"}))
        assert decoded.deltas == [CallDelta(0, "a", "f", "{}")]
        assert decoded.odd == {"call_without_function": 1}

    def test_a_fragment_that_says_nothing_is_nothing(self) -> None:
        """Otherwise it would become a call without a name."""
        assert Decoded().say(calls(function(arguments=""), function(name="", arguments=None))).deltas == []


class TestChoices:
    def test_only_the_first_is_read(self) -> None:
        """F50."""
        decoded = Decoded().say({"choices": [{"index": 0, "delta": {"content": "Hi"}}, OTHER]})
        assert decoded.deltas == [TextDelta("Hi")]
        assert decoded.odd == {"other_choice": 1}

    def test_where_the_profile_says_so_calls_are_taken_from_the_others(self) -> None:
        """G14: Copilot."""
        decoded = Decoded(calls_in_other_choices=True).say({"choices": [OTHER]})
        assert decoded.deltas == [CallDelta(0, None, "f"), STOPPED]
        assert decoded.odd == {}

    def test_an_index_may_be_missing_or_null(self) -> None:
        for choice in ({"delta": {"content": "Hi"}}, {"index": None, "delta": {"content": "Hi"}}):
            assert Decoded().say({"choices": [choice]}).deltas == [TextDelta("Hi")]


class TestUsage:
    @table(
        "chunk",
        [
            {"choices": [], "usage": USAGE},
            {"choices": [{"delta": {}, "usage": USAGE}], "usage": None},
            {"choices": [], "x_groq": {"id": "x", "usage": USAGE}},
            {"usage": USAGE},
        ],
        ids=["its place", "Moonshot: in the choice", "Groq: in a field of its own", "no choices at all"],
    )
    def test_it_is_found_where_backends_put_it(self, chunk: Any) -> None:
        """G15."""
        chunk = dict(chunk)
        if chunk.get("choices"):
            chunk["choices"] = [{**chunk["choices"][0], "finish_reason": "stop"}]
        assert Decoded().say(chunk).deltas[0] == COUNTED

    def test_in_every_chunk_it_comes_with_every_chunk(self) -> None:
        """F44: the last one counts."""
        decoded = Decoded().say(chunk({"content": "Hi"}, usage=USAGE), chunk({}, "stop", usage=USAGE))
        assert decoded.deltas == [TextDelta("Hi"), COUNTED, COUNTED, STOPPED]

    @table("usage", [None, {}, 0, ""])
    def test_nothing_counted_is_nothing_said(self, usage: Any) -> None:
        decoded = Decoded().say({"choices": [], "usage": usage}, chunk({}, usage=usage))
        assert decoded.deltas == []
        assert decoded.odd == {}

    def test_nonsense_is_counted_as_odd(self) -> None:
        decoded = Decoded().say({"choices": [], "usage": "much"}, {"choices": [], "x_groq": 3})
        assert decoded.deltas == []
        assert decoded.odd == {"usage_without_counts": 1}


class TestFinish:
    def test_it_follows_what_its_chunk_says(self) -> None:
        decoded = Decoded().say(chunk({"content": "!"}, "length", usage=USAGE))
        assert decoded.deltas == [TextDelta("!"), COUNTED, FinishDelta(Finish.LENGTH)]

    @table("finish", ["", None])
    def test_an_empty_word_is_none(self, finish: Any) -> None:
        """G16: xAI."""
        assert Decoded().say(chunk({}, finish)).deltas == []

    def test_a_word_is_told_once(self) -> None:
        """F45: and another one too, for it may say that the reply was cut after all."""
        decoded = Decoded().say(chunk({}, "stop"), chunk({"content": "x"}, "stop"), chunk({}, "length"))
        assert decoded.deltas == [STOPPED, TextDelta("x"), FinishDelta(Finish.LENGTH)]
        assert decoded.odd == {"finish_repeated": 1}

    def test_a_failure_is_told_as_one(self) -> None:
        assert isinstance(Decoded().say(chunk({}, "insufficient_system_resource")).fault, Overloaded)

    @table(
        "spoken",
        [{"content": "Hi"}, {"reasoning": "Hm"}, {"tool_calls": [function(name="f")]}, {"content": ["Hi"]}],
    )
    def test_a_full_context_window_after_some_output_is_a_cut(self, spoken: Any) -> None:
        decoded = Decoded().say(chunk(spoken), chunk({}, "model_context_window_exceeded"))
        assert decoded.deltas[-1] == FinishDelta(Finish.LENGTH)

    def test_a_full_context_window_without_output_is_an_overflow(self) -> None:
        fault = Decoded().say(chunk({"content": ""}, "model_context_window_exceeded")).fault
        assert fault.code == "context_length_exceeded"

    def test_what_is_no_word_proves_nothing(self) -> None:
        """F41: DashScope writes `"null"` where others have none."""
        decoded = Decoded().say(chunk({}, True), chunk({}, "null"))
        assert decoded.deltas == []
        assert decoded.odd == {"finish_not_a_word": 2}

    @table("mark", [b"[DONE]", b" [DONE] ", b"[DONE]\n", b"[DONE] bye"])
    def test_the_end_mark(self, mark: bytes) -> None:
        assert Decoded().say(mark).deltas == [EndDelta()]


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
            (chunk({"content": 7}), "text_not_a_string"),
            (chunk({"content": {"text": "x"}}), "text_not_a_string"),
            (chunk({"content": [{"type": "image"}]}), "content_part_unknown"),
            (chunk({"reasoning": {"x": 1}}), "text_not_a_string"),
            (chunk({"refusal": ["x"]}), "text_not_a_string"),
            (chunk({"tool_calls": {"index": 0}}), "calls_not_a_list"),
            (chunk({"tool_calls": "x"}), "calls_not_a_list"),
            (calls("x", None), "call_not_an_object"),
            (calls({"index": 0, "function": None}), "call_without_function"),
            (calls({"index": 0, "function": "f"}), "call_without_function"),
            (chunk({"function_call": "f"}), "call_without_function"),
            (calls(function(arguments=3)), "arguments_not_text"),
            (calls(function(name=["f"], id=3, arguments=True)), "arguments_not_text"),
        ],
    )
    def test_no_shape_makes_it_raise(self, chunk: Any, odd: str) -> None:
        decoded = Decoded().say(chunk)
        assert decoded.deltas == []
        assert odd in decoded.odd


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


def test_what_the_backend_will_want_back_is_kept_beside_the_words() -> None:
    """Only where it is wanted back, and only if a client carries it."""
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    said = chunk({"reasoning": "Hm", "reasoning_details": details})
    kept: list[Any] = []
    for replay, keep in (
        ("reasoning_details", kept.append),
        ("none", kept.append),
        ("reasoning_details", None),
    ):
        deltas: list[Delta] = []
        profile = replace(DEFAULT, replay=replay)
        decoder = ChatDecoder(deltas.append, profile, Ledger(), keep)
        for one in (said, chunk({"reasoning_details": []}), chunk({"reasoning_details": "x"})):
            decoder.event(jsontext.dumps(one), b"")
        assert deltas == [ReasoningDelta("Hm")]
    assert kept == [{"chat": {"reasoning_details": details}}]


def test_what_stands_beside_a_call_is_kept_under_its_id() -> None:
    """Gemini's proof that the call is its own."""
    proof = {"google": {"thought_signature": "sig"}}
    function = {"name": "f", "arguments": "{}"}
    calls = [
        {"index": 0, "id": "a", "function": function, "extra_content": proof},
        {"index": 1, "id": "b", "function": function},
        {"index": 2, "function": function, "extra_content": proof},
    ]
    for signed, expected in (
        (True, [{"chat": {"proofs": [{"id": "a", "extra_content": proof}]}}]),
        (False, []),
    ):
        kept: list[Any] = []
        profile = replace(DEFAULT, signed_calls=signed)
        ChatDecoder([].append, profile, Ledger(), kept.append).event(
            jsontext.dumps(chunk({"tool_calls": calls})), b""
        )
        assert kept == expected


@table(
    "delta",
    [
        {"reasoning_details": [nested(MAX_KEPT_DEPTH)]},
        {"tool_calls": [{"index": 0, "id": "a", "extra_content": nested(MAX_KEPT_DEPTH + 1)}]},
    ],
)
def test_attack_27_what_is_too_deep_to_be_sent_back_is_the_backends_fault(delta: dict[str, Any]) -> None:
    deltas: list[Delta] = []
    kept: list[Any] = []
    profile = replace(DEFAULT, replay="reasoning_details", signed_calls=True)
    ChatDecoder(deltas.append, profile, Ledger(), kept.append).event(jsontext.dumps(chunk(delta)), b"")
    assert [type(one.fault) for one in deltas if isinstance(one, ErrorDelta)] == [Garbled]
    assert not kept


BIG = "20000000000000000001"


def test_attack_21_arguments_that_are_objects_keep_every_digit() -> None:
    """Of several calls each its own, though all look the same once they are rounded."""
    said = [
        f'{{"index":{index},"id":"{index}","function":{{"name":"f","arguments":{{"a":[{index},{BIG[:-1]}{index}]}}}}}}'
        for index in range(3)
    ]
    decoded = Decoded().say(f'{{"choices":[{{"delta":{{"tool_calls":[{",".join(said)}]}}}}]}}'.encode())
    told = [delta.arguments for delta in decoded.deltas if isinstance(delta, CallDelta)]
    assert told == [f'{{"a":[{index},{BIG[:-1]}{index}]}}' for index in range(3)]


def test_attack_21_digits_elsewhere_in_an_event_or_before_it_are_none_of_theirs() -> None:
    call = '{"index":0,"id":"a","function":{"name":"f","arguments":{"a":1}}}'
    clean = f'{{"created":{BIG},"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}'.encode()
    mended = b"\xef\xbb\xbf" + f'{{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}'.encode()
    for events in ([clean], [clean, mended]):
        decoded = Decoded().say(*events)
        assert decoded.deltas[-1] == CallDelta(0, "a", "f", '{"a":1}')


def test_attack_21_numbers_too_long_to_be_read_fail_by_name() -> None:
    call = f'{{"index":0,"id":"a","function":{{"name":"f","arguments":{{"a":{BIG}}}}}}}'
    filler = "x" * jsontext.MAX_EXACT
    decoded = Decoded().say(
        f'{{"filler":"{filler}","choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}'.encode()
    )
    failure = decoded.deltas[0]
    assert isinstance(failure, ErrorDelta)
    assert failure.fault.message.endswith("nested too deeply, or hold numbers that are too long.")
