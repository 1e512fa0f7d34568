"""What a backend's list of models says, in whichever form it comes, and the models that are served because of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.core.backends.model_rules import profile_of
from proxy.core.backends.target import Target
from proxy.core.catalog import Catalog, ServedModel

PREFIX = "models/"
"""Google puts it before a model's name, and its clients may or may not."""

USUAL_EFFORTS = ("low", "medium", "high")
"""A backend that takes a level of reasoning effort at all is said to take these; any other word reaches it too."""

ALL_OTHERS = "*"
"""Stands for every model that the configuration does not name."""

WINDOW_KEYS = (
    "context_length",
    "context_window",
    "max_context_length",
    "max_model_len",
    "max_context",
    "meta.n_ctx",
    "limits.max_context_length",
    "capabilities.limits.max_prompt_tokens",
    "max_input_tokens",
    "inputTokenLimit",
)
"""`meta.n_ctx_train` is not among them: it is what the model could hold, not what this server gives it."""

Entry = Mapping[str, Any]


def entries(listing: Any) -> list[Entry]:
    """Finds the models in a list: below `data`, as Together has it the list itself, or below `models`."""
    if isinstance(listing, Mapping):
        listing = listing.get("data") or listing.get("models")
    listed = listing if isinstance(listing, list) else []
    return [_named(entry) for entry in listed if isinstance(entry, Mapping)]


def bare(model: str) -> str:
    """Gives a model's name as all others than Google call it."""
    return model.removeprefix(PREFIX)


def _named(entry: Entry) -> Entry:
    """Google calls `models/x` what all others, and its own clients, call x."""
    name = entry.get("name")
    if "id" in entry or not isinstance(name, str) or not name.startswith(PREFIX):
        return entry
    return {**entry, "id": bare(name)}


def window(entry: Entry) -> int | None:
    """Reads the context window that an entry tells."""
    for key in WINDOW_KEYS:
        size = inside(entry, key)
        if isinstance(size, int) and not isinstance(size, bool) and size > 0:
            return size
    return None


def inside(entry: Any, key: str) -> Any:
    """Gives what stands at a path with dots."""
    for step in key.split("."):
        entry = entry.get(step) if isinstance(entry, Mapping) else None
    return entry


def served(listed: Sequence[Entry], target: Target, catalog: Catalog) -> list[ServedModel]:
    """Makes a model of each configured name, then of whatever else the backend lists."""
    by_id = {str(entry["id"]): entry for entry in listed if entry.get("id")}
    return [_model(name, by_id, target, catalog) for name in dict.fromkeys([*target.models, *by_id])]


def _model(name: str, by_id: Mapping[str, Entry], target: Target, catalog: Catalog) -> ServedModel:
    backends_name = target.models.get(name, name)
    entry = by_id.get(backends_name, {})
    profile = profile_of(target, backends_name)
    created, owner = entry.get("created"), entry.get("owned_by")
    otherwise = window(entry) or catalog.windows.get(ALL_OTHERS)
    usual = () if profile.effort_field == "none" else USUAL_EFFORTS
    return ServedModel(
        name,
        created=created if isinstance(created, int) else 0,
        owned_by=owner if isinstance(owner, str) else "backend",
        window=catalog.windows.get(name, otherwise),
        efforts=tuple(catalog.efforts.get(name, catalog.efforts.get(ALL_OTHERS, usual))),
        images=profile.images != "none",
    )
