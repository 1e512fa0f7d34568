"""A request as the shell's tests put it to a scripted backend."""

from proxy.core.backends.post import Post
from proxy.shell.http.exchange import HttpExchange
from proxy.shell.http.transport import Timeouts
from tests.support.sockets import ScriptedBackend

PATIENT = Timeouts(connect=5, first_byte=5, idle=5, total=5)
SOON = 0.05


def post(backend: ScriptedBackend, body: bytes = b"{}") -> Post:
    return Post(f"{backend.url}/chat/completions", {"Content-Type": "application/json"}, body)


async def read_all(exchange: HttpExchange) -> bytes:
    received = b""
    while data := await exchange.read():
        received += data
    return received
