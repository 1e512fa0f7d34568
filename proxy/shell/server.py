"""The front door: which path leads where, and how it opens and closes.

Routing is a table on aiohttp's low-level server, so that whatever is refused, down to bytes that are no
HTTP at all, is refused in one place and in one form.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp import web

from proxy.core.errors import ClientFault, Fault, Forbidden, NotFound
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quotable, quoted, shown
from proxy.core.policy.hosts import Hosts
from proxy.core.policy.shares import Loan, Shares
from proxy.core.surfaces.catalog import listing as catalog_listing
from proxy.core.surfaces.openapi import document
from proxy.core.surfaces.reading.parsing import parsed
from proxy.core.surfaces.responses import compaction
from proxy.core.surfaces.surface import Surface
from proxy.core.tenants import EVERYBODY, Tenant, Tenants
from proxy.shell.backends import Backends
from proxy.shell.cancellation import shutting_down
from proxy.shell.engine import Engine
from proxy.shell.http import malformed
from proxy.shell.http.answers import JSON, answer, error_response, request_id_of, text
from proxy.shell.http.body import read_body
from proxy.shell.http.connection import Acceptor, connection_of
from proxy.shell.http.connections import Connections
from proxy.shell.http.heartbeat import StreamTiming
from proxy.shell.http.stream import HttpStream
from proxy.shell.in_flight import Caller, own_failure
from proxy.shell.open_sockets import OpenSockets
from proxy.shell.ops.fault_facts import facts_of
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import CONTENT_TYPE, Metrics, page
from proxy.shell.ops.tasks import Tasks
from proxy.shell.ops.worker_metrics import WorkerMetrics

TOO_LARGE = 413
BACKLOG = 1024
CLOSING_SECONDS = 3.0
"""For answers that are already written, to leave."""

HEALTH, READINESS, METRICS = "/healthz", "/readyz", "/metrics"

MAX_PATH = 200
"""Of one that is refused, in the log: anybody may send 8,000 characters there, without a key."""

WEBSOCKET = "GET, upgraded"
"""Stands among the methods of a path, for it leads elsewhere than a mere GET."""


@dataclass(slots=True, frozen=True)
class Surfaces:
    """What is spoken here, and behind which path."""

    responses: Surface
    compaction: Surface
    chat: Surface
    native: Surface


def _parsed(data: bytes) -> Any:
    return parsed(data, "The request body", "Send one JSON object in UTF-8.")


Handler = Callable[..., Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Incoming:
    """Who asks for what, by which id the logs know it."""

    request: web.BaseRequest
    id: str
    tenant: Tenant
    owner: str

    @property
    def caller(self) -> Caller:
        return Caller(self.tenant, self.request.headers, self.owner)


def _as_it_is(body: Any) -> Any:
    return body


class Server:
    def __init__(
        self,
        *,
        engine: Engine,
        surfaces: Surfaces,
        hosts: Hosts,
        tenants: Tenants,
        metrics: Metrics,
        worker_metrics: WorkerMetrics,
        metrics_readers: Tenants | None,
        backends: Backends,
        open_sockets: OpenSockets | None,
        connections: Connections,
        timing: StreamTiming,
        body_limit: int,
        memory: Shares,
        mint: Mint,
        tasks: Tasks,
        log: Log,
    ) -> None:
        """`metrics_readers`: None when nobody may see them."""
        self._engine = engine
        self._surfaces = surfaces
        self._hosts = hosts
        self._tenants = tenants
        self._metrics = metrics
        self._worker_metrics = worker_metrics
        self._metrics_readers = metrics_readers
        # Whoever watches over the process needs no tenant's key, and a tenant's key shows no other tenant's use.
        self._doors = {HEALTH: EVERYBODY, READINESS: EVERYBODY, METRICS: metrics_readers or tenants}
        self._backends = backends
        self._open_sockets = open_sockets
        self._connections = connections
        self._timing = timing
        self._body_limit = body_limit
        self._memory = memory
        self._mint = mint
        self._tasks = tasks
        self._log = log
        self._draining = False
        self._runner: web.ServerRunner | None = None

    async def start(self, host: str, port: int, *, shared: bool = False) -> str:
        """Listens; returns the address that was bound. OSError when it cannot be. Others that share it may listen
        there too: the kernel gives each of them its part of the connections."""
        self._runner = web.ServerRunner(
            Acceptor(self._answer, self._malformed, self._connections), shutdown_timeout=CLOSING_SECONDS
        )
        await self._runner.setup()
        self._connections.start_timer()
        await web.TCPSite(self._runner, host, port, backlog=BACKLOG, reuse_port=shared or None).start()
        bound_host, bound_port = self._runner.addresses[0][:2]
        return (
            f"http://[{bound_host}]:{bound_port}"
            if ":" in bound_host
            else f"http://{bound_host}:{bound_port}"
        )

    async def stop(self, grace: float) -> None:
        """Takes no more work, lets open streams come to their end, then ends those that did not (F74)."""
        self._draining = True
        if self._open_sockets is not None:
            self._open_sockets.leave()
        await self._engine.drain(grace)
        if self._open_sockets is not None:
            await self._open_sockets.closed()
        if self._runner is not None:
            await self._runner.cleanup()
        self._connections.close()

    # ── answering ──

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        request_id = request_id_of(request.headers, self._mint)
        try:
            self._hosts.check(request.headers.getall("Host", ()))
            return await self._route(request, request_id)
        except Fault as fault:
            return self._refuse(fault, request, request_id)
        except ConnectionError:
            raise  # the client has left
        except Exception as bug:
            failure = own_failure(bug, self._log.bind(request_id=request_id))
            return self._error_response(failure, request, request_id)

    async def _route(self, request: web.BaseRequest, request_id: str) -> web.StreamResponse:
        for path, methods in ROUTES:
            if found := path.fullmatch(request.path):
                tenant = self._doors.get(path.pattern, self._tenants).of(request.headers)
                if handler := self._handler(request, methods):
                    owner = self._tenants.owner(tenant, connection_of(request).address)
                    incoming = Incoming(request, request_id, tenant, owner)
                    return await handler(self, incoming, **found.groupdict())
                return self._refuse_method(request, _allowed(methods), request_id)
        message = f"There is nothing at {quoted(request.path)}. GET /openapi.json lists the paths."
        raise NotFound(message, code="not_found")

    def _handler(self, request: web.BaseRequest, methods: dict[str, Handler]) -> Handler | None:
        if self._open_sockets is not None and WEBSOCKET in methods and _wants_websocket(request):
            return methods[WEBSOCKET]
        return methods.get("GET" if request.method == "HEAD" else request.method)

    def _refuse_method(self, request: web.BaseRequest, allowed: str, request_id: str) -> web.Response:
        told = {"Allow": allowed}
        if _wants_websocket(request):
            # Codex tries a WebSocket first, and takes this status, and no other, as the word to use HTTP.
            message = f"WebSocket is not spoken here: use HTTP, with {allowed}."
            fault = ClientFault(message, status=426, code="upgrade_required")
            told["Upgrade"] = "HTTP/1.1"
        else:
            message = f"{quoted(request.method)} is not allowed here: use {allowed}."
            fault = ClientFault(message, status=405, code="method_not_allowed")
        refusal = self._refuse(fault, request, request_id)
        refusal.headers.update(told)
        return refusal

    def _refuse(self, fault: Fault, request: web.BaseRequest, request_id: str) -> web.Response:
        """With a line in the log, since the engine has not heard of it."""
        method, host, path = shown(request.method), shown(request.host), quotable(request.path, MAX_PATH)
        self._log_refusal(fault, request_id, method=method, host=host, path=path)
        return self._error_response(fault, request, request_id)

    def _log_refusal(self, fault: Fault, request_id: str, **asked: str) -> None:
        self._log.info("refusal", request_id=request_id, **asked, status=fault.status, **facts_of(fault))

    def _error_response(self, fault: Fault, request: web.BaseRequest, request_id: str) -> web.Response:
        self._metrics.refused(fault)
        body, told = request.content, self._engine.secret_mask.hidden_in(fault, request.headers)
        refusal = error_response(told, request_id)
        if fault.status == TOO_LARGE or not body.at_eof() or body.exception() is not None:
            refusal.force_close()  # nobody reads the rest, and whoever sends too much need not go on
        return refusal

    async def _ask(
        self, surface: Surface, incoming: Incoming, read: Callable[[Any], Any] = _as_it_is
    ) -> web.StreamResponse:
        """`read` makes of the body what this path stands for."""
        if self._draining:
            raise shutting_down()
        request = incoming.request
        stream = HttpStream(request, incoming.id, self._timing, self._tasks)
        loan = Loan(self._memory, incoming.owner)
        try:
            await self._engine.respond(
                surface, partial(self._body, request, read, loan), incoming.caller, stream
            )
        except Fault as fault:
            return self._error_response(fault, request, incoming.id)
        finally:
            loan.end()
        return stream.response

    async def _body(
        self,
        request: web.BaseRequest,
        read: Callable[[Any], Any],
        loan: Loan,
        ledger: Ledger,
    ) -> Any:
        data = await read_body(request, self._body_limit, loan.take)
        body = await self._engine.threads.read(data, _parsed, ledger)
        loan.take_up(await self._engine.threads.weighed(body, len(data), ledger), len(data))
        return read(body)

    async def _respond(self, incoming: Incoming) -> web.StreamResponse:
        return await self._ask(self._surfaces.responses, incoming)

    async def _compact(self, incoming: Incoming) -> web.StreamResponse:
        return await self._ask(self._surfaces.compaction, incoming, compaction.requested)

    async def _chat(self, incoming: Incoming) -> web.StreamResponse:
        return await self._ask(self._surfaces.chat, incoming)

    async def _native(self, incoming: Incoming) -> web.StreamResponse:
        return await self._ask(self._surfaces.native, incoming)

    async def _converse(self, incoming: Incoming) -> web.StreamResponse:
        if self._draining:
            raise shutting_down()
        assert self._open_sockets is not None
        return await self._open_sockets.hold(incoming.request, incoming.id, incoming.caller)

    async def _stored(self, incoming: Incoming, id: str) -> web.StreamResponse:
        raise NotFound(
            f"There is no response {quoted(id)}: none is stored here. Keep what POST /v1/responses answers.",
            code="response_not_found",
        )

    async def _models(self, incoming: Incoming) -> web.StreamResponse:
        listing = await self._backends.models()
        return text(listing.for_client(incoming.request.headers, incoming.request.query), JSON, incoming.id)

    async def _model(self, incoming: Incoming, id: str) -> web.StreamResponse:
        if model := (await self._backends.models()).find(id):
            return answer(catalog_listing.entry(model), incoming.id)
        raise NotFound(
            f"There is no model {quoted(id)}. GET /v1/models lists those that there are.",
            code="model_not_found",
            param="model",
        )

    async def _healthy(self, incoming: Incoming) -> web.StreamResponse:
        return answer({"status": "ok"}, incoming.id)

    async def _ready(self, incoming: Incoming) -> web.StreamResponse:
        if self._draining:
            raise shutting_down()
        return answer({"status": "ready"}, incoming.id)

    async def _counted(self, incoming: Incoming) -> web.StreamResponse:
        if self._metrics_readers is None:
            raise Forbidden(
                "Metrics are shown to nobody here. To see them, put the digest of a key into metrics.keys "
                "(responses-proxy hash-key), or set metrics.open = true."
            )
        counts = await self._worker_metrics.counts()
        # Of many tenants and workers it takes a tenth of a second, which no stream should wait (F79).
        return text(await asyncio.to_thread(page, counts), CONTENT_TYPE, incoming.id)

    async def _described(self, incoming: Incoming) -> web.StreamResponse:
        return answer(document.DOCUMENT, incoming.id)

    def _malformed(self, request: web.BaseRequest, error: BaseException | None) -> web.Response:
        """aiohttp's own words quote the head, where keys are: the log is told the kind of error alone."""
        fault, request_id = malformed.fault_of(error), request_id_of({}, self._mint)
        self._log_refusal(fault, request_id, kind=type(error).__name__)
        return self._error_response(fault, request, request_id)


ROUTES: tuple[tuple[re.Pattern[str], dict[str, Handler]], ...] = (
    (re.compile(r"(?:/v1)?/responses/?"), {"POST": Server._respond, WEBSOCKET: Server._converse}),
    (re.compile(r"(?:/v1)?/responses/compact/?"), {"POST": Server._compact}),
    (
        re.compile(r"(?:/v1)?/responses/(?!input_tokens$)(?P<id>[^/]+)(?:/.*)?"),
        {"GET": Server._stored, "POST": Server._stored, "DELETE": Server._stored},
    ),
    (re.compile(r"(?:/v1)?/chat/completions/?"), {"POST": Server._chat}),
    (re.compile(r"/native(?:/v1)?/chat/completions/?"), {"POST": Server._native}),
    (re.compile(r"(?:/v1)?/models/?"), {"GET": Server._models}),
    (re.compile(r"(?:/v1)?/models/(?P<id>.+)"), {"GET": Server._model}),
    (re.compile(HEALTH), {"GET": Server._healthy}),
    (re.compile(READINESS), {"GET": Server._ready}),
    (re.compile(METRICS), {"GET": Server._counted}),
    (re.compile(r"/openapi\.json"), {"GET": Server._described}),
)


def _allowed(methods: dict[str, Handler]) -> str:
    """Whatever can be looked at can be looked at without its body, which aiohttp leaves out by itself."""
    told = [method for method in methods if method != WEBSOCKET]
    return ", ".join(["GET, HEAD" if method == "GET" else method for method in told])


def _wants_websocket(request: web.BaseRequest) -> bool:
    return request.method == "GET" and request.headers.get("Upgrade", "").strip().lower() == "websocket"
