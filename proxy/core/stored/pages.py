"""Lists of items, page by page.

Items stand in their order, and a page begins behind the one that the client names. One item more than a page holds is
asked for: whether it is there is all that tells whether a page is the last.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

import orjson

from proxy.core import jsontext
from proxy.core.errors import NotFound
from proxy.core.masking.redact import quoted
from proxy.core.stored.conversation import Entry, Order
from proxy.core.stored.faults import cursor_not_found
from proxy.core.stored.histories import passed_on
from proxy.core.stored.private import public, public_item
from proxy.core.stored.queries import Query, included
from proxy.core.stored.record import Record
from proxy.core.surfaces.reading.checks import FieldFault, wrong_value

SMALLEST, LARGEST, USUAL = 1, 100, 20

OTHER_WAY: Final = {Order.ASCENDING: Order.DESCENDING, Order.DESCENDING: Order.ASCENDING}


class Listed(NamedTuple):
    """An item of a list."""

    id: str
    item: bytes
    """As JSON, without anything private."""


@dataclass(slots=True, frozen=True)
class PageWish:
    limit: int = USUAL
    order: Order = Order.DESCENDING
    after: str | None = None
    before: str | None = None

    @property
    def backwards(self) -> bool:
        """Is it the page that ends before an item? Then it is read from there on, the other way."""
        return self.before is not None and self.after is None

    @property
    def reading(self) -> Order:
        """The order in which the items are read."""
        return OTHER_WAY[self.order] if self.backwards else self.order

    @property
    def cursor(self) -> str | None:
        """The item behind which reading begins, in that order."""
        return self.before if self.backwards else self.after

    @property
    def most(self) -> int:
        """How many items behind the cursor must be read: one more tells whether there is another page."""
        return self.limit + 1

    def unknown(self) -> NotFound:
        """What is raised if the cursor is not in the list."""
        return cursor_not_found(self.cursor or "", "before" if self.backwards else "after")


def page_wish(query: Query) -> PageWish:
    included(query)
    return PageWish(_limit(query), _order(query), query.first("after"), query.first("before"))


def _limit(query: Query) -> int:
    limit = query.number("limit")
    if limit is None:
        return USUAL
    bounds = f"must be between {SMALLEST} and {LARGEST}, got {quoted(query.first('limit') or '')}."
    if limit < SMALLEST:
        raise FieldFault("limit", bounds, "integer_below_min_value")
    if limit > LARGEST:
        raise FieldFault("limit", bounds, "integer_above_max_value")
    return limit


def _order(query: Query) -> Order:
    raw = query.first("order")
    if raw is None:
        return Order.DESCENDING
    try:
        return Order(raw)
    except ValueError:
        raise wrong_value("order", f"must be asc or desc, got {quoted(raw)}.") from None


# ── reading ──


def listed_entries(entries: Iterable[Entry]) -> list[Listed]:
    return [Listed(entry.id, public_item(entry.item)) for entry in entries]


def input_items(chain: Sequence[Record], reading: Order) -> Iterator[Listed]:
    """All that a response was asked: what it continues, oldest first, and its own input. A record is read when it is
    come to: a first page needs only the newest."""
    lists = [part for record in chain[:-1] for part in (record.input, passed_on(record))]
    lists.append(chain[-1].input)
    if reading is Order.ASCENDING:
        return (listed for items in lists for listed in _listed(items))
    return (listed for items in reversed(lists) for listed in reversed(_listed(items)))


def _listed(items: bytes) -> list[Listed]:
    return [Listed(item["id"], jsontext.dumps(public(item))) for item in jsontext.loads(items)]


def behind(wish: PageWish, items: Iterable[Listed]) -> list[Listed]:
    """Picks the items that a page needs out of all, which come in the order of `reading`. Raises NotFound for an
    unknown cursor."""
    rest = iter(items)
    if wish.cursor is not None and all(listed.id != wish.cursor for listed in rest):
        raise wish.unknown()
    return list(islice(rest, wish.most))


# ── writing ──


def page(wish: PageWish, found: Sequence[Listed]) -> bytes:
    """`found`: at most `most` items from behind the cursor, in the order of `reading`."""
    more = len(found) > wish.limit
    items = list(found[: wish.limit])
    if wish.backwards:
        items.reverse()
    elif wish.before is not None:
        end = next((at for at, listed in enumerate(found) if listed.id == wish.before), None)
        more, items = more and end is None, items[:end]
    return listing(items, more=more)


def listing(items: Sequence[Listed], *, more: bool = False) -> bytes:
    """`first_id` and `last_id` of an empty list are null: walks of clients go on from an empty text."""
    return jsontext.dumps(
        {
            "object": "list",
            "data": [orjson.Fragment(listed.item) for listed in items],
            "first_id": items[0].id if items else None,
            "last_id": items[-1].id if items else None,
            "has_more": more,
        }
    )
