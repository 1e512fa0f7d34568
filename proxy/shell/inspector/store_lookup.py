"""What the store has by an id: a response with those that it continues, or a conversation with its items.

Every look-up is by tenant and id, as clients' are (S24), and it reads so many at most.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from proxy.core import jsontext
from proxy.core.inspected.said import said_to_client
from proxy.core.stored.conversation import Order
from proxy.core.stored.record import Record
from proxy.shell.stores.protocol import Records

MOST: Final = 50
MOST_CHARACTERS: Final = 2_000


class StoreLookup:
    def __init__(self, records: Records | None, mask: Callable[[str], str], *, with_content: bool) -> None:
        """`records`: None if nothing is kept. `with_content`: may what was said be shown?"""
        self._records = records
        self._mask = mask
        self._with_content = with_content

    async def find(self, tenant: str, id: str) -> dict[str, Any] | None:
        """None: there is nothing."""
        if self._records is None:
            return None
        return await self._chain(self._records, tenant, id) or await self._conversation(
            self._records, tenant, id
        )

    async def _chain(self, records: Records, tenant: str, id: str) -> dict[str, Any] | None:
        found: list[Record] = []
        following: str | None = id
        while following is not None and len(found) < MOST:
            record = await records.get(tenant, following)
            if record is None:
                break
            found.append(record)
            following = record.parent
        if not found:
            return None
        entries = [self._response(record) for record in reversed(found)]
        return {"id": id, "kind": "a response", "entries": entries, "more": following is not None}

    def _response(self, record: Record) -> dict[str, Any]:
        items = jsontext.loads(record.output)
        return {
            "id": record.id,
            "what": f"{record.model}, {len(jsontext.loads(record.input))} in, {len(items)} out",
            "status": record.status,
            "created": record.created,
            "text": self._text(items),
        }

    async def _conversation(self, records: Records, tenant: str, id: str) -> dict[str, Any] | None:
        entries = await records.page(tenant, id, Order.ASCENDING, None, MOST + 1)
        if entries is None:
            return None
        items = [jsontext.loads(entry.item) for entry in entries[:MOST]]
        return {
            "id": id,
            "kind": "a conversation",
            "entries": [
                {"id": item.get("id", ""), "what": _kind(item), "text": self._text([item])} for item in items
            ],
            "more": len(entries) > MOST,
        }

    def _text(self, items: Sequence[Any]) -> str | None:
        if not self._with_content:
            return None
        said = said_to_client((), {"output": list(items)})
        calls = [f"{call.name}({''.join(call.arguments)})" for call in said.calls]
        return self._mask("\n".join([*said.text, *calls])[:MOST_CHARACTERS]) or None


def _kind(item: dict[str, Any]) -> str:
    return " ".join(str(item[name]) for name in ("role", "type") if name in item)
