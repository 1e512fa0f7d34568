"""One answer in OpenAI's two shapes, as OpenAI's own types read them."""

from typing import Any

import orjson
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from proxy.demo.chunks import Completion
from proxy.demo.refusals import read
from proxy.demo.script import Answer, Call

CALLS = (Call("a", "f", '{"x":"one"}'), Call("b", "g", "{}"))


def completion(answer: Answer, **fields: Any) -> Completion:
    body = {"model": "demo", "messages": [{"role": "user", "content": "hi"}], "stream": True, **fields}
    return Completion(read(orjson.dumps(body)), answer, "chatcmpl-1", 5)


def chunks(answer: Answer, **fields: Any) -> list[ChatCompletionChunk]:
    return [
        ChatCompletionChunk.model_validate(chunk, strict=True)
        for chunk in completion(answer, **fields).chunks()
    ]


def whole(answer: Answer, **fields: Any) -> ChatCompletion:
    return ChatCompletion.model_validate(completion(answer, **fields).body(), strict=True)


def joined(stream: list[ChatCompletionChunk], field: str) -> str:
    return "".join(getattr(chunk.choices[0].delta, field, None) or "" for chunk in stream if chunk.choices)


@pytest.mark.parametrize(
    "text", ["one two, three.\n\nfour", " leading", "trailing \n", "ünïcödé 🦆🦆", "x" * 100]
)
def test_pieces_join_to_the_text(text: str) -> None:
    stream = chunks(Answer(text=text))
    assert joined(stream, "content") == text
    assert whole(Answer(text=text)).choices[0].message.content == text


def test_the_first_chunk_has_the_role_and_the_last_the_reason() -> None:
    stream = chunks(Answer(text="one two"))
    assert stream[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in stream] == [*[None] * (len(stream) - 1), "stop"]


def test_a_call_opens_with_id_and_name_and_goes_on_with_its_index_alone() -> None:
    stream = chunks(Answer(calls=CALLS))
    fragments = [call for chunk in stream for call in chunk.choices[0].delta.tool_calls or ()]
    assert [(f.index, f.id, f.function.name) for f in fragments if f.function and f.id] == [
        (0, "a", "f"),
        (1, "b", "g"),
    ]
    for index, call in enumerate(CALLS):
        said = [f.function.arguments or "" for f in fragments if f.function and f.index == index]
        assert "".join(said) == call.arguments
    assert len(fragments) > 2 * len(CALLS)
    assert stream[-1].choices[0].finish_reason == "tool_calls"


def test_the_whole_message_says_what_the_stream_says() -> None:
    answer = Answer(reasoning="hm hm", text="so", calls=CALLS)
    message = whole(answer).choices[0].message
    assert (message.content, message.model_extra) == ("so", {"reasoning_content": "hm hm"})
    made = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    assert made == [(call.id, call.name, call.arguments) for call in CALLS]
    assert joined(chunks(answer), "reasoning_content") == "hm hm"


def test_a_refusal_has_its_own_field() -> None:
    assert joined(chunks(Answer(refusal="I will not")), "refusal") == "I will not"
    message = whole(Answer(refusal="I will not")).choices[0].message
    assert (message.content, message.refusal) == (None, "I will not")


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_a_limit_cuts_between_pieces(field: str) -> None:
    cut = whole(Answer(text="one two three four"), **{field: 2})
    assert (cut.choices[0].message.content, cut.choices[0].finish_reason) == ("one two", "length")
    assert cut.usage is not None
    assert cut.usage.completion_tokens == 2
    assert whole(Answer(text="one two"), **{field: 2}).choices[0].finish_reason == "stop"


def test_a_limit_cuts_inside_arguments_and_before_later_calls() -> None:
    message = whole(Answer(calls=CALLS), max_tokens=2).choices[0].message
    assert [call.function.arguments for call in message.tool_calls or ()] == ['{"x']


def test_usage_comes_last_and_only_when_asked_for() -> None:
    answer = Answer(reasoning="hm", text="one two")
    asked = chunks(answer, stream_options={"include_usage": True})
    assert not asked[-1].choices
    assert asked[-1].usage == whole(answer).usage
    assert asked[-1].usage is not None
    assert asked[-1].usage.total_tokens == 5 + 3
    assert asked[-1].usage.completion_tokens_details is not None
    assert asked[-1].usage.completion_tokens_details.reasoning_tokens == 1
    assert all(chunk.usage is None for chunk in [*asked[:-1], *chunks(answer)])


def test_logprobs_come_per_token_when_asked_for() -> None:
    stream = chunks(Answer(text="one two"), logprobs=True, top_logprobs=1)
    told = [
        entry
        for chunk in stream
        if chunk.choices[0].logprobs
        for entry in chunk.choices[0].logprobs.content or ()
    ]
    assert [(entry.token, entry.top_logprobs[0].token) for entry in told] == [
        ("one", "one"),
        (" two", " two"),
    ]
    assert whole(Answer(text="one"), logprobs=True).choices[0].logprobs
    assert all(chunk.choices[0].logprobs is None for chunk in chunks(Answer(text="one two")))
