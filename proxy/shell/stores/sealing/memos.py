"""Memos, each sealed by itself. One that cannot be read is forgotten, as any may be."""

from collections.abc import Mapping
from contextlib import suppress

from proxy.shell.stores.protocol import RecordUnreadable
from proxy.shell.stores.sealing.seals import BoundTo, Seals, What


def sealed_memos(seals: Seals, tenant: str, memos: Mapping[str, bytes]) -> Mapping[str, bytes]:
    return {key: seals.sealed(BoundTo(What.MEMO, tenant, key), memo) for key, memo in memos.items()}


def opened_memos(seals: Seals, tenant: str, memos: Mapping[str, bytes]) -> Mapping[str, bytes]:
    opened = {}
    for key, memo in memos.items():
        with suppress(RecordUnreadable):
            opened[key] = seals.opened(BoundTo(What.MEMO, tenant, key), memo)
    return opened
