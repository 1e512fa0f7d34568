"""The list of models, in the two forms that clients read.

OpenAI's SDKs read `data`. Codex reads `models`, its own catalog, and refuses all of it if one member of one entry is
missing. With an entry it knows the context window, offers `apply_patch`, and does not warn. The catalog is sent to
Codex alone, because each entry has the whole instructions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.core import jsontext
from proxy.core.catalog import ServedModel
from proxy.core.surfaces.catalog.codex_instructions import INSTRUCTIONS
from proxy.core.surfaces.clients import Headers, asks_for_catalog

LEAST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS = 1_000, 10_000
OUTPUTS_PER_WINDOW = 8
"""A command may print so much into the conversation: 10 000 tokens for OpenAI's models, an eighth of a small window."""

EFFORTS = {
    "none": "No reasoning",
    "minimal": "As little reasoning as possible",
    "low": "Fast answers with some reasoning",
    "medium": "Balances speed and depth of reasoning",
    "high": "More reasoning for hard problems",
    "xhigh": "Much reasoning for the hardest problems",
    "max": "As much reasoning as the model can do",
}


class Listing:
    """All models that are served. Each form is made once, at the first request for it."""

    def __init__(self, models: Sequence[ServedModel]) -> None:
        self.models = models
        self._by_name = {model.name: model for model in reversed(models)}  # the first of a name has it
        self._plain = self._catalog = b""

    def find(self, name: str) -> ServedModel | None:
        return self._by_name.get(name)

    def for_client(self, headers: Headers, query: Mapping[str, str]) -> bytes:
        return self.catalog() if asks_for_catalog(headers, query) else self.plain()

    def plain(self) -> bytes:
        self._plain = self._plain or jsontext.dumps(self._list())
        return self._plain

    def catalog(self) -> bytes:
        """The list with Codex's catalog beside it."""
        if not self._catalog:
            entries = [_codex_entry(model, rank) for rank, model in enumerate(self.models)]
            self._catalog = jsontext.dumps({**self._list(), "models": entries})
        return self._catalog

    def _list(self) -> dict[str, Any]:
        return {"object": "list", "data": [entry(model) for model in self.models]}


def entry(model: ServedModel) -> dict[str, Any]:
    return {"id": model.name, "object": "model", "created": model.created, "owned_by": model.owned_by}


def _codex_entry(model: ServedModel, rank: int) -> dict[str, Any]:
    """An entry of Codex's catalog. It has no default effort, because the user decides whether to send one at all."""
    window = {} if model.window is None else {"context_window": model.window}
    return {
        "slug": model.name,
        "display_name": model.name,
        "supported_reasoning_levels": [
            {"effort": effort, "description": EFFORTS.get(effort, effort)} for effort in model.efforts
        ],
        "shell_type": "unified_exec",
        "visibility": "list",
        "supported_in_api": True,
        "priority": rank,
        "base_instructions": INSTRUCTIONS,
        "supports_reasoning_summaries": True,
        "support_verbosity": False,
        "apply_patch_tool_type": "freeform",
        "truncation_policy": {"mode": "tokens", "limit": _output_tokens(model.window)},
        "supports_parallel_tool_calls": True,
        "experimental_supported_tools": [],
        "input_modalities": ["text", "image"] if model.images else ["text"],
        **window,
    }


def _output_tokens(window: int | None) -> int:
    if window is None:
        return MOST_OUTPUT_TOKENS
    return min(max(window // OUTPUTS_PER_WINDOW, LEAST_OUTPUT_TOKENS), MOST_OUTPUT_TOKENS)
