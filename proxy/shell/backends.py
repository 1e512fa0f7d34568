"""All backends of one configuration, and those that answer for a model."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from proxy.core.backends.routes import Routes
from proxy.core.catalog import ServedModel
from proxy.core.surfaces.catalog.listing import Listing
from proxy.shell.backend import Backend
from proxy.shell.known_models import MAX_KNOWN


@dataclass(slots=True, frozen=True)
class BackendCandidate:
    """A backend that can answer for a model."""

    backend: Backend
    model: str
    """The model's name at the backend, unless that has yet another name for it."""


class Backends:
    def __init__(self, backends: Mapping[str, Backend], routes: Routes) -> None:
        self._backends = backends
        self._routes = routes
        self.candidates = lru_cache(MAX_KNOWN)(self._candidates)
        """Lists the candidates for a model in the order in which they are tried. Raises NotFound if there is none."""
        self._listed: Sequence[list[ServedModel] | None] = [None] * len(backends)
        self._listing = Listing([])

    @property
    def all(self) -> Iterable[Backend]:
        return self._backends.values()

    def lessons_held(self) -> Mapping[tuple[str, ...], float]:
        """The number of models of which a field of the profile is known by lessons now, by backend and field."""
        return {
            (name, field): models
            for name, backend in self._backends.items()
            for field, models in backend.known.fields_learned().items()
        }

    def real_name(self, model: str) -> str:
        """The model's own name, where the client may have used an alias."""
        return self._routes.real_name(model)

    def hosted_tools(self, model: str) -> Collection[str]:
        """The types of tools that the first backend of a model runs itself, as far as is known without a question."""
        real = self._routes.real_name(model)
        found = self._routes.find(real)
        return self._backends[found].known.hosted_tools(real) if found is not None else ()

    def _candidates(self, model: str) -> Sequence[BackendCandidate]:
        return [
            BackendCandidate(self._backends[name], model) for name, model in self._routes.candidates(model)
        ]

    async def models(self) -> Listing:
        """Lists the models, each of the backend to which requests for it go. The list is made anew when a backend's
        list changes."""
        listings = await asyncio.gather(*(backend.models() for backend in self._backends.values()))
        if any(new is not old for new, old in zip(listings, self._listed, strict=True)):
            self._listed, self._listing = listings, self._merged(listings)
        return self._listing

    def _merged(self, listings: Sequence[list[ServedModel]]) -> Listing:
        by_name = {
            model.name: model
            for name, models in zip(self._backends, listings, strict=True)
            for model in models
            if self._routes.find(model.name) == name
        }
        return Listing([*self._aliased(by_name), *by_name.values()])

    def _aliased(self, by_name: Mapping[str, ServedModel]) -> list[ServedModel]:
        return [
            replace(by_name[model], name=alias)
            for alias, model in self._routes.aliases.items()
            if model in by_name
        ]
