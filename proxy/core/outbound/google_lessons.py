"""What Gemini's refusals teach: a table as in `lessons`, whose rows are told there."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from proxy.core.capabilities import BackendProfile
from proxy.core.outbound.lessons import Change, Lesson


def learn(profile: BackendProfile, message: str, learned: Collection[str] = ()) -> Lesson | None:
    """The first row, apart from those `learned` before, that matches the refusal and changes something."""
    for row, pattern, change in LESSONS:
        if row not in learned and (match := pattern.search(message)):
            changed = change(profile, match)
            if changed != profile:
                return Lesson(row, changed, lasting=row not in OF_THIS_CONVERSATION)
    return None


def _set(**changes: Any) -> Change:
    return lambda profile, _: replace(profile, **changes)


def _efforts(**words: str) -> Change:
    return lambda profile, _: replace(profile, effort_map={**profile.effort_map, **words})


def _older_schema(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    return replace(profile, schema=(profile.schema - {"google"}) | {"google_proto"})


def _without(*names: str) -> Change:
    return lambda profile, _: replace(profile, tuning=profile.tuning - set(names))


_TUNING = {"temperature": "temperature", "topp": "top_p", "seed": "seed", "stopsequences": "stop"}


def _without_named(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    return _without(_TUNING[match["name"].replace("_", "").lower()])(profile, match)


def _says(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_REFUSED = r"(?:not (?:supported|enabled|allowed|available)|unsupported|cannot be used)"

LESSONS: tuple[tuple[str, re.Pattern[str], Change], ...] = (
    ("signatures", _says(r"(?:corrupted|invalid|missing a) thought[_ ]?signature"), _set(signed_calls=False)),
    ("level", _says(rf"\bMINIMAL\b.{{0,60}}{_REFUSED}"), _efforts(none="low", minimal="low")),
    ("level", _says(r"budget 0 is invalid|only works in thinking mode"), _efforts(none="minimal")),
    ("thinking", _says(rf"thinking.{{0,60}}{_REFUSED}"), _set(effort_field="none")),
    ("format", _says(r"function calling with.{0,60}mime type"), _set(format_with_tools=False)),
    ("schema", _says(r"unknown name \W*parameters_?json_?schema"), _older_schema),
    ("logprobs", _says(rf"logprobs.{{0,60}}{_REFUSED}"), _without("logprobs", "top_logprobs")),
    ("penalty", _says(rf"penalty.{{0,60}}{_REFUSED}"), _without("presence_penalty", "frequency_penalty")),
    (
        "tuning",
        _says(rf"\b(?P<name>temperature|top_?p|seed|stop_?sequences)\b.{{0,60}}{_REFUSED}"),
        _without_named,
    ),
    ("images", _says(r"cannot fetch content|(?:invalid or )?unsupported file uri"), _set(images="data")),
)

OF_THIS_CONVERSATION = frozenset({"signatures"})
"""Another conversation's signatures are good."""
