"""Log probabilities: two lists there, one here."""

from typing import Any

from proxy.core.dialects.google.logprobs import read
from tests.support.tables import table


def token(word: str, logprob: float, *others: Any) -> dict[str, Any]:
    entry = {"token": word, "logprob": logprob, "bytes": list(word.encode())}
    return entry | {"top_logprobs": list(others)}


def other(word: str, logprob: float) -> dict[str, Any]:
    return {"token": word, "logprob": logprob, "bytes": list(word.encode())}


@table(
    ("said", "entries"),
    [
        (None, []),
        ({}, []),
        ({"chosenCandidates": [{"token": "a", "logProbability": -1}, 7]}, [token("a", -1)]),
        (
            {
                "chosenCandidates": [
                    {"token": "a", "logProbability": -1},
                    {"token": "b", "logProbability": -2},
                ],
                "topCandidates": [{"candidates": [{"token": "x", "logProbability": -3}, 1]}, 7, {}],
            },
            [token("a", -1, other("x", -3)), token("b", -2)],
        ),
    ],
)
def test_tokens(said: Any, entries: list[Any]) -> None:
    assert read(said) == entries
