"""What is kept of lessons is what they were, and nothing that is read can be more than a lesson."""

from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.kept_lessons import KeptLesson, identity, read, written
from proxy.core.backends.learned import ABSENT, LASTS_SECONDS, MAX_LESSONS, Change, Learned
from proxy.core.backends.target import Target
from proxy.core.profile import DEFAULT, BackendProfile
from tests.support.tables import table

BASE = replace(DEFAULT, extra={"a": 1}, effort_map={"max": "high"})
NOW = 1_000.5


def entries(*found: Any) -> bytes:
    return jsontext.dumps(list(found))


def lesson(field: str, value: Any, key: str | None = None, ends: Any = NOW + 60) -> dict[str, Any]:
    return {"field": field, "key": key, "value": value, "ends": ends}


def found(data: bytes, profile: BackendProfile = BASE) -> list[KeptLesson]:
    return [*read(data, profile, NOW)]


@table(
    "change",
    [
        Change("usage", None, "never"),
        Change("usage_when_whole", None, True),
        Change("thoughts_until", None, "</think>"),
        Change("length_default", None, 2048),
        Change("tuning", "seed", False),
        Change("schema", "moonshot", True),
        Change("extra", "b", None),
        Change("extra", "b", {"c": [1]}),
        Change("extra", "a", ABSENT),
        Change("effort_map", "none", "low"),
        Change("effort_map", "none", None),
    ],
)
def test_what_was_written_is_read(change: Change) -> None:
    assert found(written([KeptLesson(change, 60)], NOW)) == [KeptLesson(change, 60)]


@table(
    "data",
    [
        b"",
        b"[",
        b"{}",
        b"[[]]",
        b'[{"field": "usage"}]',
        entries(lesson("usage", "never", ends=NOW)),
        entries(lesson("usage", "never", ends="soon")),
        entries(lesson("usage", "sometimes")),
        entries(lesson("usage", "never", key="never")),
        entries({"field": "usage", "key": None, "ends": NOW + 60}),
        entries(lesson("tuning", False)),
        entries(lesson("tuning", 1, key="seed")),
        entries(lesson("formats", True, key="yaml")),
        entries(lesson("extra", 1)),
        entries(lesson("effort_map", [], key="none")),
        entries(lesson("nonsense", 1)),
        entries(lesson("headers", "there", key="Authorization")),
        entries(lesson("path", "/elsewhere")),
        entries(lesson("auth", "none")),
        entries(lesson("dialect", "google")),
    ],
)
def test_what_is_no_lesson_is_as_if_it_were_not_there(data: bytes) -> None:
    assert found(data) == []
    good = lesson("usage", "never")
    assert len(found(entries(*(jsontext.loads(data) if data[-1:] == b"]" else []), good))) == 1


def test_no_lesson_holds_longer_than_one_that_is_taught_now() -> None:
    """Whatever the clocks of two machines say."""
    ((_, left),) = found(entries(lesson("usage", "never", ends=NOW + 1e9)))
    assert left == LASTS_SECONDS


def test_the_last_ones_count_where_there_are_too_many() -> None:
    many = [lesson("extra", number, key=f"f{number}") for number in range(MAX_LESSONS + 3)]
    assert [each.change.value for each in found(entries(*many))] == [*range(3, MAX_LESSONS + 3)]


def test_they_hold_for_their_owner_and_as_long_as_they_would_have() -> None:
    before, after = (Learned(Target("t", "http://host", BASE)) for _ in range(2))
    before.learn(BASE, replace(BASE, usage="never", extra={}), "ann", 100)
    kept = written([KeptLesson(*each) for each in before.held_by("ann", 400)], NOW)
    assert [*before.held_by("bob", 400)] == []
    for change, left in found(kept):
        after.restore(change, "ann", 7, left)
    assert after.target("ann", 7 + 299).profile == replace(BASE, usage="never", extra={})
    assert after.target("bob", 8).profile == BASE
    assert after.target("ann", 7 + 300).profile == BASE


def test_the_name_of_a_model_changes_with_all_that_is_said_of_it() -> None:
    target = Target("b", "http://host", BASE)
    names = {
        identity(target, "m"),
        identity(target, "n"),
        identity(replace(target, name="c"), "m"),
        identity(replace(target, base_url="http://other"), "m"),
        identity(replace(target, profile=replace(BASE, tuning=frozenset({"seed"}))), "m"),
        identity(replace(target, profile=replace(BASE, extra={})), "m"),
    }
    assert len(names) == 6
    assert identity(replace(target, key="other"), "m") in names, "keys are no part of it"
