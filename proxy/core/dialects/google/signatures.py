"""Thought signatures: the model's own proof of what it thought, which it wants back on the part that it came with.

They are kept in the reasoning that stands right before that part. The place says which part it is, because others may
come between the two on the way through a client.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from proxy.core.model import Extras

DIALECT = "google"
"""The key of this dialect's own things in `extras`."""

DUMMY = "skip_thought_signature_validator"
"""Google's word for a signature that is lost: taken anywhere, at a price in quality."""

Place = Literal["call", "text", "thought", "end"]
"""On the next call, on the next text, on the thought itself, or on an empty text of its own."""


class Signature(NamedTuple):
    value: str
    place: Place


def keepsake(value: str, place: Place, model: str) -> Extras:
    return {DIALECT: {"signatures": [{"model": model, "signature": value, "place": place}]}}


def read(extras: Mapping[str, Any], model: str) -> list[Signature]:
    """Those of this model, and those that do not say whose they are: another's are refused. Clients carry them, so
    nothing is believed of their shape."""
    kept = extras.get(DIALECT)
    entries = kept.get("signatures") if isinstance(kept, Mapping) else None
    return [
        Signature(entry["signature"], _place(entry))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, Mapping)
        and entry.get("model", model) == model
        and _is_text(entry.get("signature"))
    ]


def _place(entry: Mapping[str, Any]) -> Place:
    said = entry.get("place")
    return next((place for place in get_args(Place) if place == said), "call")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
