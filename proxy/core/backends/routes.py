"""Which backend answers for which model: aliases first, then exact names, then the longest prefix, then the default.

And which others may do so in its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from proxy.core.errors import NotFound
from proxy.core.masking.redact import quoted

ANY_ENDING = "*"
"""Ends a name in a table that stands for all models that begin like it."""

Found = TypeVar("Found")


class _ByName(Generic[Found]):
    """Looks up names, and beginnings with `*`: the name itself counts, else the longest beginning."""

    def __init__(self, table: Mapping[str, Found]) -> None:
        self._table = table
        patterns = (name for name in table if name.endswith(ANY_ENDING))
        longest_first = sorted(patterns, key=len, reverse=True)
        self._beginnings = [(pattern.removesuffix(ANY_ENDING), table[pattern]) for pattern in longest_first]

    def get(self, model: str) -> Found | None:
        if model in self._table:
            return self._table[model]
        for beginning, found in self._beginnings:
            if model.startswith(beginning):
                return found
        return None


@dataclass(frozen=True)
class Routes:
    default: str | None
    """Answers for models that nothing below names. Default: such models are refused."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Maps a model's name, or how names begin and `*`, to its backend."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Maps another name that clients use to the model's."""
    fallbacks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Maps a model's name, or how names begin and `*`, to other backends, each with `/` and what the model is called
    there if that is something else."""
    _backends: _ByName[str] = field(init=False)
    _others: _ByName[Sequence[str]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_backends", _ByName(self.models))
        object.__setattr__(self, "_others", _ByName(self.fallbacks))

    def real_name(self, model: str) -> str:
        return self.aliases.get(model, model)

    def candidates(self, model: str) -> list[tuple[str, str]]:
        """Finds the backends that may answer, with the model's name at each: the first one, then its fallbacks in
        order."""
        model = self.real_name(model)
        found = [(self.backend_of(model), model)]
        others = self._others.get(model)
        if others is None:  # nearly always
            return found
        for other in others:
            backend, _, name = other.partition("/")
            found.append((backend, name or model))
        return list(dict.fromkeys(found))

    def backend_of(self, model: str) -> str:
        """Finds the backend by the model's real name."""
        found = self.find(model)
        if found is None:
            known = ", ".join(sorted({*self.models, *self.aliases}))
            raise NotFound(
                f"No backend is configured for the model {quoted(model)}. Choose one of: {known}.",
                code="model_not_found",
                param="model",
            )
        return found

    def find(self, model: str) -> str | None:
        return self._backends.get(model) or self.default
