"""Thought signatures: the model's own proof of what it thought, which it wants back on the part that it came with.

They are kept in the reasoning that stands right before that part. Each says which part carried it, because others may
come between the two on the way through a client.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from proxy.core.extras import signature_extras, signatures_in
from proxy.core.model import Extras

DUMMY = "skip_thought_signature_validator"
"""Google has this word for a signature that is lost: it is taken anywhere, at a price in quality."""

Carrier = Literal["call", "text", "thought", "end"]
"""The signature was on the next call, on the next text, on the thought itself, or on an empty text of its own."""


class Signature(NamedTuple):
    value: str
    carrier: Carrier


def as_extras(value: str, carrier: Carrier, model: str) -> Extras:
    return signature_extras(value, model=model, carrier=carrier)


def read(extras: Extras, model: str) -> list[Signature]:
    """Reads the signatures of this model, and those that do not say whose they are: another model's are refused.
    Clients carry them, so nothing is believed of their shape."""
    return [
        Signature(entry["signature"], _carrier(entry))
        for entry in signatures_in(extras)
        if isinstance(entry, Mapping)
        and entry.get("model", model) == model
        and _is_text(entry.get("signature"))
    ]


def _carrier(entry: Mapping[str, Any]) -> Carrier:
    raw = entry.get("place")
    return next((carrier for carrier in get_args(Carrier) if carrier == raw), "call")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
