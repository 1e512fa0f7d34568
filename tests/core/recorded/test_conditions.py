"""What an exchange was read with."""

import pytest

from proxy.core.backends.profiles import PROFILES
from proxy.core.profile import DEFAULT
from proxy.core.recorded.conditions import (
    groups_of,
    known_of,
    profile_of,
    recorded_profile,
    recorded_tenant,
    target_of,
    tenant_of,
)
from proxy.core.recorded.lines import BadRecording
from proxy.core.recorded.recording import RecordedKnown
from proxy.core.tenants import Mode, Tenant, ToolLimits
from tests.support.recordings import attempt


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_profiles_come_back(name: str) -> None:
    assert profile_of(attempt(profile=name)) == PROFILES[name]


def test_tenants_come_back() -> None:
    tenant = Tenant("ann", ToolLimits(tools=3), Mode.WARN, ("a*",))
    assert tenant_of(recorded_tenant(tenant)) == tenant


def test_a_field_of_another_version_is_left_out() -> None:
    made = attempt()
    made.profile = recorded_profile(DEFAULT) | {"of_tomorrow": 1}
    assert profile_of(made) == DEFAULT


@pytest.mark.parametrize("fields", [{"markup": []}, {"dialect": "unheard"}])
def test_a_profile_that_cannot_be(fields: dict[str, object]) -> None:
    made = attempt()
    made.profile = fields
    with pytest.raises(BadRecording):
        profile_of(made)


def test_rules_that_cannot_be() -> None:
    with pytest.raises(BadRecording):
        tenant_of({"limits": {"tools": -1}, "name": "ann"})


@pytest.mark.parametrize(
    ("key", "own", "has"), [("own", True, True), ("client", False, True), ("none", False, False)]
)
def test_whose_key_it_was(key: str, own: bool, has: bool) -> None:
    target = target_of(attempt(key=key), DEFAULT)
    assert (target.own_key, bool(target.key)) == (own, has)


def test_what_was_known() -> None:
    assert known_of(None) is None
    known = known_of(RecordedKnown(previous="resp_1", history=b"[1]", items={"a": b"{}"}))
    assert known is not None
    assert (known.named.previous, known.history, known.references) == ("resp_1", b"[1]", {"a": b"{}"})


def test_what_a_refusal_taught_belongs_to_the_attempt_that_it_refused() -> None:
    those = [attempt(why=why) for why in ("lesson", "lesson", "again", "lesson", "elsewhere")]
    assert [len(group) for group in groups_of(those)] == [2, 2, 1]


def test_an_answer_in_another_language_is_another_reply() -> None:
    those = [attempt(), attempt(why="lesson"), attempt(why="lesson")]
    those[2].profile = those[2].profile | {"dialect": "responses"}
    assert [len(group) for group in groups_of(those)] == [2, 1]
