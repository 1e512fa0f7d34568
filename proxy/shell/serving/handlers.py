"""What answers behind the paths of models, and behind the small ones; `routes` says which path that is."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from proxy.core.errors import Fault, Forbidden, NotFound
from proxy.core.masking.redact import quoted
from proxy.core.policy.shares import Loan, Shares
from proxy.core.surfaces.catalog import listing as catalog_listing
from proxy.core.surfaces.responses import compaction, counting
from proxy.core.surfaces.surface import Surface
from proxy.core.tenants import Tenant
from proxy.shell.backends import Backends
from proxy.shell.cancellation import shutting_down
from proxy.shell.engine import Engine
from proxy.shell.http.answers import JSON, HttpAnswer, HttpRequest, answer, text
from proxy.shell.http.heartbeat import StreamTiming
from proxy.shell.http.stream import HttpStream
from proxy.shell.in_flight import Caller, InFlight
from proxy.shell.ops.exposition import CONTENT_TYPE, page
from proxy.shell.ops.tasks import Tasks
from proxy.shell.ops.worker_metrics import WorkerMetrics
from proxy.shell.serving.bodies import Bodies
from proxy.shell.serving.lookups import Lookups
from proxy.shell.serving.refusals import Refusals
from proxy.shell.serving.token_counting import TokenCounting
from proxy.shell.stored_turns import StoredTurn, StoredTurns
from proxy.shell.websocket.open_sockets import OpenSockets

Body = Callable[[InFlight], Awaitable[Any]]
Respond = Callable[[Surface, Body, Caller, HttpStream, StoredTurn], Awaitable[None]]
"""Answers a request, see `Engine.respond`."""


@dataclass(slots=True, frozen=True)
class Surfaces:
    """The surfaces, by the paths that lead to them."""

    responses: Surface
    compaction: Surface
    counting: Surface
    chat: Surface
    native: Surface


@dataclass(slots=True)
class Incoming:
    """A request that a tenant has sent to a path, with the id that the log shows."""

    request: HttpRequest
    id: str
    surface: Surface | None
    """None for a path that belongs to no surface."""
    tenant: Tenant
    owner: str

    @property
    def caller(self) -> Caller:
        request = self.request
        # `path` would be made for this alone; the other one has found the route
        return Caller(self.tenant, request.headers, self.owner, request.method, request.rel_url.path_safe)


class Handlers:
    def __init__(
        self,
        *,
        engine: Engine,
        token_counting: TokenCounting,
        surfaces: Surfaces,
        worker_metrics: WorkerMetrics,
        shows_metrics: bool,
        backends: Backends,
        open_sockets: OpenSockets | None,
        timing: StreamTiming,
        body_limit: int,
        memory: Shares,
        tasks: Tasks,
        refusals: Refusals,
        stored_turns: StoredTurns,
        store_is_up: Callable[[], bool] | None,
    ) -> None:
        """`open_sockets`: None if WebSockets are switched off. `store_is_up`: None if nothing is kept."""
        self.open_sockets = open_sockets
        self._engine = engine
        self._token_counting = token_counting
        self.surfaces = surfaces
        self._worker_metrics = worker_metrics
        self._shows_metrics = shows_metrics
        self._backends = backends
        self.bodies = Bodies(body_limit, memory, engine.threads)
        self.lookups = Lookups(memory)
        self._memory = memory
        self.open_stream = partial(HttpStream, timing=timing, tasks=tasks)
        self._refusals = refusals
        self._stored_turns = stored_turns
        self.hurry = engine.hurry
        self._store_is_up = store_is_up
        self._draining = False

    async def drain(self, grace: float) -> None:
        """Takes no more work, lets open streams come to their end, then ends those that did not (F74)."""
        self._draining = True
        if self.open_sockets is not None:
            self.open_sockets.leave()
        await self._engine.drain(grace)
        if self.open_sockets is not None:
            await self.open_sockets.closed()

    # ── models ──

    def ask(self, incoming: Incoming) -> Awaitable[HttpAnswer]:
        return self._ask(incoming, self._engine.respond)

    def compact(self, incoming: Incoming) -> Awaitable[HttpAnswer]:
        return self._ask(incoming, self._engine.respond, compaction.requested)

    def count(self, incoming: Incoming) -> Awaitable[HttpAnswer]:
        return self._ask(incoming, self._token_counting.respond, counting.requested)

    async def websocket(self, incoming: Incoming) -> HttpAnswer:
        self._check_open()
        assert self.open_sockets is not None
        return await self.open_sockets.hold(incoming.request, incoming.id, incoming.caller)

    async def _ask(
        self, incoming: Incoming, respond: Respond, read: Callable[[Any], Any] | None = None
    ) -> HttpAnswer:
        """`read` turns the body into what this path stands for. Default: the body itself."""
        self._check_open()
        request, surface = incoming.request, incoming.surface
        assert surface is not None, "whoever asks a model does so by a path of a surface"
        stream = self.open_stream(request, incoming.id)
        loan = Loan(self._memory, incoming.owner)
        try:
            body = partial(self._body, request, read, loan)
            store = self._stored_turns.turn(incoming.tenant.name, loan)
            await respond(surface, body, incoming.caller, stream, store)
        except Fault as fault:
            return self._refusals.answer(fault, request, incoming.id, surface)
        finally:
            loan.end()
        return stream.response

    async def _body(
        self, request: HttpRequest, read: Callable[[Any], Any] | None, loan: Loan, in_flight: InFlight
    ) -> Any:
        body = await self.bodies.read(request, loan, in_flight.ledger, in_flight.received)
        return body if read is None else read(body)

    def _check_open(self) -> None:
        if self._draining:
            raise shutting_down()

    # ── small questions ──

    async def models(self, incoming: Incoming) -> HttpAnswer:
        listing = await self._backends.models()
        return text(listing.for_client(incoming.request.headers, incoming.request.query), JSON, incoming.id)

    async def model(self, incoming: Incoming, id: str) -> HttpAnswer:
        if model := (await self._backends.models()).find(id):
            return answer(catalog_listing.entry(model), incoming.id)
        raise NotFound(
            f"There is no model {quoted(id)}. GET /v1/models lists those that there are.",
            code="model_not_found",
            param="model",
        )

    async def health(self, incoming: Incoming) -> HttpAnswer:
        return answer({"status": "ok"}, incoming.id)

    async def readiness(self, incoming: Incoming) -> HttpAnswer:
        """A store that is down is only told of: a restart would not mend it, and requests that keep nothing go on."""
        self._check_open()
        ready = {"status": "ready"}
        if self._store_is_up is not None:
            ready["store"] = "up" if self._store_is_up() else "down"
        return answer(ready, incoming.id)

    async def metrics(self, incoming: Incoming) -> HttpAnswer:
        if not self._shows_metrics:
            raise Forbidden(
                "Metrics are shown to nobody here. To see them, put the digest of a key into metrics.keys "
                "(responses-proxy hash-key), or set metrics.open = true."
            )
        counts = await self._worker_metrics.counts()
        # With many tenants and workers it takes a tenth of a second, and no stream should wait so long (F79).
        return text(await asyncio.to_thread(page, counts), CONTENT_TYPE, incoming.id)

    async def openapi(self, incoming: Incoming) -> HttpAnswer:
        return answer(await asyncio.to_thread(_description), incoming.id)


def _description() -> dict[str, Any]:
    """Imported here, as few programs ask for it."""
    from proxy.core.surfaces.openapi.document import document

    return document()
