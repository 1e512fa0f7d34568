"""The defaults are what is safest with an unknown server (chat-backends 2.1), and a hand may set any field."""

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from proxy.core.profile import DEFAULT, FIELDS, BackendProfile, overridden
from tests.support.tables import table

SAFEST: dict[str, Any] = {
    "dialect": "chat",
    "replay_by_evidence": True,
    "hosts": (),
    "path": "/chat/completions",
    "root": "/v1",
    "auth": "bearer",
    "headers": {},
    "query": {},
    "wire": "auto",
    "offers_responses": False,
    "thinks_beside_tools": True,
    "counter": "none",
    "system_role": "system",
    "late_system": "user",
    "join_users": True,
    "after_tool": None,
    "images": "any",
    "files": False,
    "audio": True,
    "length_field": "max_tokens",
    "length_default": None,
    "usage": "ask",
    "usage_when_whole": False,
    "parallel": "obey",
    "strict_tools": False,
    "force_tool": "object",
    "schema": {"plain"},
    "tool_names": "any",
    "formats": {"json_schema", "json_object"},
    "format_with_tools": True,
    "format_by_evidence": True,
    "calls_beside_format": False,
    "effort_field": "none",
    "effort_map": {},
    "replay": "none",
    "replay_scope": "calls",
    "replay_blank": None,
    "signed_calls": False,
    "call_id": "len40",
    "call_identity": "id",
    "calls_in_other_choices": False,
    "thoughts_until": None,
    "markup": True,
    "markup_formats": frozenset(),
    "markup_without": frozenset(),
    "max_tools": 128,
    "orphan_tools": "keep",
    "extra": {},
    "first_byte_s": 600,
    "sealed_thoughts": False,
    "summaries": False,
    "ways_of_thinking": False,
    "sealed_back": True,
    "tuning_beside_api": frozenset(),
    "length_least": 0,
    "hosted_tools": frozenset(),
    "media_results": False,
    "native_tools": frozenset(),
}


@table("name", sorted(SAFEST))
def test_the_default_of_each_field(name: str) -> None:
    assert getattr(DEFAULT, name) == SAFEST[name]


def test_no_field_is_without_its_default_here() -> None:
    assert {each.name for each in fields(BackendProfile)} - SAFEST.keys() == {"name", "tuning"}
    assert "verbosity" not in DEFAULT.tuning


def test_profiles_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        DEFAULT.path = "/x"  # type: ignore[misc]


def test_a_hand_may_set_fields_in_the_types_that_toml_has() -> None:
    profile = overridden(
        DEFAULT,
        {
            "schema": ["plain", "inline"],
            "hosts": ["a.example"],
            "effort_map": {"max": "high"},
            "first_byte_s": 5,
            "extra": {"think": True},
        },
    )
    assert profile.schema == frozenset({"plain", "inline"})
    assert profile.hosts == ("a.example",)
    assert (profile.effort_map, profile.first_byte_s, profile.extra) == ({"max": "high"}, 5, {"think": True})
    assert profile.parallel == DEFAULT.parallel
    assert DEFAULT.first_byte_s == 600


@table(
    ("overrides", "words"),
    [
        ({"pararel": "omit"}, r"^pararel: no such profile field; there are after_tool, "),
        ({"parallel": "sometimes"}, r"^parallel: .*'omit', 'obey' or 'false'"),
        ({"parallel": False}, r"^parallel: "),
        ({"schema": ["plain", "fancy"]}, r"^schema.*: "),
        ({"first_byte_s": "soon"}, r"^first_byte_s: .*integer"),
        ({"images": None}, r"^images: "),
    ],
)
def test_what_is_wrong_is_told_in_one_line(overrides: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        overridden(DEFAULT, overrides)
    assert "\n" not in str(caught.value)


def test_the_documented_fields_are_those_of_the_dataclass() -> None:
    assert {each.name for each in fields(BackendProfile)} == FIELDS


def test_where_nothing_is_set_nothing_is_made() -> None:
    assert overridden(DEFAULT, {}) is DEFAULT


def test_what_is_said_by_hand_of_reasoning_needs_no_evidence() -> None:
    assert not overridden(DEFAULT, {"replay": "none"}).replay_by_evidence
    assert overridden(DEFAULT, {"replay": "none", "replay_by_evidence": True}).replay_by_evidence
    assert overridden(DEFAULT, {"audio": False}).replay_by_evidence


def test_nor_does_what_is_said_of_a_format_beside_tools() -> None:
    for said in (True, False):
        assert not overridden(DEFAULT, {"format_with_tools": said}).format_by_evidence
    assert overridden(DEFAULT, {"audio": False}).format_by_evidence
