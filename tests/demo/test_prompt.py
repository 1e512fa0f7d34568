"""What the demo reads out of a prompt."""

import pytest

from proxy.demo.prompt import MAX_SUBJECTS, Prompt


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("What's the weather like in San Francisco?", ["San Francisco"]),
        ("weather in Paris", ["Paris"]),
        ("Compare the weather in Paris, New York and London.", ["Paris", "New York", "London"]),
        ("what is the weather in paris and london today", ["paris", "london"]),
        ("Search for rubber ducks", ["rubber ducks"]),
        ("Paris and Paris", ["Paris"]),
        ("say hello", []),
        ("Hello", []),
        ("", []),
        ("Wie ist das Wetter in Århus?", ["Wie", "Wetter", "Århus"]),
    ],
)
def test_names_are_subjects_else_what_follows_the_last_preposition(text: str, subjects: list[str]) -> None:
    assert Prompt(text).subjects == subjects


def test_the_number_of_subjects_is_limited() -> None:
    assert len(Prompt(", ".join(f"City{n}" for n in range(50))).subjects) == MAX_SUBJECTS


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("add 2 and 3.5", [2, 3.5]), ("from -4 to 10%", [-4, 10]), ("v1.2 of B2", []), ("", [])],
)
def test_numbers_stand_alone(text: str, numbers: list[float]) -> None:
    assert Prompt(text).numbers == numbers


def test_words_are_compared_without_case() -> None:
    assert Prompt("Please THINK, then answer").says("think", "ponder")
    assert not Prompt("rethinking").says("think")
