"""What refusals of Chat backends teach: the table for `reading.lessons`."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from proxy.core.backends.efforts import THINKING_SWITCH
from proxy.core.dialects.reading import refused_fields
from proxy.core.dialects.reading.effort_lessons import EFFORT_ROWS
from proxy.core.dialects.reading.lessons import (
    FEWER_TOOLS,
    FORMAT_BESIDE_TOOLS,
    LIMIT_ROWS,
    NO_REPLAY,
    ProfileChange,
    Row,
    says,
    setting,
)
from proxy.core.dialects.reading.refused_fields import REFUSED, REFUSED_VALUE, UNKNOWN_FIELD
from proxy.core.profile import AnswerFormat, BackendProfile, ForceTool, LateSystem, LengthField, SchemaRule

THINKING_BUDGET = 8192
"""Tokens of thought where a number is demanded: most vendors take so many for a medium effort."""

_NEEDED = frozenset({"model", "messages", "stream", "tools"})
"""Without these there is no request; a complaint about them is about something else."""


# ── changes ────────────────────────────────────────────────────────────────────────────────────────────────────


def _other_length(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    return _without_field(profile, match["refused"])


def _carry_reasoning(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    replay = "reasoning_content" if profile.replay == "none" else profile.replay
    carrying = replace(profile, replay=replay, replay_blank=" ")
    return carrying if carrying != profile else replace(profile, replay_scope="all")


_STRICTER_SYSTEM: dict[LateSystem, LateSystem] = {"keep": "user", "user": "merge", "merge": "merge"}


def _stricter_system(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    return replace(profile, late_system=_STRICTER_SYSTEM[profile.late_system], join_users=True)


def _weaker_choice(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    ladder: tuple[ForceTool, ...] = get_args(ForceTool)
    step = ladder.index(profile.force_tool) + 1
    return replace(profile, force_tool=ladder[min(step, len(ladder) - 1)])


def _more_reductions(*rules: SchemaRule) -> ProfileChange:
    return lambda profile, _: replace(profile, schema=profile.schema.union(rules))


def _fewer_formats(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    """The server lists what it takes, or names what it refuses. If it does neither, it speaks of one type, which was
    the more demanding one, or of all."""
    known: tuple[AnswerFormat, ...] = get_args(AnswerFormat)
    if listed := match["listed"]:
        return replace(profile, formats=frozenset(kind for kind in profile.formats if kind in listed))
    named = [kind for kind in known if kind in match[0]]
    unnamed = known[:1] if "type" in match[0] else known
    return replace(profile, formats=profile.formats - set(named or unnamed))


def _one_switch(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    if profile.effort_field == "thinking":
        return replace(profile, effort_map=THINKING_SWITCH)
    return replace(profile, extra={**profile.extra, "thinking": None})


def _budget(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    return replace(profile, extra={**profile.extra, "thinking_budget": THINKING_BUDGET})


def _orphans(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    return replace(profile, orphan_tools="declare" if profile.orphan_tools == "keep" else "flatten")


def _no_logprobs(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    return replace(profile, tuning=profile.tuning - {"logprobs", "top_logprobs"})


ONLY_RESPONSES = says(
    r"only supported in v1/responses|unsupported_api_for_model|"
    r"chatcompletion operation does not work with the specified"
)


def _by_responses(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    """Unless somebody has said by hand how it is to be asked."""
    return replace(profile, wire="responses") if profile.wire == "auto" else profile


# ── fields that a closed schema does not list ──────────────────────────────────────────────────────────────────

_OTHER_LENGTH: dict[str, LengthField] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
_DECIDED_BY: dict[str, dict[str, Any]] = {
    "stream_options": {"usage": "never"},
    "parallel_tool_calls": {"parallel": "omit"},
    "tool_choice": {"force_tool": "auto"},
    "response_format": {"formats": frozenset()},
    "reasoning_content": NO_REPLAY,
    "reasoning_details": NO_REPLAY,
    "reasoning_effort": {"effort_field": "none"},
    "reasoning": {"effort_field": "none"},
    "thinking": {"effort_field": "none"},
    "enable_thinking": {"effort_field": "none"},
    "chat_template_kwargs": {"effort_field": "none"},
}
"""These fields of the profile decide whether a field is sent."""


def _without_named(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    """A name may be a path: below `messages` only thoughts can be left out, and below `tools` only `strict`."""
    match refused_fields.steps(match):
        case ["messages", *_]:
            return replace(profile, **NO_REPLAY) if profile.replay != "none" else profile
        case ["tools", *_, "strict"]:
            return replace(profile, strict_tools=False)
        case [name, *_] if name not in _NEEDED:
            return _without_field(profile, name)
    return profile


def _without_listed(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    for name in refused_fields.steps(match):
        if name not in _NEEDED:
            profile = _without_field(profile, name)
    return profile


def _without_field(profile: BackendProfile, name: str) -> BackendProfile:
    field = refused_fields.snake(name)
    if field in _OTHER_LENGTH:
        return replace(profile, length_field=_OTHER_LENGTH[field])
    if field in _DECIDED_BY:
        return replace(profile, **_DECIDED_BY[field])
    if field in profile.tuning:
        return replace(profile, tuning=profile.tuning - {field})
    return profile if field in _NEEDED else replace(profile, extra={**profile.extra, field: None})


# ── the table ──────────────────────────────────────────────────────────────────────────────────────────────────

LESSONS: Sequence[Row] = (
    Row("length_field", says(rf"(?P<refused>max_(?:completion_)?tokens)\W+is {REFUSED}"), _other_length),
    Row("replay", says(r"must be passed back to the API|reasoning_content is missing"), _carry_reasoning),
    Row(
        "late_system",
        says(r"System message must be at the beginning|invalid message role: system|invalid chat setting"),
        _stricter_system,
    ),
    Row("alternate", says(r"roles must alternate|should be alternating"), setting(join_users=True)),
    Row("after_tool", says(r"Unexpected role 'user' after role 'tool'"), setting(after_tool="Done.")),
    Row("call_id", says(r"with a length of 9\b"), setting(call_id="alnum9")),
    Row("call_id", says(r"maximum length 40\b"), setting(call_id="len40")),
    Row("force_tool", says(r"does not support this tool_choice"), setting(force_tool="auto")),
    Row("force_tool", says(r"Invalid tool_choice"), _weaker_choice),
    Row("parallel", says(r"single tool-calls at once"), setting(parallel="false")),
    Row("parallel", says(rf"parallel_tool_calls\b.{{0,80}}{REFUSED}"), setting(parallel="omit")),
    Row(
        "strict",
        says(rf"\bstrict\b[^.]{{0,80}}{REFUSED}|{REFUSED}[^.]{{0,80}}\bstrict\b"),
        setting(strict_tools=False),
    ),
    FEWER_TOOLS,
    Row("schema", says(r"flavored json schema"), _more_reductions("moonshot")),
    Row(
        "schema",
        says(r"failed to parse grammar|JSON schema error"),
        _more_reductions("bounded", "inline"),
        lasting=False,  # these tools are too much for it; other requests bring others
    ),
    Row("format_with_tools", FORMAT_BESIDE_TOOLS, setting(format_with_tools=False)),
    Row(
        "formats",
        says(
            r"(?<!schema for )response_format\b[^.]{0,80}(?:\.type)?\W{1,9}"
            rf"(?:must be (?P<listed>.{{0,200}})|.{{0,80}}\b{REFUSED})"
            r"|does not support response_format\b"
        ),
        _fewer_formats,
    ),
    Row(
        "formats",
        says(
            r"response_format\W{1,12}type\b.{0,120}?input should be "
            r"(?P<listed>\\?'\w{1,30}\\?'(?:,? (?:or )?\\?'\w{1,30}\\?'){0,8})"
        ),
        _fewer_formats,
    ),
    *LIMIT_ROWS,
    Row(
        "thinking",
        says(r"Function tools with reasoning_effort are not supported"),
        setting(thinks_beside_tools=False),
    ),
    Row("wire", ONLY_RESPONSES, _by_responses),
    Row("effort", says(r"cannot specify both\b.{0,80}thinking"), _one_switch),
    Row("effort", says(r"thinking_budget parameter"), _budget),
    Row("effort", says(r"does not support thinking"), setting(effort_field="none")),
    *EFFORT_ROWS,
    Row("orphan_tools", says(r"without `tools=` param"), _orphans),
    Row(
        "usage",
        says(rf"stream_options\b.{{0,80}}{REFUSED}|{REFUSED}.{{0,80}}stream_options"),
        setting(usage="never"),
    ),
    Row("images", says(r"image input is not supported"), setting(images="none")),
    Row("images", says(r"image URLs are not currently supported"), setting(images="data")),
    Row("logprobs", says(r"logprobs is not supported with tools"), _no_logprobs, lasting=False),
    Row(
        "unknown_field",
        says(r"does not support parameters: \[(?P<listed>['\"][a-z_][^\]]{0,400})"),  # LiteLLM
        _without_listed,
    ),
    Row("unknown_field", UNKNOWN_FIELD, _without_named, each=True),
    Row("value", REFUSED_VALUE, _without_named, lasting=False, each=True),
)
"""The general rows stand last: they match much of what others understand better."""
