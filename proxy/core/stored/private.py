"""What a kept item has that no client is shown: one member, which no item of the API has.

It holds what the backend of a thought wants back, as it was before a surface showed it. A client may send a member of
this name too, and must not be believed: what the proxy has read out of the store itself is a `KeptThought`, which no
JSON becomes, and whatever else stands there is left out before an item is kept or read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from proxy.core import jsontext
from proxy.core.extras import are_extras
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning

KEPT: Final = "_kept"

_MARK = b'"_kept":'
"""In JSON of ours, which has no spaces, this is always a name: within a text its quotation marks are escaped."""

FOREIGN = (
    "Reasoning of another model was left out of the history: a model gets what its own family has thought."
)

Json = dict[str, Any]


@dataclass(slots=True, frozen=True)
class KeptThought:
    thought: Reasoning
    model: str
    """Whose it is."""

    def packed(self) -> Json:
        return {"model": self.model, "text": self.thought.text, "extras": self.thought.extras}


def with_thought(item: Json, thought: Reasoning, model: str) -> Json:
    """The item of a thought as it is kept."""
    return item | {KEPT: KeptThought(thought, model).packed()}


def with_thoughts(items: Iterable[Json], thoughts: Mapping[str, Reasoning], model: str) -> list[Json]:
    """`thoughts`: by the ids of their items."""
    return [
        with_thought(item, thoughts[item["id"]], model) if item["id"] in thoughts else item for item in items
    ]


# ── for clients ──


def public(item: Json) -> Json:
    return {name: value for name, value in item.items() if name != KEPT} if KEPT in item else item


def public_item(item: bytes) -> bytes:
    return jsontext.dumps(public(jsontext.loads(item))) if _MARK in item else item


def public_list(items: bytes) -> bytes:
    """A JSON list of items as its client sees it. Most lists are returned as they are, unread."""
    if _MARK not in items:
        return items
    return jsontext.dumps([public(item) for item in jsontext.loads(items)])


# ── for the backend ──


def opened(items: list[Json], model: str | None, ledger: Ledger) -> list[Json]:
    """Items out of the store as a request for this model reads them, without what another family of models thought.
    `model`: None if they are only to be kept again."""
    found: list[Json] = []
    for item in items:
        if KEPT not in item:
            found.append(item)
            continue
        kept = _read(item[KEPT])
        if kept and model is not None and family_of_model(kept.model) != family_of_model(model):
            ledger.drop("foreign_reasoning")
            ledger.warn(FOREIGN)
            continue
        found.append(public(item) if kept is None else item | {KEPT: kept})
    return found


def thought_in(item: Json) -> Reasoning | None:
    """The thought that the store has kept of this item."""
    kept = item.get(KEPT)
    return kept.thought if isinstance(kept, KeptThought) else None


def packed_again(item: Json) -> Json:
    """An item that came out of the store, or from a client, as it is kept."""
    kept = item.get(KEPT)
    return item | {KEPT: kept.packed()} if isinstance(kept, KeptThought) else public(item)


def _read(kept: Any) -> KeptThought | None:
    """None where it lacks the form that readers rely on, whichever version of the proxy has written it."""
    if not isinstance(kept, dict):
        return None
    model, text, extras = kept.get("model"), kept.get("text"), kept.get("extras", {})
    if isinstance(model, str) and isinstance(text, str) and are_extras(extras):
        return KeptThought(Reasoning(text, extras), model)
    return None


def family_of_model(model: str) -> str:
    """The word that a model's name begins with, behind whoever serves it: `claude` in `anthropic/claude-opus-4.1`."""
    name = model.rpartition("/")[2].lower()
    word = name[: next((at for at, letter in enumerate(name) if not letter.isalpha()), len(name))]
    return word or name
