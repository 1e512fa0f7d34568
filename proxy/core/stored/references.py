"""A request's own items beside its history: references are replaced by what they name, and nothing is there twice."""

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

from proxy.core import jsontext
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quoted
from proxy.core.stored.answered import Answered
from proxy.core.stored.faults import reference_not_found
from proxy.core.stored.private import opened
from proxy.core.stored.prompts import sent_again

Json = dict[str, Any]
Name = tuple[str, str]
"""The type and the id of an item. Some clients give a call and its output one id."""

REFERENCE: Final = "item_reference"

MOST_NAMED: Final = 3
"""How many of the items that are left out are named to the client."""


def is_reference(item: Any) -> bool:
    """Published clients leave the type out where the id stands alone."""
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if kind is not None:
        return kind == REFERENCE and isinstance(item.get("id"), str)
    return isinstance(item.get("id"), str) and all(item[name] is None for name in item if name != "id")


def referred(items: Any, history: Set[str] = frozenset()) -> list[str]:
    """The ids that must be looked up, each once. `history`: the ids of what is there already."""
    if not isinstance(items, list):
        return []
    # Most items have no id, or name another type: for these no function is called
    may_be = [
        item
        for item in items
        if type(item) is dict and "id" in item and (item.get("type") or REFERENCE) == REFERENCE
    ]
    if not may_be:
        return []
    return [*dict.fromkeys(item["id"] for item in may_be if is_reference(item) and item["id"] not in history)]


class OwnItems(NamedTuple):
    """What a request adds."""

    items: list[Any]
    indices: Sequence[int]
    """Of each, where it stands in what its client has sent."""


def resolved(
    items: list[Any], found: Mapping[str, bytes], history: list[Json], model: str | None, ledger: Ledger
) -> OwnItems:
    """The request's own items for this model. `found`: what was looked up. Raises NotFound for what was not found."""
    there = {name for item in history if (name := _name(item))}
    ids = {id for _, id in there}
    answered = Answered(history)
    own = OwnItems([], indices := [])
    again = sent_again(items, history, answered, ids)
    left_out: list[str] = []
    for index, item in enumerate(items):
        name = _name(item)
        if index in again:
            left_out.append(f"input[{index}]")
            continue
        if is_reference(item) and item["id"] in ids:
            left_out.append(item["id"])
            continue
        if name and name in there:
            left_out.append(name[1])
            continue
        if answered.has(item):
            left_out.append(item["call_id"])
            continue
        new = _whole(item, found, model, ledger) if is_reference(item) else [item]
        for added in new:
            own.items.append(added)
            indices.append(index)
            answered.add(added)
        if name:
            ids.add(name[1])
    _tell(left_out, ledger)
    return own


def _whole(reference: Json, found: Mapping[str, bytes], model: str | None, ledger: Ledger) -> list[Json]:
    """What a reference names; nothing, if it is a thought of another model."""
    if (item := found.get(reference["id"])) is None:
        raise reference_not_found(reference["id"])
    return opened([jsontext.loads(item)], model, ledger)


def _name(item: Any) -> Name | None:
    """None for what has none, and for what is wrong: whoever reads the request says so."""
    if not isinstance(item, dict):
        return None
    id, kind = item.get("id"), item.get("type") or "message"
    return (kind, id) if isinstance(id, str) and isinstance(kind, str) else None


def _tell(left_out: list[str], ledger: Ledger) -> None:
    for _ in left_out:
        ledger.drop("item_twice")
    if left_out:
        first, more = ", ".join(map(quoted, left_out[:MOST_NAMED])), len(left_out) - MOST_NAMED
        all_of_them = f"{first} and {more} more" if more > 0 else first
        ledger.warn(f"Left out of the input, because the conversation has it already: {all_of_them}.")
