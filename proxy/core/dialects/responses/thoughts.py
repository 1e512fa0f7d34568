"""What the model wants back of its thoughts: the items themselves, with the part that only their maker can read.

They go back to the same model of the same backend alone. What another has sealed is refused, and would be useless.
"""

from collections.abc import Sequence
from typing import Any

from proxy.core.extras import item_extras, items_in
from proxy.core.model import Extras, Reasoning

SEALED = "encrypted_content"

Json = dict[str, Any]


def kept(item: Json, maker: str) -> Extras | None:
    """Holds an item of reasoning, if there is anything in it that cannot be made anew from its text."""
    if not (isinstance(item.get(SEALED), str) and item[SEALED]):
        return None
    return item_extras({name: value for name, value in item.items() if name != "status"}, maker)


def returned(parts: Sequence[Reasoning], maker: str) -> list[Json]:
    """The items that this model of this backend has made, as they came. Of older ones only the model is known."""
    makers = (maker, maker.partition("/")[2])
    return [
        entry["item"] for part in parts for entry in items_in(part.extras) if entry.get("model") in makers
    ]


def item_of(text: str) -> Json:
    """An item for a thought of which there is nothing but its text."""
    return {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": text}]}
