"""What each generation takes, by the name."""

from typing import Any

from proxy.core.dialects.google.models import traits_of
from tests.support.tables import table


@table(
    ("model", "effort", "config"),
    [
        ("gemini-3.5-flash", "minimal", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3.5-flash", "low", {"thinkingLevel": "LOW"}),
        ("gemini-3.5-flash", "medium", {"thinkingLevel": "MEDIUM"}),
        ("gemini-3.5-flash", "high", {"thinkingLevel": "HIGH"}),
        ("gemini-3.5-flash", "xhigh", {"thinkingLevel": "HIGH"}),
        ("gemini-3.5-flash", "max", {"thinkingLevel": "HIGH"}),
        ("gemini-3.5-flash", "great", {}),
        ("gemini-3.7-flash", "minimal", {"thinkingLevel": "LOW"}),
        ("gemini-3.8-flash", "none", {"thinkingLevel": "LOW"}),
        ("gemini-3.5-pro", "minimal", {"thinkingLevel": "LOW"}),
        ("gemini-4-flash", "none", {"thinkingLevel": "LOW"}),
        ("gemini-flash-latest", "minimal", {"thinkingLevel": "LOW"}),
        ("gemini-3-pro-preview", "medium", {"thinkingLevel": "HIGH"}),
        ("gemini-3-pro-preview", "none", {"thinkingLevel": "LOW"}),
        ("gemini-2.5-pro", "none", {"thinkingBudget": 128}),
        ("gemini-2.5-pro", "minimal", {"thinkingBudget": 512}),
        ("gemini-2.5-pro", "max", {"thinkingBudget": 32768}),
        ("gemini-2.5-pro", None, {"thinkingBudget": -1}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "low", {"thinkingBudget": 1024}),
        ("gemini-2.5-flash", "medium", {"thinkingBudget": 8192}),
        ("gemini-2.5-flash", "max", {"thinkingBudget": 24576}),
        ("gemini-2.5-flash", "great", {"thinkingBudget": -1}),
        ("gemini-2.5-flash-image", "high", None),
        ("gemini-3-pro-image-preview", "high", None),
        ("gemini-2.0-flash", "high", None),
        ("gemini-2.5-flash-preview-tts", "high", None),
        ("gemini-3-flash-001", "low", {"thinkingLevel": "LOW"}),
        ("gemini-1.5-pro-002", "high", None),
        ("gemma-3-27b-it", "high", None),
        ("my-alias", "high", None),
    ],
)
def test_how_thinking_is_asked_for(model: str, effort: str | None, config: dict[str, Any] | None) -> None:
    """A level and a budget at once are refused, and so is either by a model that does not think."""
    shown = {} if config == {"thinkingBudget": 0} else {"includeThoughts": True}
    found = traits_of(model).thinking_config(effort, with_thoughts=True)
    assert found == (None if config is None else config | shown)


def test_nothing_is_said_of_thinking_unless_it_is_asked_for() -> None:
    assert traits_of("gemini-3.5-flash").thinking_config(None, with_thoughts=False) is None


@table(
    ("model", "signed", "json_with_tools", "validated", "media", "system"),
    [
        ("gemini-4-pro", True, True, True, True, True),
        ("Gemini-3-Pro-Preview", True, True, True, True, True),
        ("gemini-3-pro-image-preview", True, True, True, True, True),
        ("gemini-2.5-flash", False, False, True, False, True),
        ("gemini-2.5-flash-image", False, False, False, False, True),
        ("gemini-2.0-flash", False, False, False, False, True),
        ("gemma-3-27b-it", False, False, False, False, False),
        ("my-alias", True, True, True, False, True),
    ],
)
def test_what_else_a_generation_takes(
    model: str, signed: bool, json_with_tools: bool, validated: bool, media: bool, system: bool
) -> None:
    found = traits_of(model)
    assert (found.signed, found.json_with_tools, found.validated) == (signed, json_with_tools, validated)
    assert (found.media_in_results, found.system) == (media, system)
