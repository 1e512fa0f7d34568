"""Log probabilities come out in the form that clients of the Responses API can read."""

from typing import Any

from proxy.core.dialects.reading import logprobs
from tests.support.tables import table


def test_every_entry_has_its_four_fields() -> None:
    said = {
        "content": [
            {
                "token": "é",
                "logprob": -0.1,
                "bytes": None,
                "extra": 1,
                "top_logprobs": [{"token": "é", "logprob": -0.1, "bytes": [195, 169]}, {"token": "e"}],
            },
            {"token": "\ud83d", "logprob": None, "bytes": [240], "top_logprobs": None},
        ]
    }
    assert logprobs.read(said) == [
        {
            "token": "é",
            "logprob": -0.1,
            "bytes": [195, 169],
            "top_logprobs": [
                {"token": "é", "logprob": -0.1, "bytes": [195, 169]},
                {"token": "e", "logprob": None, "bytes": [101]},
            ],
        },
        {"token": "\ufffd", "logprob": None, "bytes": [240], "top_logprobs": []},
    ]


@table("said", [None, "x", {"content": None}, {"content": [{"token": "a"}]}])
def test_without_a_thought_all_are_the_answers(said: Any) -> None:
    assert logprobs.of_answer(said, None, "a") == said


@table("answer", [None, "", [{"type": "text"}]])
def test_v33_beside_a_thought_alone_there_are_none(answer: Any) -> None:
    assert logprobs.of_answer({"content": [{"token": "a"}]}, "a", answer) is None


@table("said", [None, {}, [], "x", {"content": None}, {"content": "x"}, {"content": [None, "x", 1]}])
def test_what_is_no_entry_is_left_out(said: Any) -> None:
    assert logprobs.read(said) == []


def test_fields_of_the_wrong_kind_are_left_empty() -> None:
    """Nothing strange may get as far as the encoder."""
    assert logprobs.read({"content": [{"token": 7, "logprob": [[]], "bytes": "x"}]}) == [
        {"token": "", "logprob": None, "bytes": [], "top_logprobs": []}
    ]
    assert logprobs.read({"content": [{"token": "a", "bytes": [97, "b", []]}]})[0]["bytes"] == [97]
