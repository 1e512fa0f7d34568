"""Gemini's counts in everybody's words."""

from typing import Any

from proxy.core.dialects.google.usage import read
from proxy.core.model import Usage
from tests.support.tables import table


@table(
    ("counts", "usage"),
    [
        (
            {
                "promptTokenCount": 100,
                "toolUsePromptTokenCount": 10,
                "cachedContentTokenCount": 60,
                "candidatesTokenCount": 20,
                "thoughtsTokenCount": 7,
                "totalTokenCount": 137,
            },
            Usage(110, 27, 137, cached_tokens=60, reasoning_tokens=7),
        ),
        ({"promptTokenCount": 5, "candidatesTokenCount": 2}, Usage(5, 2, 7)),
        ({"promptTokenCount": "5", "totalTokenCount": 3}, Usage(0, 0, 3)),
        ({"promptTokenCount": 5, "candidatesTokenCount": -2}, Usage(5, 0, 5)),
        ({"candidatesTokenCount": 2}, None),
    ],
)
def test_counts(counts: dict[str, Any], usage: Usage | None) -> None:
    assert read(counts) == usage
