"""The models that clients may name, and what is known of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that clients may name."""

    name: str
    created: int = 0
    owned_by: str = "backend"
    window: int | None = None
    """How many tokens fit."""
    efforts: tuple[str, ...] = ()
    """The levels of reasoning effort that may be asked for."""
    images: bool = True


@dataclass(frozen=True, slots=True)
class Catalog:
    """What the configuration says of models, by the names that clients use."""

    windows: Mapping[str, int] = field(default_factory=dict)
    efforts: Mapping[str, Sequence[str]] = field(default_factory=dict)
