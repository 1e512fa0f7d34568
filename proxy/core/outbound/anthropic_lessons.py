"""What a refusal of the Messages API teaches: a table `text → change of the profile`, as `lessons` explains it.

Some are true of the model, some only of this conversation: that its thoughts no longer fit what stands before them.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from proxy.core.capabilities import BackendProfile
from proxy.core.outbound.lessons import Change, Lesson

BETA = "anthropic-beta"
BINDING = "thinking-binding-controls-2026-08-01"
"""Needed for `block_binding`."""

WORTHWHILE = 4096
"""Tokens of an answer. A conversation that leaves less has outgrown its window."""


class _Row(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    change: Change
    lasting: bool = True


def learn(profile: BackendProfile, message: str, learned: Collection[str] = ()) -> Lesson | None:
    """The first row, apart from those `learned` before, that matches the refusal and changes something."""
    for row in ROWS:
        if row.name not in learned and (match := row.pattern.search(message)):
            changed = row.change(profile, match)
            if changed != profile:
                return Lesson(row.name, changed, row.lasting)
    return None


# ── changes ────────────────────────────────────────────────────────────────────────────────────────────────────


def _set(**changes: Any) -> Change:
    return lambda profile, _: replace(profile, **changes)


def _adding(**patch: Any) -> Change:
    return lambda profile, _: replace(profile, extra={**profile.extra, **patch})


def _drop_unbound(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    """The server leaves out the thoughts that no longer fit: it alone knows which."""
    thinking = {
        "type": "adaptive",
        "budget_tokens": None,
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    return replace(
        profile, extra={**profile.extra, "thinking": thinking}, headers=_with_beta(profile.headers, BINDING)
    )


def _keep_unbound(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    """A server that knows no `block_binding` gets none of the thoughts."""
    thinking = {**profile.extra.get("thinking", {}), "block_binding": None}
    return replace(profile, replay="none", extra={**profile.extra, "thinking": thinking})


def _with_beta(headers: Mapping[str, str], beta: str) -> Mapping[str, str]:
    known = next((name for name in headers if name.lower() == BETA), BETA)
    betas = [each for each in headers.get(known, "").split(",") if each]
    return {**headers, known: ",".join(dict.fromkeys([*betas, beta]))}


def _without_tuning(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    return replace(profile, tuning=profile.tuning - set(re.findall(r"temperature|top_p", match[0])))


def _shorter(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    return replace(profile, length_default=int(match["most"]))


def _what_fits(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    """Our default filled the window beyond what the conversation left; a client's own limit is not changed."""
    room = int(match["window"]) - int(match["input"])
    return replace(profile, length_default=room) if room >= WORTHWHILE else profile


_DECIDED_BY: Mapping[str, Mapping[str, Any]] = {
    "thinking": {"effort_field": "none"},
    "output_config": {"effort_field": "none", "formats": frozenset()},
    "output_config.effort": {"effort_field": "none"},
    "output_config.format": {"formats": frozenset()},
    "tools.strict": {"formats": frozenset()},
    "tool_choice.disable_parallel_tool_use": {"parallel": "omit"},
    "tool_choice": {"force_tool": "auto"},
    "stop_sequences": {"tuning": frozenset()},
}
"""The field of the profile that decides whether a field is sent."""

_NEEDED = frozenset({"model", "messages", "max_tokens", "stream", "tools", "system"})


def _without_field(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    steps = [step for step in match["field"].split(".") if step.isidentifier() and step != "custom"]
    place = ".".join(steps)
    whole = steps[0]
    if place in _DECIDED_BY:
        return replace(profile, **_DECIDED_BY[place])
    if whole in _NEEDED or len(steps) > 1:
        return profile
    return replace(profile, extra={**profile.extra, whole: None})


# ── the table ──────────────────────────────────────────────────────────────────────────────────────────────────


def _says(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_NO_THINKING = {"type": "disabled", "budget_tokens": None, "display": None, "block_binding": None}

ROWS: tuple[_Row, ...] = (
    _Row("bound", _says(r"bound to a different conversation"), _drop_unbound, lasting=False),
    _Row("unbound", _says(r"bound to a different conversation"), _set(replay="none"), lasting=False),
    _Row("binding", _says(r"block_binding"), _keep_unbound, lasting=False),
    _Row(
        "thoughts_lost",
        _says(r"Expected \W*(?:redacted_)?thinking\b.{0,60}\bfound\b.{0,20}\b(?:tool_use|text)\b"),
        _adding(thinking=_NO_THINKING),
        lasting=False,
    ),
    _Row(
        "thoughts_refused",
        _says(r"invalid \W*signature\W* in \W*thinking|thinking\b.{0,60}\bcannot be modified"),
        _set(replay="none"),
        lasting=False,
    ),
    _Row(
        "force_tool",
        _says(r"tool_choice\b.{0,80}\b(?:forces? tool|not (?:supported|allowed|compatible))"),
        _set(force_tool="auto"),
    ),
    _Row(
        "sampling",
        _says(
            r"(?:temperature|top_p)\W.{0,80}"
            r"(?:deprecated|not supported|cannot both|not (?:allowed|permitted)|only be set)"
        ),
        _without_tuning,
    ),
    _Row("max_tokens", _says(r"max_tokens\W.{0,20}\d+ > (?P<most>\d+)"), _shorter),
    _Row(
        "room",
        _says(r"exceed context limit: (?P<input>\d+) \+ \d+ > (?P<window>\d+)"),
        _what_fits,
        lasting=False,
    ),
    _Row(
        "effort",
        _says(r"does not support (?:the )?(?:\w+ )?(?:effort|thinking)|thinking\W.{0,60}not supported"),
        _set(effort_field="none"),
    ),
    _Row("late_system", _says(r"(?:role|messages)\b.{0,80}\bsystem\b"), _set(late_system="user")),
    _Row(
        "orphan_tools", _says(r"tool_(?:use|result)\b.{0,80}must define tools"), _set(orphan_tools="declare")
    ),
    _Row(
        "grammar",
        _says(
            r"too many strict tools|too many optional parameters|schema is too complex|compiled grammar is too"
            r"|grammar compilation|output_config\W.{0,80}not supported"
        ),
        _set(formats=frozenset()),
    ),
    _Row("unknown_field", _says(r"(?P<field>[a-z_][\w.]*): Extra inputs are not permitted"), _without_field),
)
"""The general row last: it matches much of what others understand better."""
