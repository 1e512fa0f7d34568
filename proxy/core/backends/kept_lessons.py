"""What one owner's requests have taught of a model, as bytes: a proxy that starts anew goes on with it, for as long as
it would have held.

What is read is believed no further than what a refusal could have taught: no address, no header and no name of a
backend comes from there.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from hashlib import sha256
from typing import Any, NamedTuple

from proxy.core import jsontext
from proxy.core.backends.learned import ABSENT, LASTS_SECONDS, MAX_LESSONS, Change, changed
from proxy.core.backends.target import Target
from proxy.core.profile import FIELDS, BackendProfile, overridden

LEARNABLE = FIELDS - {
    "name", "dialect", "hosts", "path", "root", "auth", "headers", "query", "first_byte_s", "counter"
}  # fmt: skip
"""The fields of a profile that are not about where a backend is, and who."""


class KeptLesson(NamedTuple):
    change: Change
    left: float
    """Seconds until it ends."""


def identity(target: Target, model: str) -> str:
    """Names what a lesson is about. Where the configuration, or a new version, says something else of the model,
    nothing that was kept before concerns it."""
    profile = {name: _plain(getattr(target.profile, name)) for name in sorted(FIELDS)}
    return sha256(jsontext.dumps([target.name, target.base_url, model, profile])).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Set):
        return sorted(value)
    return dict(value) if isinstance(value, Mapping) else value


def written(lessons: Iterable[KeptLesson], date: float) -> bytes:
    """`date`: now, by a clock that all processes have."""
    return jsontext.dumps([_entry(lesson, date) for lesson in lessons])


def _entry(lesson: KeptLesson, date: float) -> dict[str, Any]:
    name, key, value = lesson.change
    entry = {"field": name, "key": key, "ends": date + lesson.left}
    return entry if value is ABSENT else entry | {"value": value}


def read(data: bytes, profile: BackendProfile, date: float) -> Iterator[KeptLesson]:
    """Yields those that have not ended. What cannot be read, or is no lesson, is as if it had never been kept."""
    try:
        entries = jsontext.strict(data)
    except ValueError:
        return
    for entry in entries[-MAX_LESSONS:] if isinstance(entries, list) else ():
        if (lesson := _lesson(entry, profile, date)) is not None:
            yield lesson


def _lesson(entry: Any, profile: BackendProfile, date: float) -> KeptLesson | None:
    match entry:
        case {"field": str(name), "key": str() | None as key, "ends": float(ends)}:
            change = Change(name, key, entry.get("value", ABSENT))
            if date < ends and name in LEARNABLE and _is_possible(change, profile):
                return KeptLesson(change, min(ends - date, LASTS_SECONDS))
        case _:
            pass
    return None


def _is_possible(change: Change, profile: BackendProfile) -> bool:
    name, key, value = change
    old = getattr(profile, name)
    if (key is not None) is not isinstance(old, Set | Mapping):
        return False
    if isinstance(old, Set) and not isinstance(value, bool):
        return False
    after = getattr(changed(profile, change), name)
    try:
        return bool(getattr(overridden(profile, {name: after}), name) == after)
    except ValueError:
        return False
