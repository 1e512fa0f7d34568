"""The Chat dialect in every variation that backends send: the same deltas, or a counted oddity, never an exception."""

from typing import Any

from proxy.core.errors import Garbled, Overloaded
from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    Finish,
    FinishDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import Usage
from tests.support.chat_chunks import Decoded, calls, chunk, function
from tests.support.tables import table

USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}

COUNTED = UsageDelta(Usage(3, 4, 7))

STOPPED = FinishDelta(Finish.STOP)
ENTRY = {"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": []}

OTHER = {"index": 1, "delta": {"content": "x", "tool_calls": [function(name="f")]}, "finish_reason": "stop"}


def calling(**fields: Any) -> dict[str, Any]:
    return {"tool_calls": [function(**fields)]}


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
            ({"content": {"type": "text", "text": "a"}}, [TextDelta("a")]),
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

    @table(
        ("token", "text"),
        [(6, "6"), (0, "0"), (0.005, "0.005"), (-1, "-1"), (True, "true"), (False, "false")],
    )
    def test_a_token_that_looks_like_a_number_is_text_all_the_same(self, token: Any, text: str) -> None:
        """Cloudflare sends it as one: a citation lost its number, and a price its digits."""
        decoded = Decoded().say(chunk({"content": "["}), chunk({"content": token}), chunk({"content": "]"}))
        assert decoded.deltas == [TextDelta("["), TextDelta(text), TextDelta("]")]
        assert decoded.odd == {"text_as_number": 1}

    def test_a_message_is_read_where_a_delta_was_expected(self) -> None:
        """F47."""
        assert Decoded().say({"choices": [{"message": {"content": "Hi"}}]}).deltas == [TextDelta("Hi")]

    def test_a_stream_may_call_all_its_deltas_messages(self) -> None:
        """F47: nothing of it is lost."""
        said = [{"role": "assistant", "content": ""}, {"content": "a"}, {"content": "b"}, calling(name="f")]
        decoded = Decoded().say(*({"choices": [{"message": message}]} for message in said))
        assert decoded.deltas == [TextDelta("a"), TextDelta("b"), CallDelta(0, None, "f", "")]

    def test_a_message_behind_deltas_repeats_them(self) -> None:
        """F47: also where the first chunk, which says nothing yet, was called so."""
        role = {"choices": [{"message": {"role": "assistant", "content": ""}}]}
        whole = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
        assert Decoded().say(role, chunk({"content": "Hi"}), whole).deltas == [TextDelta("Hi"), STOPPED]

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

    def test_a_piece_of_arguments_may_look_like_a_number(self) -> None:
        pieces = [
            calls(function(name="f", arguments='{"n":')),
            calls(function(arguments=42)),
            calls(function(arguments="}")),
        ]
        decoded = Decoded().say(*pieces)
        assert [delta.arguments for delta in decoded.deltas if isinstance(delta, CallDelta)] == [
            '{"n":',
            "42",
            "}",
        ]

    @table(
        "held",
        [
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}},
            {"0": {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}},
        ],
        ids=["one by itself", "by its index"],
    )
    def test_an_object_in_place_of_the_list(self, held: Any) -> None:
        decoded = Decoded().say(chunk({"tool_calls": held}))
        assert decoded.deltas == [CallDelta(0, "a", "f", "{}")]
        assert decoded.odd == {"calls_not_a_list": 1}

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

    @table("index", [{}, {"index": None}, {"index": "0"}, {"index": 0.0}])
    def test_the_index_of_the_first_in_any_form(self, index: Any) -> None:
        """F50."""
        decoded = Decoded().say({"choices": [{"delta": {"content": "Hi"}, **index}]})
        assert (decoded.deltas, decoded.odd) == ([TextDelta("Hi")], {})


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
