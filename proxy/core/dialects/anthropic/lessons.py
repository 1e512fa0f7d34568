"""What refusals of the Messages API teach: the table for `reading.lessons`.

Some are true of the model, some only of this conversation: that its thoughts no longer fit what stands before them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proxy.core.dialects.reading.lessons import LIMIT_ROWS, ProfileChange, Row, says, setting
from proxy.core.profile import BackendProfile

BETA = "anthropic-beta"
BINDING = "thinking-binding-controls-2026-08-01"
"""The API needs it for `block_binding`."""


# ── changes ────────────────────────────────────────────────────────────────────────────────────────────────────


def _adding(**patch: Any) -> ProfileChange:
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


def _without_user(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    """The API refuses the client's name for its user, so none is sent."""
    return replace(profile, tuning=profile.tuning - {"user"})


def _shorter(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    return replace(profile, length_default=max(1, int(match["most"])))


_DECIDED_BY: Mapping[str, Mapping[str, Any]] = {
    "thinking": {"effort_field": "none"},
    "output_config": {"effort_field": "none", "formats": frozenset()},
    "output_config.effort": {"effort_field": "none"},
    "output_config.format": {"formats": frozenset()},
    "tools.strict": {"formats": frozenset()},
    "tool_choice.disable_parallel_tool_use": {"parallel": "omit"},
    "tool_choice": {"force_tool": "auto"},
}
"""These fields of the profile decide whether a field is sent."""

_TUNING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "stop_sequences": "stop",
    "service_tier": "service_tier",
    "metadata": "user",
}
"""These fields are sent only as far as they stand among the profile's tuning, under the names there."""

_NEEDED = frozenset({"model", "messages", "max_tokens", "stream", "tools", "system"})


def _without_field(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    steps = [step for step in match["field"].split(".") if step.isidentifier() and step != "custom"]
    path = ".".join(steps)
    whole = steps[0]
    if path in _DECIDED_BY:
        return replace(profile, **_DECIDED_BY[path])
    if whole in _TUNING:
        return replace(profile, tuning=profile.tuning - {_TUNING[whole]})
    if whole in _NEEDED or len(steps) > 1:
        return profile
    return replace(profile, extra={**profile.extra, whole: None})


# ── the table ──────────────────────────────────────────────────────────────────────────────────────────────────


_NO_THINKING = {"type": "disabled", "budget_tokens": None, "display": None, "block_binding": None}

LESSONS: Sequence[Row] = (
    Row("bound", says(r"bound to a different conversation"), _drop_unbound, lasting=False),
    Row("unbound", says(r"bound to a different conversation"), setting(replay="none"), lasting=False),
    Row("binding", says(r"block_binding"), _keep_unbound, lasting=False),
    Row(
        "thoughts_lost",
        says(r"Expected \W*(?:redacted_)?thinking\b.{0,60}\bfound\b.{0,20}\b(?:tool_use|text)\b"),
        _adding(thinking=_NO_THINKING),
        lasting=False,
    ),
    Row(
        "thoughts_refused",
        says(r"invalid \W*signature\W* in \W*thinking|thinking\b.{0,60}\bcannot be modified"),
        setting(replay="none"),
        lasting=False,
    ),
    Row(
        "force_tool",
        says(r"tool_choice\b.{0,80}\bnot supported for this model"),
        setting(force_tool="auto"),
    ),
    Row(
        "force_thinking",
        says(r"tool_choice\b.{0,80}\b(?:forces? tool|not (?:supported|allowed|compatible))"),
        setting(force_tool="auto"),
        lasting=False,  # not while it thinks
    ),
    Row(
        "sampling",
        says(r"(?:temperature|top_p)\W{1,5}is (?:deprecated|not supported|not (?:allowed|permitted))"),
        _without_tuning,
    ),
    Row(
        "sampled",
        says(
            r"(?:temperature|top_p)\W(?!\W{0,3}Extra inputs).{0,80}"
            r"(?:deprecated|not supported|cannot both|not (?:allowed|permitted)|only be set)"
        ),
        _without_tuning,
        lasting=False,  # not this value, or not beside what else is asked for
    ),
    Row("user", says(r"metadata\b.{0,20}\buser_id"), _without_user, lasting=False),
    Row("max_tokens", says(r"max_tokens\W.{0,20}\d{1,9} > (?P<most>\d{1,9})"), _shorter),
    *LIMIT_ROWS,
    Row(
        "effort",
        says(
            r"does not support (?:the )?(?:effort|(?:\w+ )?thinking)"
            r"|thinking(?:\.type\.\w+)?\W{1,5}is not supported"
        ),
        setting(effort_field="none"),
    ),
    Row(
        "level",
        says(r"does not support (?:the )?\w+ effort|(?:effort|thinking)\W.{0,60}not supported"),
        setting(effort_field="none"),
        lasting=False,  # another one may be
    ),
    Row("late_system", says(r"(?:role|messages)\b.{0,80}\bsystem\b"), setting(late_system="user")),
    Row(
        "orphan_tools",
        says(r"tool_(?:use|result)\b.{0,80}must define tools"),
        setting(orphan_tools="declare"),
    ),
    Row(
        "grammar",
        says(
            r"too many strict tools|too many optional parameters|schema is too complex|compiled grammar is too"
            r"|grammar compilation|output_config\W.{0,80}not supported"
        ),
        setting(formats=frozenset()),
        lasting=False,  # these schemas are too much for it; other requests bring others
    ),
    Row(
        "unknown_field",
        says(r"(?<![\w.])(?P<field>[a-z_][\w.]*): Extra inputs are not permitted"),
        _without_field,
    ),
)
"""The general row stands last: it matches much of what others understand better."""
