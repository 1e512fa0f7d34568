"""`responses-proxy store encrypt`: a key is rotated, or there is one for the first time, and what is kept follows."""

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from proxy.commands.command import DONE
from proxy.commands.progress import telling
from proxy.commands.store_files import CLOCK
from proxy.commands.store_finding import found
from proxy.settings.root import Settings
from proxy.shell.stores.sealing.seals import What
from proxy.shell.stores.sql.records import SqlRecords
from proxy.shell.stores.sql.sealing_steps import BEFORE_ALL
from proxy.storage import CannotStore, sealed_by

REST: Final = 2.0
"""The pause after each piece of work, as a multiple of the time that it took: no save should wait long."""

NO_KEYS: Final = "store.keys has no key: there is nothing to encrypt with"
SUMMARY: Final = "Encrypted with {key}, the first of store.keys: {responses} and {conversations}."
UNREAD: Final = (
    "Left as they are, damaged or opened by no key of store.keys: {responses} and {conversations}."
)
STILL_NEEDED: Final = (
    "Other keys are no longer needed for these. For what may be lost (the events of background work, and what processes"
    " tell each other of calls) they are, for a day after the last proxy has encrypted with them."
)


async def encrypt(settings: Settings, _: argparse.Namespace) -> int:
    seals = sealed_by(settings.store)
    if not seals.ids:
        raise CannotStore(NO_KEYS)
    store = found(settings)
    there = (await store.inspect()).census.sealed_by
    work = _Work(sum(there.values()))
    async with telling(work.so_far), store.opened() as (records, _live):
        for what in (What.RESPONSE, What.CONVERSATION):
            await work.do(records, what)
    print(SUMMARY.format(key=seals.ids[0], **_words(work.sealed)))
    print(UNREAD.format(**_words(work.unread)) if work.unread.total() else STILL_NEEDED)
    return DONE


class _Work:
    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._looked_at = 0
        self.sealed: Counter[What] = Counter()
        self.unread: Counter[What] = Counter()

    def so_far(self) -> str:
        return f"Encrypting: {self._looked_at:,} of some {self._rows:,} rows"

    async def do(self, records: SqlRecords, what: What) -> None:
        after = BEFORE_ALL
        while True:
            began = CLOCK.steady()
            step = await records.seal(what, after)
            if step.last is None:
                return
            after = step.last
            self._looked_at += step.looked_at
            self.sealed[what] += step.sealed
            self.unread[what] += step.unread
            await asyncio.sleep(REST * (CLOCK.steady() - began))


def _words(counts: Mapping[What, int]) -> dict[str, str]:
    return {
        f"{what}s": f"{(number := counts.get(what, 0))} {what}" + "s" * (number != 1)
        for what in (What.RESPONSE, What.CONVERSATION)
    }


def by_keys(ids: Sequence[str], rows: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """What `store info` says of it: which key has encrypted how much, and whether it is there. `ids`: of store.keys."""
    others = sorted({*rows} - {*ids, ""})
    if not (ids or others):
        yield "encrypted", "no"
        return
    said = [(id, "listed") for id in ids] + [(id, "NOT in store.keys") for id in others]
    for number, (id, where) in enumerate(said):
        which = "the first key" if ids and not number else where
        yield "encrypted" if not number else "", f"{rows.get(id, 0)} rows with {id}, {which}"
    yield "", f"{rows.get('', 0)} rows not at all"
