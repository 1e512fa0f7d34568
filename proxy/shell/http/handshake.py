"""Checks the request that a WebSocket begins with."""

from urllib.parse import urlsplit

from aiohttp.web_ws import WebSocketResponse

from proxy.core.errors import ClientFault, Fault
from proxy.shell.http.answers import HttpRequest

HANDSHAKE = (
    "This is not a valid WebSocket handshake: send Connection: Upgrade, Upgrade: websocket, "
    "Sec-WebSocket-Version: 13 and a Sec-WebSocket-Key of 16 bytes in base64."
)


def handshake_fault(request: HttpRequest) -> Fault | None:
    if not WebSocketResponse().can_prepare(request):
        return ClientFault(HANDSHAKE, code="invalid_handshake")
    if _comes_from_elsewhere(request):
        return ClientFault(
            "Web pages of other origins are not served: connect from a program, or from a page of this origin.",
            status=403,
            code="origin_not_allowed",
        )
    return None


def _comes_from_elsewhere(request: HttpRequest) -> bool:
    """Does a web page of another origin ask? Browsers let any page open a WebSocket to any server."""
    origin = request.headers.get("Origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != request.host
    except ValueError:  # not even an address
        return True
