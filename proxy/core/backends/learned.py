"""What was learned of one model: which fields of its profile differ, from which owner, and until when.

A lesson holds for the owner whose request taught it, and for all as soon as a second owner has been taught the same. So
an owner that makes a backend or a model say something does not change other owners' requests. The contrary is learned
in the same way: from one owner for itself, from two for all. Lessons end after some minutes and must be taught again,
so that nothing outdated stays.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from proxy.core.backends.target import Target
from proxy.core.profile import DEFAULT, BackendProfile

LASTS_SECONDS = 600.0
"""A true lesson costs one refused request in this time."""
FOR_ALL = 2
"""How many owners must have been taught the same before it holds for others."""

MAX_LESSONS = 32
"""Limits the lessons of one model. The oldest is forgotten first."""
MAX_OWNERS = 16
"""Limits the owners of one lesson that are remembered by name."""

ABSENT: Any = object()
"""Stands for an entry that a field has not."""


class Change(NamedTuple):
    """Changes one field, or one entry of a field that has several."""

    field: str
    key: Any
    value: Any


def changes(before: BackendProfile, after: BackendProfile) -> Iterator[Change]:
    for name in _FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        if isinstance(old, Set):
            yield from (Change(name, key, key in new) for key in old ^ new)
        elif isinstance(old, Mapping):
            keys = [key for key in {**old, **new} if old.get(key, ABSENT) != new.get(key, ABSENT)]
            yield from (Change(name, key, new.get(key, ABSENT)) for key in keys)
        else:
            yield Change(name, None, new)


def changed(profile: BackendProfile, change: Change) -> BackendProfile:
    name, key, value = change
    old = getattr(profile, name)
    if isinstance(old, Set):
        new: Any = old | {key} if value else old - {key}
    elif isinstance(old, Mapping):
        new = {**old, key: value} if value is not ABSENT else {k: v for k, v in old.items() if k != key}
    else:
        new = value
    return replace(profile, **{name: new})


_FIELDS = tuple(each.name for each in fields(BackendProfile))


@dataclass(slots=True)
class _Lesson:
    change: Change
    until: dict[str, float] = field(default_factory=dict)
    """Says for each owner when it ends."""

    def is_owned(self, owner: str, now: float) -> bool:
        return self.until.get(owner, now) > now

    def holds(self, now: float) -> bool:
        return any(end > now for end in self.until.values())

    def is_shared(self, now: float) -> bool:
        return sum(end > now for end in self.until.values()) >= FOR_ALL


class Learned:
    """Holds what was learned of one model, at one backend."""

    def __init__(self, target: Target) -> None:
        self.base = target
        """The model as it was known before any lesson."""
        self._lessons: dict[str, _Lesson] = {}
        """The lesson that was taught last stands last."""
        self._made: dict[tuple[str, ...], Target] = {}
        """Keeps a target for each of the few sets of lessons that hold for any owner."""

    def target(self, owner: str, now: float) -> Target:
        """Gives the model as this owner's requests are put to it now."""
        if not self._lessons:
            return self.base
        own = [name for name, lesson in self._lessons.items() if lesson.is_owned(owner, now)]
        shared = [name for name, lesson in self._lessons.items() if lesson.is_shared(now) and name not in own]
        holding = (*shared, *own)  # later ones replace earlier ones
        if not holding:
            return self.base
        if holding not in self._made:
            self._made[holding] = self._with(holding)
        return self._made[holding]

    def fields(self, now: float) -> Set[str]:
        """The fields of the profile of which somebody's lesson holds now."""
        return {lesson.change.field for lesson in self._lessons.values() if lesson.holds(now)}

    def _with(self, names: tuple[str, ...]) -> Target:
        profile = self.base.profile
        for name in names:
            profile = changed(profile, self._lessons[name].change)
        return replace(self.base, profile=profile)

    def held_by(self, owner: str, now: float) -> Iterator[tuple[Change, float]]:
        """The lessons that this owner was taught, each with the seconds that are left of it."""
        for lesson in self._lessons.values():
            if lesson.is_owned(owner, now):
                yield lesson.change, lesson.until[owner] - now

    def restore(self, change: Change, owner: str, now: float, left: float) -> None:
        """Has it hold again for the time that was left."""
        self._teach(change, owner, now, left)
        self._forget(now)

    def learn(self, before: BackendProfile, after: BackendProfile, owner: str, now: float) -> None:
        """Keeps the changes: a refusal has taught to ask as in the second profile, and that has helped."""
        for change in changes(before, after):
            self._teach(change, owner, now, LASTS_SECONDS)
        self._forget(now)

    def observe(self, name: str, value: Any, owner: str, now: float) -> bool:
        """Keeps what a reply has shown of this field; was that news to this owner? Each reply that shows it again
        renews the lesson. What a profile says of itself, or an operator has set by hand, stays."""
        given = getattr(self.base.profile, name)
        if given != getattr(DEFAULT, name):
            return False
        news = bool(getattr(self.target(owner, now).profile, name) != value)
        if news or value != given:
            self._teach(Change(name, None, value), owner, now, LASTS_SECONDS)
            self._forget(now)
        return news

    def renew(self, name: str, owner: str, now: float) -> bool:
        """Has this owner's lessons of a field last from now on; are there any? Nobody who was not taught becomes an
        owner by that, so that what two have taught comes to its end for all others."""
        own = [
            lesson
            for lesson in self._lessons.values()
            if lesson.change.field == name and lesson.is_owned(owner, now)
        ]
        for lesson in own:
            lesson.until[owner] = now + LASTS_SECONDS
        return bool(own)

    def _teach(self, change: Change, owner: str, now: float, lasts: float) -> None:
        """A value that is again as it was at first is a lesson as well, as long as others hold the contrary."""
        about_it = [lesson for lesson in self._lessons.values() if lesson.change[:2] == change[:2]]
        for lesson in about_it:
            lesson.until.pop(owner, None)
        is_new = changed(self.base.profile, change) != self.base.profile
        if not is_new and not any(lesson.until for lesson in about_it):
            return
        name = repr(change)
        lesson = self._lessons.pop(name, _Lesson(change))
        self._lessons[name] = lesson
        lesson.until[owner] = now + lasts
        while len(lesson.until) > MAX_OWNERS:
            del lesson.until[next(iter(lesson.until))]

    def _forget(self, now: float) -> None:
        held = {name: lesson for name, lesson in self._lessons.items() if lesson.holds(now)}
        self._lessons = dict(list(held.items())[-MAX_LESSONS:])
        self._made.clear()
