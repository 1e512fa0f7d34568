"""Gemini's replies in every variation: the same deltas, or a counted oddity, never an exception."""

from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.google.decode import GoogleDecoder
from proxy.core.dialects.google.signatures import as_extras
from proxy.core.errors import BackendFault, ClientFault, Empty, Garbled, Overloaded
from proxy.core.events import (
    CallDelta,
    EndDelta,
    Finish,
    FinishDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Usage
from tests.support.google_requests import NEW, SIGNATURE, Decoded, chunk, function_call, google, text
from tests.support.quickness import quickly
from tests.support.tables import table

STOPPED = FinishDelta(Finish.STOP)
UNAVAILABLE = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
DEEP = b'{"a":' * 300 + b"1" + b"}" * 300


def test_parts_are_read_by_their_fields_in_order() -> None:
    """Thoughts, text and whole calls, and whatever lies between them."""
    said = Decoded().say(
        chunk(text("Hm", thought=True), text("Hi"), text("")),
        chunk(function_call("f", {"a": 1}, "c1"), function_call("g", id="c2"), text("Bye"), finish="STOP"),
    )
    assert said.deltas == [
        ReasoningDelta("Hm"),
        TextDelta("Hi"),
        CallDelta(0, "c1", "f", '{"a":1}'),
        CallDelta(1, "c2", "g", "{}"),
        TextDelta("Bye"),
        STOPPED,
    ]
    assert not said.odd


# ── ids of calls ──


def test_a_call_without_an_id_gets_the_form_that_clients_know() -> None:
    """P01, N03: call_{time}_{name}, and a number where two would share it."""
    said = Decoded().say(chunk(function_call("f"), function_call("f", {"a": 1}), function_call("g")))
    assert [each.id for each in said.deltas if isinstance(each, CallDelta)] == [
        "call_17_f",
        "call_17_f_2",
        "call_17_g",
    ]


def test_two_calls_never_share_an_id() -> None:
    said = Decoded().say(
        chunk(function_call("f", id="c"), function_call("g", id="c"), function_call("h", id="c"))
    )
    assert [each.id for each in said.deltas if isinstance(each, CallDelta)] == ["c", "c_2", "c_3"]


def test_a_call_that_is_said_again_is_one_call() -> None:
    said = Decoded().say(chunk(function_call("f", {"a": 1}, "c")), chunk(function_call("f", {"a": 1}, "c")))
    assert said.deltas == [CallDelta(0, "c", "f", '{"a":1}')]
    assert said.odd == {"call_repeated": 1}


@table(
    ("args", "arguments"),
    [
        ({"b": 1, "a": [1.5, None, "é"]}, '{"b":1,"a":[1.5,null,"é"]}'),
        (None, "{}"),
        ('{"cut": ', '{"cut": '),
        ([1], "[1]"),
    ],
)
def test_arguments_are_passed_on_as_they_are(args: Any, arguments: str) -> None:
    [call] = Decoded().say(chunk(function_call("f", args, "c"))).deltas
    assert call == CallDelta(0, "c", "f", arguments)


@table(
    "call",
    [
        b'{"name": "f", "willContinue": true}',
        b'{"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}]}',
        b'{"name": "f", "args": ' + DEEP + b"}",
    ],
)
def test_arguments_that_cannot_be_told_end_the_reply(call: bytes) -> None:
    said = Decoded().say(b'{"candidates":[{"content":{"parts":[{"functionCall":' + call + b"}]}}]}")
    assert isinstance(said.fault, Garbled)


# ── signatures ──


@table(
    ("part", "place"),
    [
        (function_call("f", id="c"), "call"),
        (text("Hi"), "text"),
        (text("Hm", thought=True), "thought"),
        (text(""), "end"),
    ],
)
def test_a_signature_is_kept_before_what_it_came_with(part: dict[str, Any], place: Any) -> None:
    """On any part, also on an empty last one."""
    order: list[Any] = []
    decoder = GoogleDecoder(order.append, google(), Ledger(), order.append, model=f"models/{NEW}")
    decoder.event(
        b'{"candidates":[{"content":{"parts":[' + _json(part | {"thoughtSignature": SIGNATURE}) + b"]}}]}",
        b"",
    )
    assert order[0] == as_extras(SIGNATURE, place, NEW)
    assert len(order) == (1 if place == "end" else 2)


def test_new_signatures_are_kept_also_where_older_ones_were_refused() -> None:
    signed = chunk(text("Hi", thoughtSignature=SIGNATURE), text("", thoughtSignature=7))
    assert len(Decoded(signed_calls=False).say(signed).kept) == 1


def test_signatures_are_passed_over_where_nobody_carries_them() -> None:
    signed = chunk(text("Hi", thoughtSignature=SIGNATURE))
    deltas: list[Any] = []
    GoogleDecoder(deltas.append, google(), Ledger()).event(_json(signed), b"")
    assert deltas == [TextDelta("Hi")]


def test_a_thought_without_words_is_none() -> None:
    deltas: list[Any] = []
    GoogleDecoder(deltas.append, google(), Ledger()).event(_json(chunk(text("", thought=True))), b"")
    assert deltas == []


def test_a_signature_by_itself_is_not_kept() -> None:
    """Sent back, it would be a part without data."""
    said = Decoded().say(chunk({"thoughtSignature": SIGNATURE}))
    assert (said.kept, said.deltas, said.odd) == ([], [], {"part_unknown": 1})


# ── the ending ──


def test_the_finish_comes_after_usage_and_is_said_once() -> None:
    counts = {"promptTokenCount": 5, "totalTokenCount": 5}
    said = Decoded().say(
        chunk(text("Hi"), finish="STOP", usageMetadata=counts),
        chunk(finish="STOP", usageMetadata={"candidatesTokenCount": 2, "totalTokenCount": 7}),
    )
    assert said.deltas == [
        TextDelta("Hi"),
        UsageDelta(Usage(5, 0, 5)),
        STOPPED,
        UsageDelta(Usage(5, 2, 7)),
    ]
    assert said.odd == {"finish_repeated": 1}


def test_a_failure_after_a_call_is_a_failure() -> None:
    """MALFORMED_FUNCTION_CALL is no empty success, even if a call was parsed."""
    said = Decoded().say(
        {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed: print(f()"}]}
    )
    assert isinstance(said.fault, BackendFault)
    assert said.fault.retryable
    assert "Malformed: print(f()" in said.fault.message


def test_a_blocked_prompt_is_filtered() -> None:
    said = Decoded().say({"promptFeedback": {"blockReason": "SAFETY"}})
    assert said.deltas == [FinishDelta(Finish.FILTER)]


def test_why_something_was_blocked_is_told_where_it_is_said() -> None:
    """C05: the words of the refusal."""
    said = Decoded().say({"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "No."}})
    assert said.deltas == [RefusalDelta("No."), FinishDelta(Finish.FILTER)]
    said = Decoded().say({"candidates": [{"finishReason": "SAFETY", "finishMessage": "Not that."}]})
    assert said.deltas == [RefusalDelta("Not that."), FinishDelta(Finish.FILTER)]


def test_an_end_mark_counts_only_after_a_finish() -> None:
    said = Decoded().say(b"[DONE]", chunk(text("Hi"), finish="STOP"), b"[DONE]")
    assert said.deltas == [TextDelta("Hi"), STOPPED, EndDelta()]


# ── errors inside a success ──


@table("said", [UNAVAILABLE, [UNAVAILABLE], [chunk(text("Hi")), UNAVAILABLE]])
def test_an_error_in_the_stream_is_an_error(said: Any) -> None:
    """An object, or a list of one."""
    assert isinstance(Decoded().say(said).fault, Overloaded)
    assert isinstance(Decoded().body(said).fault, Overloaded)


def test_a_gateways_error_is_one_in_any_form() -> None:
    assert isinstance(Decoded().say({"message": "The model is overloaded."}).fault, Overloaded)


def test_what_is_no_json_ends_the_reply() -> None:
    assert isinstance(Decoded().say(b"<html>").fault, Garbled)
    assert isinstance(Decoded().body(b"[1]").fault, Garbled)
    assert isinstance(Decoded().body(b" ").fault, Empty)


# ── whole bodies ──


def test_a_whole_body_is_one_chunk_or_a_list_of_all() -> None:
    first, last = chunk(text("Hi")), chunk(text("!"), finish="STOP")
    assert Decoded().body([first, last]).deltas == [TextDelta("Hi"), TextDelta("!"), STOPPED, EndDelta()]
    assert Decoded().body(last).deltas == [TextDelta("!"), STOPPED, EndDelta()]


def test_a_body_without_a_finish_has_no_end() -> None:
    """So the assembler takes it for cut."""
    assert Decoded().body([chunk(text("Hi"))]).deltas == [TextDelta("Hi")]


# ── what has no meaning ──


@table(
    ("part", "told"),
    [
        ({"inlineData": {"mimeType": "image/png", "data": "aGk="}}, "an image or another file"),
        ({"fileData": {"fileUri": "u"}}, "a link to a file"),
        ({"executableCode": {"code": "1"}}, "code that was run at the backend"),
        ({"codeExecutionResult": {"output": "1"}}, "the result of code that was run at the backend"),
    ],
)
def test_what_is_not_words_is_left_out_and_the_client_is_told(part: dict[str, Any], told: str) -> None:
    """The answer may make no sense without it."""
    said = Decoded().say(chunk(text("See:"), part, part, finish="STOP"))
    assert said.deltas == [TextDelta("See:"), FinishDelta(Finish.STOP)]
    assert said.odd == {"part_unknown": 2}
    assert said.ledger.warnings == [
        f"The model's answer held {told}, which cannot be passed on and is left out."
    ]


@table(
    ("said", "odd"),
    [
        (chunk(1), {"part_not_an_object": 1}),
        (chunk({"executableCode": {}}), {"part_unknown": 1}),
        (chunk({"functionCall": "f"}), {"part_unknown": 1}),
        (chunk(function_call(None)), {"call_without_name": 1}),
        (chunk(function_call(7)), {"call_without_name": 1}),
        ({"candidates": [{"content": {"parts": 1}}]}, {}),
        ({"candidates": [{"content": {}}]}, {}),
        ({"candidates": [{"content": None}]}, {}),
        ({"candidates": [1]}, {}),
        ({"candidates": {}}, {}),
        ({"candidates": []}, {}),
        ({"usageMetadata": 1}, {}),
        ({"usageMetadata": {}}, {"usage_without_counts": 1}),
        (chunk(finish=7), {"finish_not_a_word": 1}),
        ({"promptFeedback": 1}, {}),
        ({"promptFeedback": {}}, {}),
        ({}, {"chunk_unknown": 1}),
    ],
)
def test_what_cannot_be_understood_is_passed_over(said: Any, odd: dict[str, int]) -> None:
    decoded = Decoded().say(said)
    assert (decoded.deltas, decoded.odd) == ([], odd)


def test_json_that_only_a_forgiving_parser_reads_is_read() -> None:
    said = Decoded().say(
        b'{"candidates":[{"content":{"parts":[{"text":"a\\ud83d"}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"text":"\\ude00"}]},"avgLogprobs":NaN}]}',
    )
    assert said.deltas == [TextDelta("a"), TextDelta("\U0001f600")]
    assert said.odd == {"json_mended": 2}


def test_log_probabilities_go_with_the_text_of_their_chunk() -> None:
    tokens = {"chosenCandidates": [{"token": "Hi", "logProbability": -0.5}]}
    said = chunk(text("Hi"), text("!"))
    said["candidates"][0]["logprobsResult"] = tokens
    [first, second] = Decoded().say(said).deltas
    assert isinstance(first, TextDelta)
    assert [entry["token"] for entry in first.logprobs or ()] == ["Hi"]
    assert second == TextDelta("!")


def test_an_error_without_a_form_is_judged_by_its_words() -> None:
    assert isinstance(Decoded().say({"error": "invalid_request_error: no"}).fault, ClientFault)


def _json(value: Any) -> bytes:
    return jsontext.dumps(value)


# ── no end of it ──


def test_attack_24_calls_of_one_id_are_told_apart_in_one_pass() -> None:
    calls = [function_call("f", {"n": n}, id="a") for n in range(10_000)]
    with quickly():
        said = Decoded().say(chunk(*calls))
    ids = [delta.id for delta in said.deltas if isinstance(delta, CallDelta)]
    assert ids[:3] == ["a", "a_2", "a_3"]
    assert len(set(ids)) == len(calls)


def test_the_numbers_that_tell_calls_apart_go_round_ids_that_there_are() -> None:
    said = Decoded().say(
        chunk(*(function_call("f", {"n": n}, id=id) for n, id in enumerate(["a", "a_2", "a", "a", "a_2"])))
    )
    ids = [delta.id for delta in said.deltas if isinstance(delta, CallDelta)]
    assert ids == ["a", "a_2", "a_3", "a_4", "a_2_2"]
