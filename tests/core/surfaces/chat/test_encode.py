"""C06: the chunks of the Chat stream, in the order and with the members that clients rely on.

Every stream goes through `read_chat_stream`, which checks frames, role, reason and indexes by itself.
"""

import re
from dataclasses import replace
from typing import Any

from proxy.core.backends import profiles
from proxy.core.errors import Overloaded, Truncated, Unfit
from proxy.core.events import (
    CallHead,
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Call, HostedItem, Reasoning, Refusal, ReplyPart, Text, ToolKind, ToolName, Usage
from proxy.core.surfaces.chat.calls import CallForm, FunctionCall, ToolCalls
from proxy.core.surfaces.chat.encode import ChatEncoder
from proxy.core.surfaces.clients import AI_SDK, DEFAULT, ClientProfile
from proxy.core.surfaces.native.calls import ParsedCalls
from tests.support.assembling import PartDelta, Told, into
from tests.support.chat_streams import completion_of, encoded, request_of, run_chat
from tests.support.replies import DONE, REQUEST, STOP, call_chunk, chunk
from tests.support.tables import table

USAGE = Usage(1, 2, 9, cached_tokens=1, reasoning_tokens=2)
KINDS: dict[type[ReplyPart], PartKind] = {
    Text: PartKind.TEXT,
    Reasoning: PartKind.REASONING,
    Refusal: PartKind.REFUSAL,
    Call: PartKind.CALL,
}
CALL = Call("call_a", ToolName("f"), ToolKind.FUNCTION, '{"a":1}')
CUSTOM = Call("call_b", ToolName("p"), ToolKind.CUSTOM, "*** Begin")


def part(part: ReplyPart, *deltas: str, complete: bool = True) -> list[Told]:
    head = None
    if isinstance(part, Call):
        head = CallHead(part.call_id, part.tool, part.kind, part.backend_id)
    started = PartStarted(KINDS[type(part)], head)
    return [started, *(PartDelta(delta) for delta in deltas), PartEnded(part, complete)]


def reply(*events: Told, ending: Ending = Ending.COMPLETED) -> list[Told]:
    return [ReplyStarted(), *events, ReplyEnded(ending, USAGE)]


def said(chunks: list[dict[str, Any]]) -> list[Any]:
    """What each chunk says, after the one with the role."""
    choices = [chunk["choices"][0] for chunk in chunks if chunk.get("choices")]
    assert choices[0]["delta"] == {"role": "assistant", "content": None}
    return [choice["finish_reason"] or choice["delta"] for choice in choices[1:]]


def test_a_text() -> None:
    chunks = encoded(reply(*part(Text("Hello"), "Hel", "lo")))
    assert said(chunks) == [{"content": "Hel"}, {"content": "lo"}, "stop"]
    assert chunks[1] == {
        "id": f"chatcmpl-{1:032x}",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [{"index": 0, "delta": {"content": "Hel"}, "logprobs": None, "finish_reason": None}],
    }


@table("awkward", ['"', '""', "\\", "\n\n", "\u2028", "data: [DONE]\n\n", "é😀", '"},"x":"', "\x00", " "])
def test_whatever_the_text_it_stays_a_text(awkward: str) -> None:
    assert said(encoded(reply(*part(Text(awkward), awkward)))) == [{"content": awkward}, "stop"]


def test_a_model_without_a_name_confuses_nobody() -> None:
    """The place of the text is found by an empty string, and there may be others."""
    chunks = encoded(reply(*part(Text("x"), "x")), body=REQUEST | {"model": '"'})
    assert said(chunks) == [{"content": "x"}, "stop"]
    assert chunks[0]["model"] == '"'


def test_reasoning_and_refusals_have_members_of_their_own() -> None:
    events = reply(*part(Reasoning("Hm."), "Hm", "."), *part(Refusal("No."), "No."))
    assert said(encoded(events)) == [
        {"reasoning_content": "Hm"},
        {"reasoning_content": "."},
        {"refusal": "No."},
        "stop",
    ]


def test_reasoning_without_words_is_not_seen() -> None:
    thought = Reasoning("", {"anthropic": {"thinking": [{"signature": "s"}]}})
    events = [PartStarted(PartKind.REASONING, wordless=True), PartEnded(thought, complete=True)]
    assert said(encoded(reply(*events, *part(Text("x"), "x")))) == [{"content": "x"}, "stop"]


def test_calls_begin_with_id_and_name_and_go_on_with_arguments() -> None:
    events = reply(*part(Text("Look:"), "Look:"), *part(CALL, '{"a"', ":1}"), *part(CUSTOM, "*** ", "Begin"))
    assert said(encoded(events)) == [
        {"content": "Look:"},
        {
            "tool_calls": [
                {
                    "index": 0,
                    "id": "call_a",
                    "type": "function",
                    "function": {"name": "f", "arguments": ""},
                }
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
        {
            "tool_calls": [
                {"index": 1, "id": "call_b", "type": "custom", "custom": {"name": "p", "input": ""}}
            ]
        },
        {"tool_calls": [{"index": 1, "custom": {"input": "*** "}}]},
        {"tool_calls": [{"index": 1, "custom": {"input": "Begin"}}]},
        "tool_calls",
    ]


def test_text_around_a_call_stays_where_it_was() -> None:
    events = reply(*part(Text("a"), "a"), *part(CALL, CALL.arguments), *part(Text("b"), "b"))
    assert [next(iter(delta)) for delta in said(encoded(events))[:-1]] == [
        "content",
        "tool_calls",
        "tool_calls",
        "content",
    ]


def test_a_client_of_the_old_form_gets_one_function_call() -> None:
    second = Call("call_c", ToolName("g"), ToolKind.FUNCTION, "{}")
    events = reply(*part(CALL, '{"a":1}'), *part(second, "{}"))
    assert said(encoded(events, FunctionCall(Ledger()))) == [
        {"function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": '{"a":1}'}},
        "function_call",
    ]


def test_n04_natively_a_call_comes_whole_and_parsed() -> None:
    events = reply(*part(CALL, '{"a"', ":1}"))
    function = {"name": "f", "arguments": {"a": 1}}
    assert said(encoded(events, ParsedCalls())) == [
        {"tool_calls": [{"index": 0, "id": "call_a", "type": "function", "function": function}]},
        "tool_calls",
    ]


def test_n04_natively_arguments_that_are_no_object_end_the_stream_as_an_error() -> None:
    bad = Call("call_x", ToolName("f"), ToolKind.FUNCTION, "[1")
    chunks = encoded(reply(*part(bad, "[1"), *part(bad, "[1"), *part(Text("x"), "x")), ParsedCalls())
    error = chunks[-1]["error"]
    assert (error["code"], error["type"]) == ("malformed_tool_arguments", "semantic_error")


def test_r3_after_an_error_nothing_is_said() -> None:
    bad = Call("call_x", ToolName("f"), ToolKind.FUNCTION, "[1")
    events = [ReplyStarted(), *part(bad, "[1"), ReplyEnded(Ending.FAILED, fault=Truncated("Gone."))]
    chunks = encoded(events, ParsedCalls())
    assert [chunk.get("error", {}).get("code") for chunk in chunks] == [None, "malformed_tool_arguments"]


# ── the ending ──


@table(
    "ending, complete, reason",
    [
        (Ending.COMPLETED, True, "tool_calls"),
        (Ending.MAX_TOKENS, True, "tool_calls"),
        (Ending.FILTERED, True, "tool_calls"),
        (Ending.MAX_TOKENS, False, "length"),
        (Ending.FILTERED, False, "content_filter"),
    ],
)
def test_the_reason_is_tool_calls_unless_one_was_cut(ending: Ending, complete: bool, reason: str) -> None:
    events = reply(*part(CALL, CALL.arguments), *part(CALL, '{"a', complete=complete), ending=ending)
    assert said(encoded(events))[-1] == reason


@table(
    "ending, reason",
    [
        (Ending.COMPLETED, "stop"),
        (Ending.MAX_TOKENS, "length"),
        (Ending.FILTERED, "content_filter"),
    ],
)
def test_without_calls_the_reason_tells_of_the_ending(ending: Ending, reason: str) -> None:
    assert said(encoded(reply(*part(Text("x"), "x"), ending=ending)))[-1] == reason


def test_usage_when_asked_for_comes_in_a_chunk_of_its_own() -> None:
    """`null` in all others, and the total is the sum."""
    chunks = encoded(reply(*part(Text("x"), "x")), include_usage=True)
    assert [chunk["usage"] for chunk in chunks[:-1]] == [None] * 3
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"] == {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "total_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }


def test_usage_that_nobody_knows_is_not_made_up() -> None:
    events = [ReplyStarted(), *part(Text("x"), "x"), ReplyEnded(Ending.COMPLETED)]
    chunks = encoded(events, include_usage=True)
    assert [chunk["usage"] for chunk in chunks] == [None] * 3


def test_c08_warnings_stand_in_the_chunk_with_the_reason_if_there_are_any() -> None:
    ledger = Ledger()
    ledger.warn("Too long.")
    chunks = encoded(reply(*part(CALL, CALL.arguments)), ledger=ledger, include_usage=True)
    assert chunks[-2]["_proxy"] == {"warnings": ["Too long."]}
    assert all("_proxy" not in chunk for chunk in encoded(reply(*part(CALL, CALL.arguments))))


def test_r3_a_failure_is_an_error_without_a_reason_and_without_done() -> None:
    fault = Overloaded("Full.", retry_after=2, param="x", details={"extra": 1})
    chunks = encoded([ReplyStarted(), *part(Text("x"), "x"), ReplyEnded(Ending.FAILED, USAGE, fault)])
    assert chunks[-1] == {
        "error": {
            "message": "Full. Please try again in 2s.",
            "type": "server_error",
            "param": "x",
            "code": "server_is_overloaded",
            "extra": 1,
        }
    }
    assert said(chunks) == [{"content": "x"}]


def test_r3_a_failure_before_the_first_word() -> None:
    fault = Unfit("No call.", code="tool_call_required")
    chunks = encoded([ReplyStarted(), ReplyEnded(Ending.FAILED, fault=fault)])
    assert [*chunks[1]["error"].values()] == ["tool_call_required", "No call.", "semantic_error", None]


# ── beside the words ──

LOGPROB = {"token": "x", "logprob": -0.5, "bytes": [120], "top_logprobs": []}


def test_log_probabilities_come_with_their_text_when_asked_for() -> None:
    events = [
        ReplyStarted(),
        PartStarted(PartKind.TEXT),
        PartDelta("x", [LOGPROB]),
        PartDelta("y"),
        PartEnded(Text("xy", [LOGPROB]), complete=True),
        ReplyEnded(Ending.COMPLETED),
    ]
    asking = REQUEST | {"include": ["message.output_text.logprobs"]}
    chunks = encoded(events, body=asking)
    told = {"content": [LOGPROB], "refusal": None}
    assert [chunk["choices"][0]["logprobs"] for chunk in chunks] == [None, told, None, None]
    assert said(chunks) == said(encoded(events)) == [{"content": "x"}, {"content": "y"}, "stop"]
    assert all(chunk["choices"][0]["logprobs"] is None for chunk in encoded(events))


def test_4_3_a_signature_stands_in_the_first_chunk_of_its_call() -> None:
    thought = Reasoning("", {"google": {"signatures": [{"model": "m", "signature": "sig"}]}})
    wordless = [PartStarted(PartKind.REASONING, wordless=True), PartEnded(thought, complete=True)]
    events = reply(*wordless, *part(CALL, CALL.arguments), *part(CALL, CALL.arguments))
    begun = [delta["tool_calls"][0] for delta in said(encoded(events))[:-1:2]]
    assert begun[0]["extra_content"] == {"google": {"thought_signature": "sig"}}
    assert "extra_content" not in begun[1]


def test_a_sign_of_life_is_a_comment_that_others_send() -> None:
    """The encoder has no chunk for it: clients of this API understand comments."""
    frames: list[bytes] = []
    ChatEncoder(completion_of(request_of(), ToolCalls()), frames.append).still_working()
    assert frames == []


# ── from a backend's bytes ──

MARKUP = (
    'Look: <tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>\n'
    '<tool_call>{"name":"get_time","arguments":{}}</tool_call> So.'
)


@table("form", [ToolCalls, ParsedCalls])
def test_c01_calls_in_markup_are_calls_and_the_text_around_them_stays(form: type[CallForm]) -> None:
    run = run_chat(chunk({"role": "assistant", "content": MARKUP}) + STOP + DONE, form=form())
    assert run.folded() == run.whole()
    [choice] = run.folded()["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"].split() == ["Look:", "So."]
    calls = choice["message"]["tool_calls"]
    assert [call["function"]["name"] for call in calls] == ["get_weather", "get_time"]
    arguments = [call["function"]["arguments"] for call in calls]
    assert arguments == ['{"city":"Paris"}', "{}"] or arguments == [{"city": "Paris"}, {}]
    assert all(re.fullmatch(r"call_[0-9a-f]{32}", call["id"]) for call in calls)
    assert len({call["id"] for call in calls}) == 2


def test_c06_calls_that_interleave_come_one_after_another() -> None:
    mixed = [
        call_chunk(0, "their-0", "get_weather", '{"ci'),
        call_chunk(1, "their-1", "get_time", '{"a":'),
        call_chunk(0, args='ty":"Paris"}'),
        call_chunk(1, args="1}"),
        chunk({}, "stop"),
        DONE,
    ]
    run = run_chat(mixed)
    calls = run.folded()["choices"][0]["message"]["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == ['{"city":"Paris"}', '{"a":1}']
    assert run.folded() == run.whole()
    assert run.whole()["choices"][0]["finish_reason"] == "tool_calls"


def test_4_3_what_a_chat_backend_proves_its_calls_with_goes_on_with_them() -> None:
    """Its ids are not those that clients see, and still each proof finds its call."""
    proofs = [{"google": {"thought_signature": letter}} for letter in "ab"]
    told = [
        {"index": number, "id": f"their-{number}", "extra_content": proof, "function": {"name": "get_time"}}
        for number, proof in enumerate(proofs)
    ]
    stream = chunk({"tool_calls": told}) + STOP + DONE
    run = run_chat(stream, profile=replace(profiles.DEFAULT, signed_calls=True))
    calls = run.folded()["choices"][0]["message"]["tool_calls"]
    assert [call["extra_content"] for call in calls] == proofs
    assert run.folded() == run.whole()


# ── clients that make calls of whatever they have heard ──


def broken(client: ClientProfile, *events: Told, form: CallForm | None = None) -> tuple[bool, bytes]:
    """Must the connection break, and what was said last?"""
    frames: list[bytes] = []
    encoder = ChatEncoder(completion_of(request_of(), form or ToolCalls()), frames.append, client)
    for event in events:
        into(encoder)(event)
    return encoder.broken, frames[-1]


HALF = [*part(CALL), *part(replace(CALL, arguments='{"a"'), '{"a"', complete=False)]
FAILED = ReplyEnded(Ending.FAILED, None, Truncated("Gone."))
AT_THE_LIMIT = ReplyEnded(Ending.MAX_TOKENS, USAGE)


@table(("ended", "message"), [(FAILED, b"Gone."), (AT_THE_LIMIT, b"half of which must not be run")])
def test_v01_where_an_end_would_make_a_call_of_half_a_one_there_is_none(
    ended: ReplyEnded, message: bytes
) -> None:
    breaks, last = broken(AI_SDK, ReplyStarted(), *HALF, ended)
    assert breaks
    assert message in last
    assert last.startswith(b'data: {"error":')


@table("ended", [FAILED, AT_THE_LIMIT])
def test_v01_for_all_others_the_stream_ends_as_it_should(ended: ReplyEnded) -> None:
    assert broken(DEFAULT, ReplyStarted(), *HALF, ended)[0] is False
    assert broken(AI_SDK, ReplyStarted(), *part(CALL), *part(Text("x"), complete=False), ended)[0] is False
    native = ParsedCalls(None)
    assert broken(AI_SDK, ReplyStarted(), *HALF, ended, form=native)[0] is False


def test_links_to_sources_follow_their_text() -> None:
    """What hosted tools did has no form here."""
    link = {"type": "url_citation", "url": "u", "start_index": 0, "end_index": 1}
    hosted = [
        PartStarted(PartKind.HOSTED, wordless=True),
        PartEnded(HostedItem({"type": "web_search_call"}), complete=True),
    ]
    told = reply(*part(Text("AB"), "AB"), *hosted, *part(Text("C", annotations=[link]), "C"))
    chunks = encoded(told)
    moved = {"url": "u", "start_index": 2, "end_index": 3}
    assert said(chunks) == [
        {"content": "AB"},
        {"content": "C"},
        {"annotations": [{"type": "url_citation", "url_citation": moved}]},
        "stop",
    ]
