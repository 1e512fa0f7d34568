"""The front door: it opens and closes, lets requests in, and has everything else refused."""

import asyncio
from collections.abc import Mapping

from aiohttp.web_request import BaseRequest
from aiohttp.web_response import StreamResponse

from proxy.core.errors import Fault
from proxy.core.ids import Mint
from proxy.core.policy.hosts import Hosts
from proxy.core.surfaces.surface import Surface
from proxy.core.tenants import EVERYBODY, Tenant, Tenants
from proxy.shell.http import malformed
from proxy.shell.http.answers import request_id_of
from proxy.shell.http.connection import Acceptor, connection_of
from proxy.shell.http.connections import Connections
from proxy.shell.in_flight import own_failure
from proxy.shell.ops.logs import Log
from proxy.shell.serving import routes
from proxy.shell.serving.conversations import Conversations
from proxy.shell.serving.handlers import Handlers, Incoming
from proxy.shell.serving.inspection import Inspection
from proxy.shell.serving.refusals import Refusals
from proxy.shell.serving.routes import HEALTH, METRICS, READINESS, Route
from proxy.shell.serving.stored_responses import StoredResponses
from proxy.shell.stores.failures import FAILURES, fault_of

BACKLOG = 1024
LEAVING_SECONDS = 3.0
"""The time that answers have to leave after they were written."""


class Server:
    def __init__(
        self,
        *,
        handlers: Handlers,
        stored_responses: StoredResponses,
        conversations: Conversations,
        inspection: Inspection,
        refusals: Refusals,
        hosts: Hosts,
        tenants: Tenants,
        metrics_readers: Tenants | None,
        connections: Connections,
        mint: Mint,
        log: Log,
    ) -> None:
        """`metrics_readers`: None if nobody may see the metrics."""
        self._handlers = handlers
        self._objects = {
            Handlers: handlers,
            StoredResponses: stored_responses,
            Conversations: conversations,
            Inspection: inspection,
        }
        self._refusals = refusals
        self._hosts = hosts
        self._tenants = tenants
        # A monitor needs no tenant's key, and a tenant's key must not show how much other tenants use.
        self._doors = {HEALTH: EVERYBODY, READINESS: EVERYBODY, METRICS: metrics_readers or tenants}
        self._connections = connections
        self._mint = mint
        self._log = log
        self._acceptor = Acceptor(self._answer, self._malformed, connections)
        self._listening: asyncio.Server | None = None

    async def start(self, host: str, port: int, *, shared: bool = False) -> str:
        """Listens, and returns the address that was bound. Raises OSError if that fails. With `shared`, other workers
        may listen there too, and the kernel spreads the connections."""
        self._connections.start_timer()
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(
            self._acceptor, host, port, backlog=BACKLOG, reuse_port=shared or None
        )
        bound_host, bound_port = self._listening.sockets[0].getsockname()[:2]
        return (
            f"http://[{bound_host}]:{bound_port}"
            if ":" in bound_host
            else f"http://{bound_host}:{bound_port}"
        )

    def hurry(self) -> None:
        """Streams that were to have some time have none any more."""
        self._handlers.hurry()

    async def stop(self, grace: float) -> None:
        await self._handlers.drain(grace)
        if self._listening is not None:
            self._listening.close()
            await asyncio.sleep(0)  # what has just arrived begins, and is no idle connection
            self._acceptor.pre_shutdown()
            await self._acceptor.shutdown(LEAVING_SECONDS)
        self._connections.close()

    # ── answering ──

    async def _answer(self, request: BaseRequest) -> StreamResponse:
        headers = request.headers
        request_id = request_id_of(headers, self._mint)
        surface: Surface | None = None
        try:
            self._hosts.check(headers.getall("Host", ()))
            route, names = routes.find(request.rel_url.path_safe)
            if route.surface is not None:
                surface = route.surface(self._handlers.surfaces)
            tenant = self._let_in(route, headers)
            handler = route.handler(request, websockets=self._handlers.open_sockets is not None)
            if handler is None:
                return self._wrong_method(route, surface, request, request_id)
            owner = self._tenants.owner(tenant, connection_of(request).address)
            incoming = Incoming(request, request_id, surface, tenant, owner)
            return await handler(self._objects[route.of], incoming, **names)
        except Fault as fault:
            return self._refusals.of_request(fault, request, request_id, surface)
        except FAILURES as failure:
            return self._refusals.of_request(fault_of(failure), request, request_id, surface)
        except ConnectionError:
            raise  # the client has left
        except Exception as bug:
            own = own_failure(bug, self._log.bind(request_id=request_id))
            return self._refusals.answer(own, request, request_id, surface)

    def _let_in(self, route: Route, headers: Mapping[str, str]) -> Tenant:
        # Who may see the inspector is asked by itself: its page is shown to whoever has yet to write a key.
        door = EVERYBODY if route.of is Inspection else self._doors.get(route.path.pattern, self._tenants)
        return door.of(headers)

    def _wrong_method(
        self, route: Route, surface: Surface | None, request: BaseRequest, request_id: str
    ) -> StreamResponse:
        fault, headers = route.method_fault(request)
        refusal = self._refusals.of_request(fault, request, request_id, surface)
        refusal.headers.update(headers)
        return refusal

    def _malformed(self, request: BaseRequest, error: BaseException | None) -> StreamResponse:
        request_id = request_id_of({}, self._mint)
        return self._refusals.of_bytes(malformed.fault_of(error), error, request, request_id)
