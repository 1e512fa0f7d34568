"""Links to the sources of a text: `annotations`, which models that search send beside it, in any chunk.

They belong to the whole text, so they are told at its end.
"""

from collections.abc import Callable
from typing import Any

from proxy.core.dialects.reading.decoding import MAX_ANNOTATIONS
from proxy.core.events import Delta, MessageDelta
from proxy.core.ledger import Ledger

LINK = "url_citation"
PLACES = ("start_index", "end_index")


class Sources:
    __slots__ = ("_ledger", "_links")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._links: list[Any] = []

    def add(self, annotations: Any) -> None:
        for one in annotations if isinstance(annotations, list) else [annotations]:
            link = one.get(LINK) if isinstance(one, dict) else None
            if not isinstance(link, dict) or not isinstance(link.get("url"), str):
                self._ledger.odd("annotation_unknown")
            elif len(self._links) < MAX_ANNOTATIONS:
                self._links.append(_flat(link))

    def tell(self, emit: Callable[[Delta], None]) -> None:
        """Says them, if there are any: the text is at its end."""
        if self._links:
            links, self._links = self._links, []
            emit(MessageDelta(links))


def _flat(link: dict[str, Any]) -> dict[str, Any]:
    """The link in the form of the Responses API, whose clients want each field; no place is the text's start."""
    title = link.get("title")
    places = {name: link[name] if type(link.get(name)) is int else 0 for name in PLACES}
    return {"type": LINK, "url": link["url"], "title": title if isinstance(title, str) else "", **places}
