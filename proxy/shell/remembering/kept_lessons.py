"""What backends have taught, kept where something is kept at all: a proxy that starts anew goes on with it.

Lessons stay the matter of each process. It looks for an owner's lessons once, and only in its first minutes: whatever
was kept before it began has ended then. So each owner's are found by that owner's requests, and hold for others as soon
as a second one has brought the same.
"""

from collections.abc import Callable
from hashlib import sha256

from proxy.core.backends.kept_lessons import KeptLesson, read, written
from proxy.core.backends.learned import LASTS_SECONDS, Change, Learned
from proxy.shell.remembering.memos import Memos

MOST_OWNERS = 10_000
"""Owners that are remembered, once for each of their models. Clients choose the names of models, and without keys an
address is an owner."""

LESSONS = "lessons "
"""Begins the keys of these memos, which no key of a call's does."""

RENEWED_SECONDS = LASTS_SECONDS / 4
"""Replies renew what they taught. It is written again only after this time."""


class KeptLessons:
    def __init__(
        self,
        memos: Memos,
        tenant_of: Callable[[str], str],
        *,
        clock: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        """`tenant_of` names the tenant of an owner. `now` is the date, by which lessons end in the next process."""
        self._memos = memos
        self._tenant_of = tenant_of
        self._clock = clock
        self._now = now
        self._looks_until = clock() + LASTS_SECONDS
        self._looked: set[tuple[str, str]] = set()
        self._written: dict[str, tuple[list[Change], float]] = {}

    async def recall(self, identity: str, learned: Learned, owner: str) -> list[Change]:
        """Has the owner's lessons learned again. Returns them, the first time only."""
        if self._clock() >= self._looks_until or (identity, owner) in self._looked:
            return []
        if len(self._looked) >= MOST_OWNERS:
            return []
        self._looked.add((identity, owner))
        key = _key(identity, owner)
        found = await self._memos.recall(self._tenant_of(owner), [key]) or {}
        lessons = [*read(found.get(key, b"[]"), learned.base.profile, self._now())]
        for lesson in lessons:
            learned.restore(lesson.change, owner, self._clock(), lesson.left)
        changes = [lesson.change for lesson in lessons]
        if changes:
            self._note(key, changes)
        return changes

    def keep(self, identity: str, learned: Learned, owner: str) -> None:
        """Has them written as they are now, if they are others, or have been renewed. Nobody waits for that."""
        key, now = _key(identity, owner), self._clock()
        lessons = [KeptLesson(change, left) for change, left in learned.held_by(owner, now)]
        changes = [lesson.change for lesson in lessons]
        before, at = self._written.get(key, ([], now))
        if changes == before and now - at < RENEWED_SECONDS:
            return
        self._note(key, changes)
        data = written(lessons, self._now())
        self._memos.send(self._tenant_of(owner), {key: data}, LASTS_SECONDS)

    def _note(self, key: str, changes: list[Change]) -> None:
        self._written.pop(key, None)
        self._written[key] = changes, self._clock()
        if len(self._written) > MOST_OWNERS:
            del self._written[next(iter(self._written))]


def _key(identity: str, owner: str) -> str:
    """Does not tell an owner's address."""
    return f"{LESSONS}{sha256(f'{identity} {owner}'.encode()).hexdigest()}"
