"""V33: the tokens of an answer, among those of the thought before it."""

from typing import Any

from proxy.core.logprobs import of_text
from tests.support.tables import table


def tokens(*texts: str) -> list[dict[str, Any]]:
    return [{"token": text} for text in texts]


@table(
    ("said", "text", "kept"),
    [
        (tokens("Hm", ".", "</think>", "Hi", "!"), "Hi!", tokens("Hi", "!")),
        (tokens("Hi", "</think>", "\n\nHi"), "Hi", tokens("\n\nHi")),  # half of a token is one
        (tokens("Hm", "Hi", "", "!", "<|im_end|>"), "Hi!", tokens("Hi", "!")),
        (tokens("Hm", "ο", "ι"), "οι", tokens("ο", "ι")),
        (tokens("Hm", "Hi", "-", "-", "-", "-", "-"), "Hi", tokens("Hm", "Hi", "-", "-", "-", "-", "-")),
        (tokens("Hm", "Hi"), "Ho", tokens("Hm", "Hi")),
        ([], "Hi", []),
    ],
)
def test_those_of_the_text_are_found(said: Any, text: str, kept: Any) -> None:
    assert of_text(said, text) == kept


def test_the_bytes_of_a_token_go_before_its_text() -> None:
    halves = [{"token": "\ufffd", "bytes": [0xC3]}, {"token": "\ufffd", "bytes": [0xA9]}]
    assert of_text([*tokens("e"), *halves], "é") == halves


def test_what_is_no_token_says_nothing() -> None:
    odd: list[dict[str, Any]] = [{}, {"token": 5}, {"bytes": [300, "x"]}]
    assert of_text([*odd, *tokens("Hi")], "Hi") == tokens("Hi")


def test_a_long_text_is_found_in_linear_time() -> None:
    said = tokens(*"a" * 100_000)
    assert of_text(said, "b" + "a" * 99_999) == said
