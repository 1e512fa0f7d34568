"""What a refusal makes of the next request: the target, as it is now known.

What a lesson changes is changed in the model's own profile, whichever language the request was put in: the profile
decides the language of the next one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from proxy.core.backends import wires
from proxy.core.backends.learned import changed, changes
from proxy.core.backends.target import Target
from proxy.core.dialects.reading import lessons
from proxy.core.dialects.reading.lessons import Lesson, Row
from proxy.core.dialects.registry import spoken_by
from proxy.core.errors import NO_PATH
from proxy.core.flow.request import Preparation
from proxy.core.profile import BackendProfile

NOT_FOUND = 404


def lessons_of(profile: BackendProfile, status: int) -> Sequence[Row]:
    """What a refusal with this status may teach."""
    rows = spoken_by(profile).lessons
    return [row for row in rows if row.name == wires.WIRE] if status == NOT_FOUND else rows


def lesson_in(preparation: Preparation, status: int, words: str, learned: Sequence[str]) -> Lesson | None:
    """What a refusal in these words teaches, besides what was `learned` for this request; else what was only supposed
    is put in doubt."""
    profile = preparation.profile
    found = lessons.learn(lessons_of(profile, status), profile, words, learned, preparation.post.body)
    if found is None and status != NOT_FOUND:
        return lessons.without_evidence(profile, learned)
    return found


def as_taught(preparation: Preparation, lesson: Lesson) -> Target:
    profile = preparation.target.profile
    for change in changes(preparation.profile, lesson.profile):
        profile = changed(profile, change)
    return replace(preparation.target, profile=profile)


def other_endpoint(
    preparation: Preparation,
    status: int,
    headers: Mapping[str, str],
    words: bytes,
    taught: Sequence[tuple[Lesson, BackendProfile]],
) -> Lesson | None:
    """The lesson that the backend has no endpoint for the language in which it was asked, but may have one for the
    other. Its words decide only whether it is the model that is not found. `taught`: what this request has taught
    before."""
    if status not in wires.NO_SUCH_ENDPOINT or preparation.counter is not None:
        return None
    if any(lesson.row == wires.WIRE for lesson, _ in taught):
        return None
    if status == NOT_FOUND:
        judge, own_key = spoken_by(preparation.profile).fault_of, preparation.target.own_key
        if judge(status, headers, words, own_key=own_key).code != NO_PATH:
            return None
    other = wires.other(preparation.target.profile, preparation.profile)
    return Lesson(wires.WIRE, other) if other is not None else None
