"""Usage as each backend counts it, and nothing that a backend says there makes it raise."""

from typing import Any

from proxy.core.dialects.chat import usage as chat_usage
from proxy.core.model import Usage
from tests.support.tables import table


@table(
    ("said", "usage"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, Usage(3, 4, 7)),
        ({"prompt_tokens": 3, "completion_tokens": 4}, Usage(3, 4, 7)),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage(0, 0, 0)),
        ({"prompt_tokens": 3.0, "completion_tokens": 4.9, "total_tokens": 7.9}, Usage(3, 4, 7)),
        ({"prompt_tokens": -3, "completion_tokens": "4", "total_tokens": None}, Usage(0, 0, 0)),
        ({"prompt_tokens": float("inf"), "completion_tokens": float("nan")}, Usage(0, 0, 0)),
        ({"prompt_tokens": 3, "extra": {"x": 1}}, Usage(3, 0, 3)),
    ],
)
def test_counts(said: Any, usage: Usage) -> None:
    """F44."""
    assert chat_usage.read(said) == usage


@table("said", [None, {}, {"queue_time": 1}, [], "7", 7])
def test_nothing_counted(said: Any) -> None:
    assert chat_usage.read(said) is None


@table(
    "details",
    [
        {"prompt_tokens_details": {"cached_tokens": 2}},
        {"prompt_cache_hit_tokens": 2},
        {"cached_tokens": 2},
        {"prompt_tokens_details": None, "prompt_cache_hit_tokens": 2},
        {"prompt_tokens_details": {"cached_tokens": 2}, "prompt_cache_hit_tokens": 1},
    ],
    ids=["OpenAI", "DeepSeek", "Moonshot", "null details", "the details count"],
)
def test_cached_tokens(details: dict[str, Any]) -> None:
    said = {"prompt_tokens": 3, "completion_tokens": 4, **details}
    assert chat_usage.read(said) == Usage(3, 4, 7, cached_tokens=2)


def test_reasoning_is_part_of_the_output() -> None:
    said = {"prompt_tokens": 3, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 5}}
    assert chat_usage.read({**said, "total_tokens": 12}) == Usage(3, 9, 12, reasoning_tokens=5)


def test_reasoning_counted_beside_the_output_is_added_to_it() -> None:
    """xAI: the total tells."""
    said = {"prompt_tokens": 3, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 5}}
    assert chat_usage.read({**said, "total_tokens": 12}) == Usage(3, 9, 12, reasoning_tokens=5)
