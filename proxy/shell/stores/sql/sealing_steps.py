"""The steps that seal with the first key what another one has sealed, or none: a few rows each, in the order of their
keys, while proxies go on."""

from collections.abc import Callable
from typing import Final, NamedTuple

from proxy.shell.stores.protocol import Key, RecordUnreadable
from proxy.shell.stores.sealing.seals import HEAD_BYTES, MARK, What
from proxy.shell.stores.sql import statements as sql
from proxy.shell.stores.sql.conversation_steps import metadata_of
from proxy.shell.stores.sql.shared_steps import StepsBase
from proxy.shell.stores.sql.step import Step

BEFORE_ALL: Final = Key("", "")

MOST_BYTES: Final = 1 << 20
"""Bytes of one step, unless one row alone has more."""


class Sealed(NamedTuple):
    looked_at: int
    sealed: int
    unread: int
    """They cannot be read with these keys, and stay as they are."""
    last: Key | None
    """Where to go on. None: there is nothing more."""


class SealingSteps(StepsBase):
    def seal(self, what: What, after: Key, most: int) -> Step[Sealed]:
        """Of responses or of conversations."""
        statement, seal = (
            (sql.RESPONSES_AFTER, self._seal_response)
            if what is What.RESPONSE
            else (sql.CONVERSATIONS_AFTER, self._seal_conversation)
        )
        rows = yield statement, (HEAD_BYTES, *after, most)
        return (yield from self._seal_rows([(Key(*row[:2]), row[2]) for row in rows], seal))

    def _seal_rows(self, rows: list[tuple[Key, bytes]], seal: Callable[[Key], Step[int]]) -> Step[Sealed]:
        looked_at = sealed = unread = weight = 0
        last = None
        for key, head in rows:
            if weight >= MOST_BYTES:
                break
            looked_at, last = looked_at + 1, key
            if head == self._seals.head:
                continue
            try:
                weight += yield from seal(key)
                sealed += 1
            except RecordUnreadable:
                unread += 1
        return Sealed(looked_at, sealed, unread, last)

    def _seal_response(self, key: Key) -> Step[int]:
        """How many bytes that were."""
        kept = yield from self._kept(*key)
        assert kept is not None, "nobody else writes meanwhile"
        yield from self._replace(key.tenant, kept.record, kept.ended)
        return kept.record.size

    def _seal_conversation(self, key: Key) -> Step[int]:
        rows = yield sql.FIND_TALK, key
        bound_to = metadata_of(*key)
        metadata = self._seals.opened(bound_to, rows[0][1])
        yield sql.SEAL_METADATA, (self._seals.sealed(bound_to, metadata), *key)
        return len(metadata)

    def sealed_by(self, tenant: str | None) -> Step[dict[str, int]]:
        """How many rows each key has sealed, by its id; and by none: nothing."""
        found: dict[str, int] = {}
        for statement in (sql.CENSUS_OF_KEYS, sql.CENSUS_OF_KEYS_OF_TALKS):
            for key, number in (yield statement, (len(MARK), MARK, len(MARK) + 1, tenant)):
                id = "" if key is None else bytes(key).hex()
                found[id] = found.get(id, 0) + number
        return found
