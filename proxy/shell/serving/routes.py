"""Which path leads where.

Routing is a table on aiohttp's low-level server. aiohttp's own router would answer some errors itself, in its own form;
here one module refuses everything, down to bytes that are no HTTP at all.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from operator import attrgetter
from typing import NamedTuple

from proxy.core.errors import ClientFault, NotFound
from proxy.core.masking.redact import quoted
from proxy.core.surfaces.surface import Surface
from proxy.shell.http.answers import HttpAnswer, HttpRequest
from proxy.shell.serving.conversations import Conversations
from proxy.shell.serving.handlers import Handlers, Surfaces
from proxy.shell.serving.inspection import Inspection
from proxy.shell.serving.stored_responses import StoredResponses

Handler = Callable[..., Awaitable[HttpAnswer]]

HEALTH, READINESS, METRICS = "/healthz", "/readyz", "/metrics"

WEBSOCKET = "GET, upgraded"
"""A row of its own among the methods of a path, because it leads elsewhere than a plain GET."""


class Route(NamedTuple):
    path: re.Pattern[str]
    methods: Mapping[str, Handler]
    surface: Callable[[Surfaces], Surface] | None = None
    """Reads the requests, and errors have its envelope. None: no surface reads them, and errors have OpenAI's."""
    of: type = Handlers
    """The class that the methods are of."""

    def handler(self, request: HttpRequest, *, websockets: bool) -> Handler | None:
        if websockets and WEBSOCKET in self.methods and _wants_websocket(request):
            return self.methods[WEBSOCKET]
        return self.methods.get("GET" if request.method == "HEAD" else request.method)

    @property
    def allowed(self) -> str:
        """The methods for the `Allow` header. Every GET allows HEAD, for which aiohttp leaves the body out."""
        methods = [method for method in self.methods if method != WEBSOCKET]
        return ", ".join(["GET, HEAD" if method == "GET" else method for method in methods])

    def method_fault(self, request: HttpRequest) -> tuple[ClientFault, Mapping[str, str]]:
        """Returns the fault for a method that the path does not have, and the headers that go with it."""
        headers = {"Allow": self.allowed}
        if _wants_websocket(request):
            # Codex tries a WebSocket first, and takes this status, and no other, as the word to use HTTP.
            message = f"WebSocket is not spoken here: use HTTP, with {self.allowed}."
            fault = ClientFault(message, status=426, code="upgrade_required")
            return fault, headers | {"Upgrade": "HTTP/1.1"}
        message = f"{quoted(request.method)} is not allowed here: use {self.allowed}."
        return ClientFault(message, status=405, code="method_not_allowed"), headers


RESPONSES, CONVERSATIONS = r"(?:/v1)?/responses", r"(?:/v1)?/conversations"
ID = r"(?P<id>[^/]+)"
RESPONSE = rf"{RESPONSES}/{ID}"
CONVERSATION = rf"{CONVERSATIONS}/{ID}"

ROUTES = (
    Route(
        re.compile(rf"{RESPONSES}/?"),
        {"POST": Handlers.ask, WEBSOCKET: Handlers.websocket},
        attrgetter("responses"),
    ),
    Route(re.compile(rf"{RESPONSES}/compact/?"), {"POST": Handlers.compact}, attrgetter("compaction")),
    Route(re.compile(rf"{RESPONSES}/input_tokens/?"), {"POST": Handlers.count}, attrgetter("counting")),
    Route(
        re.compile(rf"{RESPONSE}/?"),
        {"GET": StoredResponses.retrieve, "DELETE": StoredResponses.delete},
        attrgetter("responses"),
        of=StoredResponses,
    ),
    Route(
        re.compile(rf"{RESPONSE}/cancel/?"),
        {"POST": StoredResponses.cancel},
        attrgetter("responses"),
        of=StoredResponses,
    ),
    Route(
        re.compile(rf"{RESPONSE}/input_items/?"),
        {"GET": StoredResponses.input_items},
        attrgetter("responses"),
        of=StoredResponses,
    ),
    Route(re.compile(rf"{CONVERSATIONS}/?"), {"POST": Conversations.create}, of=Conversations),
    Route(
        re.compile(rf"{CONVERSATION}/?"),
        {"GET": Conversations.retrieve, "POST": Conversations.update, "DELETE": Conversations.delete},
        of=Conversations,
    ),
    Route(
        re.compile(rf"{CONVERSATION}/items/?"),
        {"GET": Conversations.items, "POST": Conversations.add},
        of=Conversations,
    ),
    Route(
        re.compile(rf"{CONVERSATION}/items/(?P<item>[^/]+)/?"),
        {"GET": Conversations.item, "DELETE": Conversations.drop},
        of=Conversations,
    ),
    Route(re.compile(r"(?:/v1)?/chat/completions/?"), {"POST": Handlers.ask}, attrgetter("chat")),
    Route(re.compile(r"/native(?:/v1)?/chat/completions/?"), {"POST": Handlers.ask}, attrgetter("native")),
    Route(re.compile(r"(?:/v1)?/models/?"), {"GET": Handlers.models}),
    Route(re.compile(r"(?:/v1)?/models/(?P<id>.+)"), {"GET": Handlers.model}),
    Route(re.compile(HEALTH), {"GET": Handlers.health}),
    Route(re.compile(READINESS), {"GET": Handlers.readiness}),
    Route(re.compile(METRICS), {"GET": Handlers.metrics}),
    Route(re.compile(r"/openapi\.json"), {"GET": Handlers.openapi}),
    Route(re.compile(r"/inspector/?"), {"GET": Inspection.page}, of=Inspection),
    *(
        Route(re.compile(f"/inspector/data/{name}"), {"GET": method}, of=Inspection)
        for name, method in Inspection.DATA.items()
    ),
    Route(re.compile(r"/inspector/(?P<file>[a-z]+\.[a-z]+)"), {"GET": Inspection.file}, of=Inspection),
)

PLAIN = {
    path: next(route for route in ROUTES if route.path.fullmatch(path))
    for path in ("/v1/responses", "/v1/chat/completions")
}
"""The paths of nearly all requests, each with the route that is found for it."""


def find(path: str) -> tuple[Route, dict[str, str]]:
    """Returns the first route that matches, and the names in the path. In the path itself slashes within a name are
    still encoded. Raises NotFound."""
    if (route := PLAIN.get(path)) is not None:
        return route, {}
    for route in ROUTES:
        if found := route.path.fullmatch(path):
            return route, {name: _decoded(text) for name, text in found.groupdict().items()}
    message = f"There is nothing at {quoted(_decoded(path))}. GET /openapi.json lists the paths."
    raise NotFound(message, code="not_found")


def _decoded(name: str) -> str:
    """The rest was decoded before."""
    return name.replace("%2F", "/").replace("%25", "%")


def _wants_websocket(request: HttpRequest) -> bool:
    return request.method == "GET" and request.headers.get("Upgrade", "").strip().lower() == "websocket"
