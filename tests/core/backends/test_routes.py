"""P01 with several backends: which of them answers for a model."""

import pytest

from proxy.core.backends.routes import Routes
from proxy.core.errors import NotFound
from tests.support.tables import table

ROUTES = Routes(
    default="home",
    models={"claude-*": "anthropic", "claude-mine": "home", "claude-3*": "old", "gemini-2.5-pro": "google"},
    aliases={"fast": "gemini-2.5-pro"},
)


@table(
    ("model", "backend"),
    [
        ("claude-mine", "home"),
        ("claude-3-opus", "old"),
        ("claude-sonnet-5", "anthropic"),
        ("gemini-2.5-pro", "google"),
        ("gemini-2.5-pro-x", "home"),
        ("anything", "home"),
    ],
)
def test_an_exact_name_then_the_longest_beginning_then_the_default(model: str, backend: str) -> None:
    assert ROUTES.backend_of(model) == backend


def test_an_alias_is_another_name_of_a_model() -> None:
    assert ROUTES.real_name("fast") == "gemini-2.5-pro"
    assert ROUTES.real_name("other") == "other"


def test_without_a_default_an_unknown_model_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(NotFound, match=r"the model 'd'\. Choose one of: a\*, b, c\.") as refused:
        Routes(default=None, models={"a*": "x", "b": "y"}, aliases={"c": "b"}).backend_of("d")
    assert (refused.value.code, refused.value.param) == ("model_not_found", "model")


# ── in its place ──

SPARE = Routes(
    default="home",
    models={"gpt-*": "openai"},
    aliases={"fast": "gpt-5"},
    fallbacks={"gpt-5": ["azure", "vllm/org/qwen3"], "gpt-*": ["azure"], "*": ["home", "azure"]},
)


@table(
    ("model", "ways"),
    [
        ("gpt-5", [("openai", "gpt-5"), ("azure", "gpt-5"), ("vllm", "org/qwen3")]),
        ("fast", [("openai", "gpt-5"), ("azure", "gpt-5"), ("vllm", "org/qwen3")]),
        ("gpt-4", [("openai", "gpt-4"), ("azure", "gpt-4")]),
        ("llama", [("home", "llama"), ("azure", "llama")]),
    ],
)
def test_whom_to_ask_in_turn(model: str, ways: list[tuple[str, str]]) -> None:
    """The first one's name in the list is no second attempt; a model's name may hold a slash."""
    assert SPARE.candidates(model) == ways


def test_without_fallbacks_there_is_one_way() -> None:
    assert ROUTES.candidates("fast") == [("google", "gemini-2.5-pro")]
