from typing import Any

from proxy.core.model import FormatKind, OutputFormat, ReasoningWish, Request, Sampling
from proxy.core.tracing.wishes import conventional, wishes_of


def asked(**fields: Any) -> Request:
    return Request("m", [], **fields)


def test_who_wishes_nothing() -> None:
    assert wishes_of(asked()) == {}


def test_wishes_have_the_names_of_the_conventions() -> None:
    sampling = Sampling(0.7, 0.9, 0.1, 0.2, 7, ["a secret"], 100)
    request = asked(
        sampling=sampling, reasoning=ReasoningWish("low"), format=OutputFormat(FormatKind.JSON_SCHEMA)
    )
    assert conventional(wishes_of(request), ()) == {
        "gen_ai.request.temperature": 0.7,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.presence_penalty": 0.1,
        "gen_ai.request.frequency_penalty": 0.2,
        "gen_ai.request.seed": 7,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.reasoning.level": "low",
        "gen_ai.output.type": "json",
    }


def test_what_the_backend_was_not_asked_for_is_not_there() -> None:
    request = asked(sampling=Sampling(temperature=0, seed=7), reasoning=ReasoningWish("low"))
    wishes = conventional(wishes_of(request), {"seed", "reasoning_effort"})
    assert wishes == {"gen_ai.request.temperature": 0.0}
    assert isinstance(wishes["gen_ai.request.temperature"], float)


def test_a_prompt_in_the_wrong_field_is_not_told() -> None:
    request = asked(reasoning=ReasoningWish("Think about my secret, please."))
    assert wishes_of(request) == {"reasoning_effort": "*"}
