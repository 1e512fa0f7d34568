"""What a request continues, as the items before its own.

A chain of records is joined as it lies, unread: whatever reads the request reads it all, once. Only a record with
something cut in it is looked into.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from proxy.core import jsontext
from proxy.core.ledger import Ledger
from proxy.core.stored.conversation import Entry
from proxy.core.stored.record import Record, Status

USABLE: Final = {
    Status.FAILED: "The response that this one continues failed: only what was finished before is in the history.",
    Status.CANCELLED: "The response that this one continues was cancelled: only what was finished before is in the "
    "history.",
}
"""Ends after which a chain may go on, and what the client is told then."""

_CUT = b'"status":"incomplete"'
"""In JSON of ours, which has no spaces, this is always a member: within a text its quotation marks are escaped."""

Json = dict[str, Any]


def history_of(chain: Sequence[Record], ledger: Ledger) -> bytes:
    """The items of a chain, oldest first, as a JSON list."""
    if warning := USABLE.get(chain[-1].status):
        ledger.warn(warning)
    return joined([part for record in chain for part in (record.input, passed_on(record, ledger))])


def history_of_conversation(entries: Iterable[Entry]) -> bytes:
    return b"[%b]" % b",".join(entry.item for entry in entries)


def joined(lists: Iterable[bytes]) -> bytes:
    """One JSON list of the items of several."""
    return b"[%b]" % b",".join(inner for items in lists if (inner := items[1:-1]))


def entries_of(record: Record) -> list[str]:
    """The ids of the items that a conversation gets of a turn in it."""
    if record.status not in (Status.COMPLETED, Status.INCOMPLETE):
        return []
    return [item["id"] for items in (record.input, passed_on(record)) for item in jsontext.loads(items)]


def passed_on(record: Record, ledger: Ledger | None = None) -> bytes:
    """What is sent on of an answer: of one that broke off its finished items, of one that reached a limit what was cut
    too, but no half calls. A client's own items are sent on as they are, whatever their status says: it may have
    answered such a call."""
    if _CUT not in record.output:
        return record.output
    left_out = _is_unfinished if record.status in USABLE else is_half_call
    items = jsontext.loads(record.output)
    whole = [item for item in items if not left_out(item)]
    if ledger is not None:
        for _ in filter(is_half_call, items):
            ledger.drop("half_call")
    return jsontext.dumps(whole)


def is_half_call(item: Json) -> bool:
    """Nobody can answer half a call of an answer."""
    return "call_id" in item and _is_unfinished(item)


def _is_unfinished(item: Json) -> bool:
    return item.get("status") == "incomplete"
