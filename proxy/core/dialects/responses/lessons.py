"""What refusals of Responses backends teach: the table for `reading.lessons`."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from proxy.core.dialects.reading import refused_fields
from proxy.core.dialects.reading.effort_lessons import EFFORT_ROWS
from proxy.core.dialects.reading.lessons import (
    FEWER_TOOLS,
    FORMAT_BESIDE_TOOLS,
    LIMIT_ROWS,
    Row,
    says,
    setting,
)
from proxy.core.dialects.reading.refused_fields import REFUSED, REFUSED_VALUE, UNKNOWN_FIELD
from proxy.core.profile import BackendProfile, NativeTool

_NEEDED = frozenset({"model", "input", "stream", "tools"})
"""Without these there is no request; a complaint about them is about something else."""

_DECIDED_BY: dict[tuple[str, ...], dict[str, Any]] = {
    ("include",): {"sealed_thoughts": False},
    ("parallel_tool_calls",): {"parallel": "omit"},
    ("reasoning",): {"effort_field": "none", "sealed_thoughts": False},
    ("reasoning", "context"): {"ways_of_thinking": False},
    ("reasoning", "effort"): {"effort_field": "none"},
    ("reasoning", "mode"): {"ways_of_thinking": False},
    ("reasoning", "summary"): {"summaries": False},
    ("text", "format"): {"formats": frozenset()},
    ("tool_choice",): {"force_tool": "auto"},
}
"""These fields of the profile decide whether a field is sent."""


_KINDS = "|".join(get_args(NativeTool))
NATIVE_REFUSED = says(rf"(?:invalid value:|tools?) [\\'\"]{{1,3}}(?P<kind>{_KINDS})[\\'\"]")
KIND_REFUSED = says(rf"\b(?P<kind>{_KINDS}) tools? (?:(?:is|are) not supported|requires?\b|must\b)")


def _without_named(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    """A name may be a path: inside the conversation only thoughts can be left out."""
    path = tuple(refused_fields.snake(name) for name in refused_fields.steps(match))
    if path[0] == "input":
        return replace(profile, replay="none")
    if path[0] == "tools":
        return _tools_without(profile, path[-1])
    if path in (("tool_choice", "type"), ("tool_choice", "mode"), ("tool_choice", "tools")):
        return replace(profile, native_tools=frozenset())
    if path in _DECIDED_BY:
        return replace(profile, **_DECIDED_BY[path])
    return profile if path[0] in _NEEDED else _without_field(profile, path)


DECLARED_BY = ("type", "format", "tools")
"""The members of tools that are no functions."""


def _tools_without(profile: BackendProfile, name: str) -> BackendProfile:
    if name == "strict":
        return replace(profile, strict_tools=False)
    return replace(profile, native_tools=frozenset()) if name in DECLARED_BY else profile


def _as_functions(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    refused = match["kind"].lower()
    return replace(profile, native_tools=frozenset(kind for kind in profile.native_tools if kind != refused))


def _without_field(profile: BackendProfile, path: tuple[str, ...]) -> BackendProfile:
    if path[-1] in profile.tuning:
        return replace(profile, tuning=profile.tuning - {path[-1]})
    patch: Any = None
    for name in reversed(path):
        patch = {name: patch}
    return replace(profile, extra={**profile.extra, **patch})


def _by_chat(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    """Unless somebody has said by hand how it is to be asked."""
    return replace(profile, wire="chat") if profile.wire == "auto" else profile


LESSONS: Sequence[Row] = (
    Row(
        "wire",
        says(r"only supported in v1/chat/completions|not supported (?:in|with) the responses api"),
        _by_chat,
    ),
    Row("native_tools", NATIVE_REFUSED, _as_functions, each=True),
    Row("native_tools", KIND_REFUSED, _as_functions, each=True),
    Row(
        "sealed_thoughts",
        says(r"encrypted content is not supported"),
        setting(sealed_thoughts=False, sealed_back=False),
    ),
    Row(
        "foreign_thoughts",
        says(r"encrypted[_ ]content\b.{0,200}could not be (?:verified|decrypted)|invalid_encrypted_content"),
        setting(sealed_back=False),
        lasting=False,
    ),
    Row("summary", says(r"generate reasoning summaries"), setting(summaries=False)),
    Row("late_system", says(r"System message must be at the beginning"), setting(late_system="user")),
    Row("alternate", says(r"roles must alternate|should be alternating"), setting(join_users=True)),
    Row(
        "strict",
        says(rf"\bstrict\b[^.]{{0,80}}{REFUSED}|{REFUSED}[^.]{{0,80}}\bstrict\b"),
        setting(strict_tools=False),
    ),
    FEWER_TOOLS,
    Row("format_with_tools", FORMAT_BESIDE_TOOLS, setting(format_with_tools=False)),
    *LIMIT_ROWS,
    Row(
        "files",
        says(r"'?input_file'? is not supported"),
        setting(files=False),
    ),
    Row("media_results", says(r"output of tool call should be"), setting(media_results=False)),
    Row("images", says(r"image input is not supported"), setting(images="none")),
    Row("images", says(r"image URLs are not currently supported"), setting(images="data")),
    Row("effort", says(r"does not support thinking"), setting(effort_field="none")),
    *EFFORT_ROWS,
    Row("unknown_field", UNKNOWN_FIELD, _without_named, each=True),
    Row("value", REFUSED_VALUE, _without_named, lasting=False, each=True),
)
"""The general rows stand last: they match much of what others understand better."""
