"""By which key an engine keeps what has an id.

An item of the proxy's own names the response that it came with (`core.ids`). An id that a client made up names nothing;
it is looked for in a table of such.
"""

from collections.abc import Iterable

from proxy.core import ids, jsontext
from proxy.core.stored.record import Record
from proxy.shell.stores.protocol import TooMuchKept

ID = b'"id":"'
"""Before each id in JSON of ours, which has no spaces. Within a text its quotation marks are escaped."""


def tail_of(id: str) -> str:
    """The key of a response, and of the response that an item came with."""
    return ids.tail_of(id) or id


def own_tails(items: Iterable[str]) -> list[str]:
    """The keys of the responses that these items came with, each once. The id of a client's own item tells none."""
    return list({tail: None for id in items if (tail := ids.tail_of(id)) is not None})


def family_of(id: str) -> str:
    """The key that all have in common which continue each other."""
    return ids.family_of(id) or id


def foreign_ids(tail: str, record: Record) -> list[str]:
    """The ids of its items that do not name it by this tail of its own: clients chose them, or know them from before,
    so that only what the request added can have some. Most records have none, and are not read: each id in their text
    ends as their own."""
    end = tail.encode()
    for behind in record.input.split(ID)[1:]:
        if not behind[: behind.find(b'"')].endswith(end):
            ids = [item.get("id") for item in jsontext.loads(record.input)]
            return [id for id in ids if isinstance(id, str) and tail_of(id) != tail]
    return []


def items_of(record: Record) -> dict[str, bytes]:
    """The record's items by their ids, as JSON. Of two with one id the first."""
    found: dict[str, bytes] = {}
    for part in (record.input, record.output):
        for item in jsontext.loads(part):
            if isinstance(id := item.get("id"), str) and id not in found:
                found[id] = jsontext.dumps(item)
    return found


class WantedItems:
    """Items that a step looks for, as it finds them. Each record is read once, however many of its items are wanted:
    a request may name thousands of one. Nothing else of it is held."""

    def __init__(self, ids: Iterable[str], most_bytes: int | None = None) -> None:
        """`most_bytes`: of all of them together; None if it was seen to that there are not too many."""
        self._ids = frozenset(ids)
        self._left = most_bytes
        self.at: dict[str, dict[str, bytes]] = {}
        """The items found, by the key of the record that keeps them."""

    def read(self, tail: str, record: Record | None) -> None:
        """`record`: None if nobody may use what it keeps."""
        items = {} if record is None else items_of(record)
        found = self.at[tail] = {id: items[id] for id in self._ids & items.keys()}
        if self._left is not None:
            self._left -= sum(map(len, found.values()))
            if self._left < 0:
                raise TooMuchKept


def as_list(items: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(items) + b"]"
