"""All backends of one configuration, and the one that answers for a model."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from proxy.core.inbound.models_encode import ServedModel
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.outbound.routes import Routes
from proxy.shell.backend import Backend, Plan


class Backends:
    def __init__(self, backends: Mapping[str, Backend], routes: Routes) -> None:
        self._backends = backends
        self._routes = routes

    async def plan(self, request: Request, ledger: Ledger, headers: Mapping[str, str]) -> Plan:
        """`headers` are the client's; only a backend that is configured so gets the key in them."""
        model = self._routes.real_name(request.model)
        backend = self._backends[self._routes.backend_of(model)]
        return await backend.plan(request, model, ledger, headers)

    async def models(self) -> list[ServedModel]:
        """What clients may ask for: each backend's own, as far as its requests lead there."""
        listings = await asyncio.gather(*(backend.models() for backend in self._backends.values()))
        by_name = {
            model.name: model
            for name, models in zip(self._backends, listings, strict=True)
            for model in models
            if self._routes.find(model.name) == name
        }
        return [*self._aliased(by_name), *by_name.values()]

    def _aliased(self, by_name: Mapping[str, ServedModel]) -> list[ServedModel]:
        return [
            replace(by_name[model], name=alias)
            for alias, model in self._routes.aliases.items()
            if model in by_name
        ]
