"""What a model was asked for besides the words, and what the conventions for generative AI call it.

Numbers, and words from short lists. The words at which a model is to stop are content, and are left out.
"""

from collections.abc import Container, Mapping
from typing import Final

from proxy.core.masking.redact import as_name
from proxy.core.model import FormatKind, Request

Wish = int | float | str

SAMPLING: Final = {
    "temperature": float,
    "top_p": float,
    "presence_penalty": float,
    "frequency_penalty": float,
    "seed": int,
    "max_tokens": int,
}
"""What the conventions have, each in its type there: clients write 1 for 1.0."""
BEFORE: Final = "gen_ai.request."
NAMES: Final = {"reasoning_effort": "gen_ai.request.reasoning.level", "format": "gen_ai.output.type"}


def wishes_of(request: Request) -> dict[str, Wish]:
    """By the proxy's own names."""
    sampling = request.sampling
    wishes: dict[str, Wish] = {
        name: form(value) for name, form in SAMPLING.items() if (value := getattr(sampling, name)) is not None
    }
    if request.reasoning.effort:
        wishes["reasoning_effort"] = as_name(request.reasoning.effort)
    if request.format.kind is not FormatKind.TEXT:
        wishes["format"] = "json"
    return wishes


def conventional(wishes: Mapping[str, Wish], dropped: Container[str]) -> dict[str, Wish]:
    """Renames wishes as the conventions do. `dropped`: what no backend was asked for, because it does not know it."""
    return {NAMES.get(name, BEFORE + name): value for name, value in wishes.items() if name not in dropped}
