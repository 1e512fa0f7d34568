"""Every word for an ending means one of four things; usage is read as each backend counts it.

Nothing that a backend says there makes it raise.
"""

from typing import Any

from proxy.core.dialects.chat import ending
from proxy.core.errors import BackendFault, ClientFault, Miscalled, Overloaded, Timeout
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from proxy.core.model import Usage
from tests.support.tables import table


@table(
    ("word", "finish"),
    [
        ("stop", Finish.STOP),
        ("tool_calls", Finish.STOP),
        ("function_call", Finish.STOP),
        ("STOP", Finish.STOP),
        ("length", Finish.LENGTH),
        ("MAX_TOKENS", Finish.LENGTH),
        ("model_length", Finish.LENGTH),
        ("content_filter", Finish.FILTER),
        ("sensitive", Finish.FILTER),
        ("refusal", Finish.FILTER),
        ("content_filter: RECITATION", Finish.FILTER),
    ],
)
def test_known_words(word: str, finish: Finish) -> None:
    """G16, F55, F56."""
    ledger = Ledger()
    assert ending.finish(word, ledger, spoken=False) is finish
    assert not ledger.oddities


def test_an_unknown_word_is_a_stop_and_is_counted() -> None:
    ledger = Ledger()
    assert ending.finish("banana", ledger, spoken=True) is Finish.STOP
    assert ledger.oddities == {"finish_unknown": 1}


@table(
    ("word", "kind"),
    [
        ("error", BackendFault),
        ("network_error", BackendFault),
        ("abort", BackendFault),
        ("timeout", Timeout),
        ("cancelled", BackendFault),
        ("MALFORMED_FUNCTION_CALL", Miscalled),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", Miscalled),
        ("insufficient_system_resource", Overloaded),
    ],
)
def test_words_for_failures(word: str, kind: type[BackendFault]) -> None:
    """E3: TensorRT-LLM's and Gemini's among them, with which nothing is complete."""
    fault = ending.finish(word, Ledger(), spoken=True)
    assert type(fault) is kind
    assert word in fault.message


def test_a_full_context_window_depends_on_what_was_said_before() -> None:
    """Z.ai has one word for both."""
    assert ending.finish("model_context_window_exceeded", Ledger(), spoken=True) is Finish.LENGTH
    fault = ending.finish("model_context_window_exceeded", Ledger(), spoken=False)
    assert isinstance(fault, ClientFault)
    assert fault.code == "context_length_exceeded"


# ── usage ──


@table(
    ("said", "usage"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, Usage(3, 4, 7)),
        ({"prompt_tokens": 3, "completion_tokens": 4}, Usage(3, 4, 7)),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage(0, 0, 0)),
        ({"prompt_tokens": 3.0, "completion_tokens": 4.9, "total_tokens": 7.9}, Usage(3, 4, 7)),
        ({"prompt_tokens": -3, "completion_tokens": "x", "total_tokens": None}, Usage(0, 0, 0)),
        ({"prompt_tokens": "3", "completion_tokens": "4", "total_tokens": "7"}, Usage(3, 4, 7)),
        ({"input_tokens": 3, "output_tokens": 4}, Usage(3, 4, 7)),
        ({"prompt_tokens": 3, "completion_tokens": 4, "input_tokens": 0, "output_tokens": 0}, Usage(3, 4, 7)),
        ({"prompt_tokens": float("inf"), "completion_tokens": float("nan")}, Usage(0, 0, 0)),
        ({"prompt_tokens": 3, "extra": {"x": 1}}, Usage(3, 0, 3)),
    ],
)
def test_counts(said: Any, usage: Usage) -> None:
    """F44."""
    assert ending.usage(said) == usage


@table("said", [None, {}, {"queue_time": 1}, [], "7", 7])
def test_nothing_counted(said: Any) -> None:
    assert ending.usage(said) is None


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
    assert ending.usage(said) == Usage(3, 4, 7, cached_tokens=2)


def test_tokens_written_to_a_cache() -> None:
    said = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cache_write_tokens": 5}}
    assert ending.usage(said) == Usage(9, 4, 13, cache_write_tokens=5)


def test_reasoning_is_part_of_the_output() -> None:
    said = {"prompt_tokens": 3, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 5}}
    assert ending.usage({**said, "total_tokens": 12}) == Usage(3, 9, 12, reasoning_tokens=5)


def test_reasoning_counted_beside_the_output_is_added_to_it() -> None:
    """xAI: the total tells."""
    said = {"prompt_tokens": 3, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 5}}
    assert ending.usage({**said, "total_tokens": 12}) == Usage(3, 9, 12, reasoning_tokens=5)


@table(
    "chunk",
    [
        {"choices": [{"usage": {"prompt_tokens": 3}}]},
        {"choices": [None, {}, {"usage": {"prompt_tokens": 3}}]},
        {"x_groq": {"usage": {"prompt_tokens": 3}}},
    ],
)
def test_usage_in_unusual_places(chunk: dict[str, Any]) -> None:
    assert ending.usage_elsewhere(chunk) == {"prompt_tokens": 3}


@table(
    "chunk", [{}, {"choices": None}, {"choices": [{"usage": None}], "x_groq": {"id": "r"}}, {"x_groq": "r"}]
)
def test_no_usage_anywhere(chunk: dict[str, Any]) -> None:
    assert ending.usage_elsewhere(chunk) is None
