"""What a model puts beside its text and its calls, and wants back: the forms that more than one room knows.

The decoder of a dialect makes them, `Reasoning.extras` carries them, surfaces send them to clients that can keep them,
and the encoder of the same dialect gives them back. All are objects in a list, by dialect and name of the list. Clients
keep them in this form, inside tokens, so it must stay as it is.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from proxy.core.fragments import DETAIL_WORDS
from proxy.core.model import Extras
from proxy.core.profile import Replay

CHAT, GOOGLE = "chat", "google"
"""The dialects whose extras surfaces know."""

RESPONSES = "responses"

DETAILS = "reasoning_details"
"""OpenRouter's objects around a thought, by the name of their field. Chat alone has them."""

REPLAY = "replay"
"""The field that a Chat reply had its thoughts in, as `{"model": whose, "field": name}`."""

CARRIERS: tuple[Replay, ...] = ("reasoning_details", "reasoning_content", "reasoning")
"""Fields in which thoughts may go back as they came, those first that say more than the others."""

PROOFS, SIGNATURES = "proofs", "signatures"

BLOCKS = "blocks"
"""Anthropic's thoughts in their order, each as `{"model": whose it is, "block": as it came}`."""


RUNS = "runs"
"""What the commands of a shell have printed, each with its outcome, as a client sends it by Responses."""

ITEMS = "items"
"""Thoughts of a Responses backend, each as `{"model": whose it is, "item": as it came}`."""


class CallProof(NamedTuple):
    """What a Chat backend puts beside a call: a member `extra_content`, which it wants back with that call."""

    call_id: str
    """The call's id as the backend made it, until a surface renames its calls."""
    content: Any


def proof_extras(proof: CallProof) -> Extras:
    return {CHAT: {PROOFS: [{"id": proof.call_id, "extra_content": proof.content}]}}


def proofs_in(extras: Extras) -> list[CallProof]:
    return [CallProof(entry["id"], entry["extra_content"]) for entry in _entries(extras, CHAT, PROOFS)]


def with_call_ids(extras: Extras, names: Mapping[str, str]) -> Extras:
    """Returns the extras with each proof under another id of its call, where there is one."""
    proofs = [entry | {"id": names.get(entry["id"], entry["id"])} for entry in _entries(extras, CHAT, PROOFS)]
    return extras | {CHAT: extras[CHAT] | {PROOFS: proofs}} if proofs else extras


def signature_extras(signature: str, *, model: str | None = None, carrier: str | None = None) -> Extras:
    """Holds a Gemini model's proof of a thought, which belongs to the part that follows it. Clients cannot say which
    model it is from, nor which part carried it."""
    entry = {"model": model, "signature": signature, "place": carrier}
    return {GOOGLE: {SIGNATURES: [{name: value for name, value in entry.items() if value is not None}]}}


def signatures_in(extras: Extras) -> list[Any]:
    return _entries(extras, GOOGLE, SIGNATURES)


def detail_extras(details: list[Any]) -> Extras:
    return {CHAT: {DETAILS: details}}


def details_in(extras: Extras) -> list[Any]:
    return _entries(extras, CHAT, DETAILS)


def item_extras(item: dict[str, Any], model: str) -> Extras:
    return {RESPONSES: {ITEMS: [{"model": model, "item": item}]}}


def items_in(extras: Extras) -> list[Any]:
    return _entries(extras, RESPONSES, ITEMS)


def field_extras(model: str, field: Replay) -> Extras:
    """Names the field in which a Chat backend has sent the thoughts of this model."""
    return {CHAT: {REPLAY: [{"model": model, "field": field}]}}


def field_in(extras: Extras, model: str | None = None) -> Replay | None:
    """Returns the field that was named for this model, or for any."""
    named = {entry["field"] for entry in _entries(extras, CHAT, REPLAY) if model in (None, entry["model"])}
    return next((field for field in CARRIERS if field in named), None)


def _entries(extras: Extras, dialect: str, name: str) -> list[Any]:
    """Returns the list, empty where there is none."""
    kept = extras.get(dialect)
    entries = kept.get(name) if isinstance(kept, Mapping) else None
    return entries if isinstance(entries, list) else []


# ── what others say ──


def usable_details(raw: Any) -> list[dict[str, Any]]:
    """Returns the details that are objects with text only where text belongs, because their pieces will be joined."""
    return [
        {name: value for name, value in detail.items() if name not in DETAIL_WORDS or isinstance(value, str)}
        for detail in (raw if isinstance(raw, list) else ())
        if isinstance(detail, dict)
    ]


def readable(details: Any) -> str:
    """Returns the text in OpenRouter's details, or in a list of Mistral's thoughts. The rest is encrypted."""
    if not isinstance(details, list):
        return ""
    words = [detail.get("text") or detail.get("summary") for detail in details if isinstance(detail, dict)]
    return "".join(text for text in words if isinstance(text, str))


# ── what comes back out of a token ──


def are_extras(value: Any) -> bool:
    """Has it the form that the readers of extras rely on, whichever version of the proxy made it?"""
    return isinstance(value, dict) and all(
        isinstance(lists, dict) and all(_are_entries(name, entries) for name, entries in lists.items())
        for lists in value.values()
    )


def _are_entries(name: str, entries: Any) -> bool:
    return isinstance(entries, list) and (name not in ENTRY_CHECKS or all(map(ENTRY_CHECKS[name], entries)))


def _is_proof(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str) and "extra_content" in entry


def _is_block(entry: Any) -> bool:
    block = entry.get("block") if isinstance(entry, dict) else None
    return isinstance(block, dict) and isinstance(block.get("type"), str)


def _is_item(entry: Any) -> bool:
    item = entry.get("item") if isinstance(entry, dict) else None
    return isinstance(item, dict) and item.get("type") == "reasoning"


def _names_a_field(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("model"), str) and entry.get("field") in CARRIERS


ENTRY_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    PROOFS: _is_proof,
    BLOCKS: _is_block,
    ITEMS: _is_item,
    REPLAY: _names_a_field,
}
"""What an entry must be in the lists of these names. The readers of the others check each entry themselves."""
