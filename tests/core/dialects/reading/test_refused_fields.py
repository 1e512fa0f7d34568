"""The names that closed schemas complain of, in the words of each server."""

from proxy.core.dialects.reading.refused_fields import REFUSED_VALUE, UNKNOWN_FIELD, snake, steps
from tests.support.tables import table


@table(
    ("words", "path"),
    [
        ("Unknown parameter: 'text.verbosity'.", ["text", "verbosity"]),
        ("Unsupported parameter: 'temperature' is not supported with this model.", ["temperature"]),
        ("property 'reasoning_content' is unsupported", ["reasoning_content"]),
        ("'messages.2' : property 'reasoning' is unsupported", ["messages"]),
        ("Extra inputs are not permitted, field: 'seed'", ["seed"]),
        ('{"type":"extra_forbidden","loc":["body","seed"]}', ["seed"]),
        ("Unrecognized request argument supplied: stop", ["stop"]),
        ("This model does not support parameter reasoningEffort.", ["reasoningEffort"]),
    ],
)
def test_fields(words: str, path: list[str]) -> None:
    match = UNKNOWN_FIELD.search(words)
    assert match is not None
    assert steps(match) == path


def test_values() -> None:
    match = REFUSED_VALUE.search("Unsupported value: 'reasoning.effort' does not support 'xhigh'")
    assert match is not None
    assert steps(match) == ["reasoning", "effort"]


def test_one_spelling() -> None:
    assert [snake(name) for name in ("reasoningEffort", "top_p", "Stop")] == [
        "reasoning_effort",
        "top_p",
        "stop",
    ]
