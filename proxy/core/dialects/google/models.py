"""In what the generations of Gemini differ, by the model's name: each row is what the API refuses to do otherwise.

The first row whose pattern is found in the name counts. New models are taken for the newest that is known, since each
generation has kept what the one before it took.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

Thinking = Literal["none", "budget", "level"]
Config = dict[str, Any]

MODELS_AT_A_TIME = 256
"""Their traits are remembered by their names."""

DYNAMIC = -1
"""The budget with which a model decides by itself how much it thinks."""
BUDGETS = {"minimal": 512, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768, "max": 32768}
"""Tokens of thought for the words of an effort, as Google's own OpenAI endpoint has the usual three."""
EFFORTS = frozenset({"none", *BUDGETS})


def _levels(none: str, minimal: str, medium: str) -> Mapping[str, str]:
    return {
        "none": none, "minimal": minimal, "low": "LOW", "medium": medium,
        "high": "HIGH", "xhigh": "HIGH", "max": "HIGH",
    }  # fmt: skip


ALL_LEVELS = _levels("MINIMAL", "MINIMAL", "MEDIUM")
FROM_LOW = _levels("LOW", "LOW", "MEDIUM")
LOW_OR_HIGH = _levels("LOW", "LOW", "HIGH")


@dataclass(frozen=True, slots=True)
class Traits:
    thinking: Thinking = "level"
    """Thinking is asked for in this way; the model refuses the words of the other way, and some refuse both."""
    levels: Mapping[str, str] = field(default_factory=lambda: FROM_LOW)
    budgets: range = range(0)
    """Goes from the least that the model must think to the most."""
    signed: bool = True
    """Is a call of the current turn refused without its signature?"""
    json_with_tools: bool = True
    validated: bool = True
    """Can it be held to the tools' schemas while it is free to call none?"""
    media_in_results: bool = True
    """May an image stand inside a tool's result?"""
    system: bool = True
    """Is there a place for instructions?"""

    def thinking_config(self, effort: str | None, *, with_thoughts: bool) -> Config | None:
        """Makes the configuration for an effort in the client's words; None if nothing is to be said. `with_thoughts`:
        the thoughts themselves are wanted."""
        if self.thinking == "none" or not (effort or with_thoughts):
            return None
        if self.thinking == "level":
            level = self.levels.get(effort or "")
            return ({"thinkingLevel": level} if level else {}) | {"includeThoughts": True}
        budget = self._budget(effort)
        return {"thinkingBudget": budget} | ({"includeThoughts": True} if budget else {})

    def _budget(self, effort: str | None) -> int:
        if effort == "none":
            return self.budgets.start
        wanted = BUDGETS.get(effort or "")
        return DYNAMIC if wanted is None else min(max(wanted, self.budgets.start), self.budgets.stop)


NEWEST = Traits()
_THIRD = replace(NEWEST, levels=ALL_LEVELS)
_OLD = Traits(thinking="none", signed=False, json_with_tools=False, validated=False, media_in_results=False)
_SECOND = replace(_OLD, thinking="budget", validated=True)

TRAITS: tuple[tuple[re.Pattern[str], Traits], ...] = tuple(
    (re.compile(pattern), traits)
    for pattern, traits in (
        (r"gemma", replace(_OLD, system=False)),
        (r"gemini-(?:1\.|2\.0)", _OLD),
        (r"gemini-2\.5.*(?:image|tts)", _OLD),
        (r"gemini-2\.5-pro", replace(_SECOND, budgets=range(128, 32768))),
        (r"gemini-2\.5", replace(_SECOND, budgets=range(24576))),
        (r"gemini.*image|banana", replace(NEWEST, thinking="none")),
        (r"gemini-3-pro", replace(NEWEST, levels=LOW_OR_HIGH)),
        (r"gemini-3\.[78]-flash|gemini-3\.\d+-pro", NEWEST),
        (r"gemini-3", _THIRD),
        (r"gemini", NEWEST),
    )
)
UNKNOWN = replace(NEWEST, thinking="none", media_in_results=False)
"""Describes an unknown name, which may stand for any generation: the proxy sends only what all of them take."""


@lru_cache(MODELS_AT_A_TIME)
def traits_of(model: str) -> Traits:
    name = model.lower()
    return next((found for pattern, found in TRAITS if pattern.search(name)), UNKNOWN)
