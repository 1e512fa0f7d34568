"""C06, C08: the whole `chat.completion` object."""

from typing import Any

from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded
from proxy.core.ledger import Ledger
from proxy.core.model import Call, HostedItem, Reasoning, Refusal, ReplyPart, Text, ToolKind, ToolName, Usage
from proxy.core.surfaces.chat.calls import YOURS_TO_RUN, CallForm, FunctionCall, ToolCalls
from proxy.core.surfaces.native.calls import ParsedCalls
from tests.support.chat_streams import completion_of, request_of
from tests.support.replies import REQUEST

USAGE = Usage(1, 2, 9, cached_tokens=1, reasoning_tokens=2)
CALL = Call("call_a", ToolName("f"), ToolKind.FUNCTION, '{"a":1}')
LOGPROB = {"token": "x", "logprob": -0.5, "bytes": [120], "top_logprobs": []}


def whole(
    *parts: ReplyPart,
    ending: Ending = Ending.COMPLETED,
    usage: Usage | None = USAGE,
    cut: bool = False,
    form: CallForm | None = None,
    ledger: Ledger | None = None,
    **body: Any,
) -> dict[str, Any]:
    ended = [PartEnded(part, complete=not cut or number < len(parts)) for number, part in enumerate(parts, 1)]
    completion = completion_of(request_of(REQUEST | body), form or ToolCalls(), ledger)
    return completion.whole(Reply(ended, ReplyEnded(ending, usage)))


def message(*parts: ReplyPart, **how: Any) -> dict[str, Any]:
    said: dict[str, Any] = whole(*parts, **how)["choices"][0]["message"]
    return said


def test_a_text() -> None:
    assert whole(Text("Hello")) == {
        "id": f"chatcmpl-{1:032x}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 1,
            "completion_tokens": 2,
            "total_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    }


def test_parts_of_a_kind_are_joined() -> None:
    said = message(Reasoning("Hm"), Text("a"), CALL, Reasoning("."), Text("b"), Refusal("No."))
    assert said == {
        "role": "assistant",
        "content": "ab",
        "refusal": "No.",
        "reasoning_content": "Hm.",
        "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
        ],
    }


def test_without_text_the_content_is_null() -> None:
    assert message(CALL)["content"] is None
    assert message(Reasoning("Hm."), ending=Ending.MAX_TOKENS, cut=True)["content"] is None


def test_reasoning_without_words_is_not_seen_but_for_its_signature() -> None:
    thought = Reasoning("", {"google": {"signatures": [{"model": "m", "signature": "sig"}]}})
    said = message(thought, CALL, CALL)
    assert "reasoning_content" not in said
    assert said["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "sig"}}
    assert "extra_content" not in said["tool_calls"][1]


def test_c08_the_advice_says_who_runs_the_tools_and_where_results_go() -> None:
    assert "run each call in tool_calls yourself" in YOURS_TO_RUN
    assert 'send its result in a message with the role "tool"' in YOURS_TO_RUN
    assert "tool_call_id" in YOURS_TO_RUN


def test_c08_who_gets_calls_is_told_to_run_them() -> None:
    ledger = Ledger()
    ledger.warn("Too long.")
    assert whole(CALL)["_proxy"] == {"warnings": [YOURS_TO_RUN]}
    assert whole(CALL, ledger=ledger)["_proxy"] == {"warnings": [YOURS_TO_RUN, "Too long."]}
    assert whole(Text("x"), ledger=ledger)["_proxy"] == {"warnings": ["Too long."]}


def test_a_call_that_was_cut_is_told_as_far_as_it_came() -> None:
    """As OpenAI does it, and the reason says that there is more."""
    half = Call("call_b", ToolName("f"), ToolKind.FUNCTION, '{"a')
    answer = whole(CALL, half, ending=Ending.MAX_TOKENS, cut=True)["choices"][0]
    assert answer["message"]["tool_calls"][1]["function"]["arguments"] == '{"a'
    assert answer["finish_reason"] == "length"


def test_natively_a_call_that_was_cut_is_left_out() -> None:
    """N04"""
    half = Call("call_b", ToolName("f"), ToolKind.FUNCTION, '{"a')
    answer = whole(half, ending=Ending.MAX_TOKENS, cut=True, form=ParsedCalls())["choices"][0]
    assert "tool_calls" not in answer["message"]
    assert answer["finish_reason"] == "length"


def test_the_old_form() -> None:
    answer = whole(CALL, CALL, form=FunctionCall(Ledger()))
    choice = answer["choices"][0]
    assert choice["message"]["function_call"] == {"name": "f", "arguments": '{"a":1}'}
    assert choice["finish_reason"] == "function_call"


def test_c08_the_old_form_is_told_in_its_own_words() -> None:
    answer = whole(CALL, form=FunctionCall(Ledger()))
    assert YOURS_TO_RUN not in answer["_proxy"]["warnings"]
    [advice] = answer["_proxy"]["warnings"]
    assert "run the function in function_call" in advice
    assert 'role "function"' in advice
    assert "tool" not in advice.replace("no tools", "")


def test_log_probabilities_when_asked_for() -> None:
    text = Text("x", [LOGPROB])
    asked = whole(text, text, include=["message.output_text.logprobs"])
    assert asked["choices"][0]["logprobs"] == {"content": [LOGPROB, LOGPROB], "refusal": None}
    assert whole(text)["choices"][0]["logprobs"] is None


def test_what_was_written_to_a_cache_is_told_where_there_is_one() -> None:
    """It is part of the prompt, and has a price of its own."""
    usage = whole(Text("x"), usage=Usage(9, 2, 11, 1, 0, 7))["usage"]
    assert usage["prompt_tokens_details"] == {"cached_tokens": 1, "cache_write_tokens": 7}


def test_usage_that_nobody_knows_is_null() -> None:
    assert whole(Text("x"), usage=None)["usage"] is None


def test_links_to_sources_stand_where_the_message_has_them() -> None:
    """The API has only links, and counts their places from the start of the message."""
    link = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
    other = {"type": "file_citation", "file_id": "f", "index": 0}
    said = message(Text("AB"), HostedItem({"type": "web_search_call"}), Text("C", annotations=[link, other]))
    assert said["content"] == "ABC"
    assert said["annotations"] == [
        {"type": "url_citation", "url_citation": {"url": "u", "title": "t", "start_index": 2, "end_index": 3}}
    ]
    assert "annotations" not in message(Text("AB", annotations=[other]))
