"""attack-07: whom a lesson concerns, and for how long."""

from dataclasses import replace
from typing import Any

from proxy.core.backends.learned import LASTS_SECONDS, MAX_LESSONS, MAX_OWNERS, Learned, changed, changes
from proxy.core.backends.target import Target
from proxy.core.profile import DEFAULT, BackendProfile
from tests.support.tables import table

BASE = replace(DEFAULT, extra={"a": 1, "b": {"c": 2}})
NO_USAGE = replace(BASE, usage="never")


def learned() -> Learned:
    return Learned(Target("t", "http://host", BASE))


def profile(known: Learned, owner: str = "ann", now: float = 0) -> BackendProfile:
    return known.target(owner, now).profile


@table(
    "different",
    [
        {},
        {"usage": "never"},
        {"usage": "never", "length_default": 5},
        {"tuning": DEFAULT.tuning - {"seed", "stop"} | {"verbosity"}},
        {"formats": frozenset()},
        {"extra": {"a": None, "b": {"c": 2}}},
        {"extra": {"b": {}}},
        {"extra": {"a": 1, "b": {"c": 2}, "d": {"e": []}}},
        {"extra": {}},
    ],
)
def test_a_change_can_be_made_again(different: dict[str, Any]) -> None:
    after = replace(BASE, **different)
    made = BASE
    for change in changes(BASE, after):
        assert made != after
        made = changed(made, change)
    assert made == after


def test_who_has_been_taught_is_not_taught_again() -> None:
    known = learned()
    assert known.target("ann", 0) is known.target("bob", 0)
    known.learn(BASE, NO_USAGE, "ann", 0)
    assert profile(known) == NO_USAGE
    assert known.target("ann", 0) is known.target("ann", 1)


def test_the_fields_that_are_known_by_a_lesson_are_told_until_it_ends() -> None:
    known = learned()
    assert known.fields(0) == set()
    known.learn(BASE, replace(NO_USAGE, extra={}), "ann", 0)
    known.learn(BASE, NO_USAGE, "bob", 5)
    assert known.fields(1) == {"usage", "extra"}
    assert known.fields(LASTS_SECONDS) == {"usage"}
    assert known.fields(LASTS_SECONDS + 5) == set()


def test_a_lesson_is_renewed_for_those_who_were_taught_it_and_nobody_else() -> None:
    """What two have taught ends for all others, whatever these do."""
    known = learned()
    for owner in ("ann", "bob"):
        known.learn(BASE, NO_USAGE, owner, 0)
    assert profile(known, "cid", 1) == NO_USAGE
    assert not known.renew("usage", "cid", 1)
    assert not known.renew("images", "ann", 1)
    assert known.renew("usage", "ann", 60)
    assert profile(known, "ann", LASTS_SECONDS + 1) == NO_USAGE
    assert profile(known, "cid", LASTS_SECONDS + 1) == BASE
    assert not known.renew("usage", "ann", LASTS_SECONDS + 60)


def test_nobody_else_is_concerned_until_a_second_one_is_taught_the_same() -> None:
    known = learned()
    known.learn(BASE, NO_USAGE, "ann", 0)
    known.learn(BASE, replace(NO_USAGE, images="none"), "bob", 0)
    assert profile(known, "cid") == NO_USAGE
    assert profile(known, "ann") == NO_USAGE
    assert profile(known, "bob").images == "none"


def test_a_lesson_ends_by_itself() -> None:
    known = learned()
    known.learn(BASE, NO_USAGE, "ann", 0)
    known.learn(BASE, NO_USAGE, "bob", 100)
    assert profile(known, "cid", LASTS_SECONDS - 1) == NO_USAGE
    assert profile(known, "cid", LASTS_SECONDS) == BASE, "one of the two has forgotten"
    assert profile(known, "bob", LASTS_SECONDS) == NO_USAGE
    assert profile(known, "bob", LASTS_SECONDS + 100) == BASE


def test_lessons_about_one_field_go_together() -> None:
    known = learned()
    for name in ("seed", "stop"):
        known.learn(BASE, replace(BASE, tuning=BASE.tuning - {name}), "ann", 0)
    assert profile(known).tuning == BASE.tuning - {"seed", "stop"}


def test_a_later_lesson_replaces_an_earlier_one() -> None:
    known = learned()
    for field in ("object", "any"):
        known.learn(BASE, replace(BASE, force_tool=field), "ann", 0)
    assert profile(known).force_tool == "any"


def test_what_is_taken_back_is_as_before() -> None:
    """For whoever takes it back."""
    known = learned()
    known.learn(BASE, NO_USAGE, "ann", 0)
    known.learn(BASE, NO_USAGE, "bob", 0)
    known.learn(NO_USAGE, BASE, "ann", 0)
    assert profile(known) == BASE
    assert profile(known, "bob") == NO_USAGE


def test_what_is_remembered_is_bounded() -> None:
    """E7: owners are as many as clients, and so are the lessons of one who lies."""
    known = learned()
    for number in range(1, 2 * MAX_LESSONS):
        known.learn(BASE, replace(BASE, extra=BASE.extra | {str(number): None}), "ann", 0)
    assert len(profile(known).extra) == len(BASE.extra) + MAX_LESSONS
    for number in range(2 * MAX_OWNERS):
        known.learn(BASE, NO_USAGE, str(number), 0)
    assert profile(known, "cid").usage == "never"
    assert len(repr(known._lessons)) < 20_000


# ── what replies show (V25) ──

TAG = "</think>"


def until(known: Learned, owner: str = "ann", now: float = 0) -> str | None:
    return profile(known, owner, now).thoughts_until


def test_what_a_reply_shows_holds_as_other_lessons_do_and_is_news_once() -> None:
    known = learned()
    assert known.observe("thoughts_until", TAG, "ann", 0)
    assert (until(known), until(known, "bob")) == (TAG, None)
    assert not known.observe("thoughts_until", TAG, "ann", 0)
    assert known.observe("thoughts_until", TAG, "bob", 0)
    assert until(known, "eve") == TAG
    assert not known.observe("thoughts_until", TAG, "eve", 0)


def test_each_reply_that_shows_it_again_renews_it() -> None:
    known = learned()
    for now in (0, LASTS_SECONDS - 1):
        known.observe("thoughts_until", TAG, "ann", now)
    assert until(known, now=LASTS_SECONDS) == TAG
    assert until(known, now=2 * LASTS_SECONDS) is None


def test_a_reply_that_shows_the_contrary_ends_it_for_its_owner_and_nothing_else() -> None:
    known = learned()
    known.learn(BASE, NO_USAGE, "ann", 0)
    known.observe("thoughts_until", TAG, "ann", 0)
    assert known.observe("thoughts_until", None, "ann", 0)
    assert profile(known) == NO_USAGE
    assert not known.observe("thoughts_until", None, "ann", 0)


def test_what_two_have_taught_is_unlearned_as_it_was_learned() -> None:
    """By whoever is shown the contrary, and by two for all. One alone, who can bring a reply to say so (with the tag in
    `stop`), takes it from nobody else."""
    known = learned()
    for owner in ("ann", "bob"):
        known.observe("thoughts_until", TAG, owner, 0)
    assert known.observe("thoughts_until", None, "eve", 0)
    assert not known.observe("thoughts_until", None, "eve", 0)
    assert [until(known, owner) for owner in ("ann", "bob", "cid", "eve")] == [TAG, TAG, TAG, None]
    assert known.observe("thoughts_until", None, "fay", 0)
    assert [until(known, owner) for owner in ("ann", "bob", "cid")] == [TAG, TAG, None]
    assert known.observe("thoughts_until", None, "ann", 0)
    assert until(known) is None


def test_what_was_unlearned_can_be_learned_again() -> None:
    known = learned()
    for shown in (TAG, None, TAG):
        for owner in ("ann", "bob"):
            known.observe("thoughts_until", shown, owner, 0)
        assert until(known, "cid") == shown
    assert len(known._lessons) == 1, "nobody holds the contrary any more"
    assert until(known, "cid", LASTS_SECONDS) is None


def test_what_one_was_taught_goes_before_what_others_were() -> None:
    known = learned()
    for owner, limit in (("ann", 1), ("bob", 2), ("cid", 2)):
        known.learn(BASE, replace(BASE, length_default=limit), owner, 0)
    assert [profile(known, owner).length_default for owner in ("ann", "bob", "dan")] == [1, 2, 2]


@table("given", [TAG, ""])
def test_what_is_set_by_hand_stays(given: str) -> None:
    known = Learned(Target("t", "http://host", replace(BASE, thoughts_until=given)))
    for shown in (None, "[/THINK]"):
        assert not known.observe("thoughts_until", shown, "ann", 0)
        assert until(known) == given
