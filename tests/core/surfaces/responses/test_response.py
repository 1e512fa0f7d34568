"""The `response` object and its items: which members are there, which may be null, which must be absent."""

from secrets import token_hex
from typing import Any

import pytest

from proxy.core.errors import Truncated
from proxy.core.events import Ending, PartEnded, PartKind, Reply, ReplyEnded
from proxy.core.ids import Mint, tail_of
from proxy.core.model import (
    Call,
    HostedItem,
    Reasoning,
    Refusal,
    ReplyPart,
    Summary,
    Text,
    ToolKind,
    ToolName,
    Usage,
)
from proxy.core.surfaces.responses.response import (
    ECHO_DEFAULTS,
    STATUS,
    ResponseObject,
    final_item,
)
from tests.support.replies import FIRST_RESPONSE, NOW, REQUEST, SIGNER, counting_mint
from tests.support.tables import table

USAGE = Usage(input_tokens=10, output_tokens=5, total_tokens=15, cached_tokens=4, reasoning_tokens=2)


def response(body: dict[str, Any] | None = None) -> ResponseObject:
    return ResponseObject(body or REQUEST, counting_mint(), lambda: NOW)


# ── the frame ──


NEVER_NULL = {
    "id", "object", "created_at", "status", "model", "output", "tools", "tool_choice", "truncation", "text",
    "parallel_tool_calls", "temperature", "top_p", "presence_penalty", "frequency_penalty", "top_logprobs",
    "store", "background", "service_tier", "metadata",
}  # fmt: skip
NULLABLE = {
    "completed_at", "incomplete_details", "error", "usage", "instructions", "previous_response_id", "reasoning",
    "max_output_tokens", "max_tool_calls", "safety_identifier", "prompt_cache_key",
}  # fmt: skip


@table("body", [REQUEST, REQUEST | dict.fromkeys(ECHO_DEFAULTS)], ids=["left out", "sent as null"])
def test_every_member_is_there_and_null_only_where_the_specification_allows_it(body: dict[str, Any]) -> None:
    frame = response(body).started()
    assert set(frame) == NEVER_NULL | NULLABLE
    assert {name for name, value in frame.items() if value is None} == NULLABLE


def test_what_was_not_asked_for_has_its_default() -> None:
    assert response().started() == {
        "id": FIRST_RESPONSE,
        "object": "response",
        "created_at": NOW,
        "status": "in_progress",
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "model": "m",
        "output": [],
        "usage": None,
        "reasoning": None,
        "service_tier": "default",
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "background": False,
        "frequency_penalty": 0.0,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "safety_identifier": None,
        "store": False,
        "temperature": 1.0,
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
    }


@table("asked", [True, False, None])
def test_v09_nothing_is_stored_whatever_was_asked_for(asked: bool | None) -> None:
    made = response(REQUEST | {"store": asked})
    assert made.started()["store"] is False
    assert made.finished(ReplyEnded(Ending.COMPLETED))["store"] is False


def test_the_time_is_whole_seconds() -> None:
    frame = ResponseObject(REQUEST, counting_mint(), lambda: 1.9).started()
    assert frame["created_at"] == 1
    assert type(frame["created_at"]) is int


# ── items ──


def test_the_items_of_a_whole_reply() -> None:
    call = Call("call_a", ToolName("f"), ToolKind.FUNCTION, "{}")
    assert final_item("rs_1", PartEnded(Reasoning("Hm."), True)) == {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Hm."}],
    }
    assert final_item("msg_1", PartEnded(Text("Hi"), True)) == {
        "id": "msg_1",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi", "annotations": [], "logprobs": []}],
    }
    assert final_item("msg_1", PartEnded(Refusal("No."), True))["content"] == [
        {"type": "refusal", "refusal": "No."}
    ]
    assert final_item("fc_1", PartEnded(call, True)) == {
        "id": "fc_1",
        "type": "function_call",
        "status": "completed",
        "call_id": "call_a",
        "name": "f",
        "arguments": "{}",
    }


@table("part", [Text("x"), Refusal("x"), Reasoning("x"), Call("a", ToolName("f"), ToolKind.FUNCTION, "{")])
def test_what_was_cut_is_incomplete(part: Any) -> None:
    assert final_item("x_1", PartEnded(part, complete=False))["status"] == "incomplete"


def test_log_probabilities_are_given_back() -> None:
    item = final_item("msg_1", PartEnded(Text("Hi", [{"token": "Hi"}]), True))
    assert item["content"][0]["logprobs"] == [{"token": "Hi"}]


@table(
    ("kind", "tool_kind", "prefix"),
    [
        (PartKind.TEXT, ToolKind.FUNCTION, "msg_"),
        (PartKind.REFUSAL, ToolKind.FUNCTION, "msg_"),
        (PartKind.REASONING, ToolKind.FUNCTION, "rs_"),
        (PartKind.CALL, ToolKind.FUNCTION, "fc_"),
        (PartKind.CALL, ToolKind.CUSTOM, "ctc_"),
        (PartKind.CALL, ToolKind.TOOL_SEARCH, "tsc_"),
        (PartKind.CALL, ToolKind.LOCAL_SHELL, "lsh_"),
        (PartKind.CALL, ToolKind.SHELL, "sh_"),
        (PartKind.CALL, ToolKind.APPLY_PATCH, "apc_"),
    ],
)
def test_ids_have_the_prefixes_that_clients_know(kind: PartKind, tool_kind: ToolKind, prefix: str) -> None:
    made = response()
    assert made.new_id(0, kind, tool_kind).startswith(prefix)


def test_v06_the_ids_of_a_response_grow_with_their_items() -> None:
    """Haystack puts the calls of a stream in the order of their ids."""
    made = ResponseObject(REQUEST, Mint(token_hex), lambda: NOW)
    ids = [made.new_id(index, PartKind.CALL) for index in range(300)]
    assert ids == sorted(ids)


# ── the end ──


@table(
    ("ending", "status", "reason"),
    [
        (Ending.COMPLETED, "completed", None),
        (Ending.MAX_TOKENS, "incomplete", {"reason": "max_output_tokens"}),
        (Ending.FILTERED, "incomplete", {"reason": "content_filter"}),
    ],
)
def test_the_ending_in_the_words_of_the_surface(ending: Ending, status: str, reason: Any) -> None:
    final = response().finished(ReplyEnded(ending, USAGE))
    assert (final["status"], final["incomplete_details"], final["error"]) == (status, reason, None)
    assert final["completed_at"] == (NOW if status == "completed" else None)


def test_every_ending_has_a_status() -> None:
    assert set(STATUS) == set(Ending)


def test_a_failure_has_an_error_and_no_time_of_completion() -> None:
    final = response().finished(ReplyEnded(Ending.FAILED, None, Truncated("Gone.")))
    assert (final["status"], final["completed_at"], final["usage"]) == ("failed", None, None)
    assert final["error"] == {"code": "upstream_stream_truncated", "message": "Gone."}


def test_usage_has_its_details() -> None:
    """The official SDK declares all of them as numbers that are there: reading a missing one raises."""
    assert response().finished(ReplyEnded(Ending.COMPLETED, USAGE))["usage"] == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 15,
    }


def test_usage_of_nothing_is_still_usage() -> None:
    assert response().finished(ReplyEnded(Ending.COMPLETED, Usage(0, 0, 0)))["usage"] is not None


def test_the_end_keeps_everything_else_and_leaves_the_frame_as_it_was() -> None:
    made = response()
    before = dict(made.started())
    final = made.finished(ReplyEnded(Ending.COMPLETED, USAGE))
    assert made.started() == before
    assert {name for name in before if final[name] != before[name]} == {"status", "completed_at", "usage"}


# ── whole ──


def test_a_whole_reply_is_the_same_object() -> None:
    call = Call("a", ToolName("p"), ToolKind.CUSTOM, "x")
    parts = [PartEnded(part, True) for part in (Reasoning("r"), Text("t"), Refusal("n"), call)]
    made = ResponseObject(REQUEST, counting_mint(), lambda: NOW)
    ended = ReplyEnded(Ending.COMPLETED, USAGE)
    whole = made.whole(Reply(parts, ended))
    assert whole == made.finished(ended)
    ids = counting_mint()
    new = ids.items_of(ids.response())
    assert whole["output"] == [
        final_item(new.output(prefix, index), part)
        for index, (prefix, part) in enumerate(zip(("rs", "msg", "msg", "ctc"), parts, strict=True))
    ]


def test_each_item_of_an_answer_names_its_response() -> None:
    """Whatever id a backend's own tool has given it: the store looks for foreign ids only in what clients send."""
    hosted = HostedItem({"type": "web_search_call", "id": "ws_theirs", "status": "completed"})
    call = Call("a", ToolName("p"), ToolKind.CUSTOM, "x")
    parts: list[ReplyPart] = [Reasoning("r"), Text("t"), Refusal("n"), call, hosted, Summary("s")]
    made = ResponseObject(REQUEST, counting_mint(), lambda: NOW)
    made.fill([PartEnded(part, True) for part in parts])
    output = made.finished(ReplyEnded(Ending.COMPLETED))["output"]
    assert [tail_of(item["id"]) for item in output] == [made.id[-32:]] * len(parts)


def test_of_reasoning_without_words_only_a_client_that_keeps_it_is_told() -> None:
    reply = Reply([PartEnded(Reasoning("", {"chat": {"a": [1]}}), True)], ReplyEnded(Ending.COMPLETED, USAGE))
    assert response().whole(reply)["output"] == []
    [kept] = ResponseObject(REQUEST, counting_mint(), lambda: NOW, SIGNER).whole(reply)["output"]
    assert kept["type"] == "reasoning"


def test_a_reply_that_has_not_ended_cannot_be_told() -> None:
    with pytest.raises(AssertionError):
        response().whole(Reply())


@table(
    ("part", "complete", "signed"),
    [
        (Reasoning("Hm."), True, True),
        (Reasoning("", {"chat": {"a": [1]}}), True, True),
        (Reasoning("Hm."), False, False),
        (Text("Hm."), True, False),
    ],
)
def test_whole_reasoning_is_signed_for_a_client_that_keeps_it(
    part: Reasoning | Text, complete: bool, signed: bool
) -> None:
    item = ResponseObject(REQUEST, counting_mint(), lambda: NOW, SIGNER).add(
        0, "x_1", PartEnded(part, complete)
    )
    assert ("encrypted_content" in item) == signed
    if signed:
        assert SIGNER.reader().reasoning(item["encrypted_content"]) == part
    assert "encrypted_content" not in response().add(0, "x_1", PartEnded(part, complete))


def test_reasoning_without_words_has_an_empty_summary() -> None:
    assert final_item("rs_1", PartEnded(Reasoning(""), True))["summary"] == []


def test_t01_it_is_completed_once_whoever_tells_it_and_when() -> None:
    """What is kept is made before its client is told."""
    seconds = iter((1.0, 2.0, 3.0))
    made = ResponseObject(REQUEST, counting_mint(), lambda: next(seconds))
    ended = ReplyEnded(Ending.COMPLETED)
    kept = made.finished(ended)
    assert made.finished(ended) is kept


def test_what_could_not_be_kept_says_so() -> None:
    made = ResponseObject(REQUEST, counting_mint(), lambda: NOW, stores=True)
    ended = ReplyEnded(Ending.COMPLETED)
    assert made.finished(ended)["store"] is True
    made.not_stored()
    assert made.finished(ended)["store"] is False
