"""What a schema loses when it is rewritten for a provider: what was only described, and what could not be carried."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.core.schemas.subsets import Subset
from proxy.core.schemas.traversal import Path, Schema
from proxy.core.work import Work


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The rewritten schema. It is shared: do not change it."""

    schema: Schema
    relaxed: tuple[str, ...] = ()
    """Keywords that the provider no longer enforces."""
    incompatible: tuple[tuple[str, Path], ...] = ()
    """Keywords without which the schema would mean something else, so that it cannot be sent at all. They come in
    alphabetical order, each with the first place where it stands."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """By alias, the names of the properties whose own names the provider would refuse."""

    @property
    def incompatible_features(self) -> tuple[str, ...]:
        return tuple(keyword for keyword, _ in self.incompatible)


@dataclass(slots=True)
class Losses:
    """Collects the losses while a schema is rewritten, and holds the budget that pays for it."""

    work: Work
    relaxed: set[str] = field(default_factory=set)
    incompatible: dict[str, Path] = field(default_factory=dict)

    def relax(self, keyword: str) -> None:
        self.relaxed.add(keyword)

    def reject(self, keyword: str, path: Path = ()) -> None:
        self.incompatible.setdefault(keyword, path)

    def of(self, schema: Schema, aliases: Mapping[str, str]) -> Rewritten:
        return Rewritten(
            schema, tuple(sorted(self.relaxed)), tuple(sorted(self.incompatible.items())), aliases
        )


@dataclass(slots=True)
class Node:
    """The node that a step works on, and what the step leaves behind there."""

    subset: Subset
    losses: Losses
    path: Path
    described: dict[str, Any] = field(default_factory=dict)

    @property
    def work(self) -> Work:
        return self.losses.work

    @property
    def is_root(self) -> bool:
        return not self.path

    def reads(self, keyword: str) -> bool:
        return self.subset.keywords is None or keyword in self.subset.keywords

    def describe(self, keyword: str, value: Any) -> None:
        self.described[keyword] = value
        self.losses.relax(keyword)

    def reject(self, keyword: str) -> None:
        self.losses.reject(keyword, self.path)
