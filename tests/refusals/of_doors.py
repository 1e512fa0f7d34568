"""What is refused before anybody has looked into the request: the connection, the path, the key, the body."""

import gzip
from typing import Any

from tests.refusals.cases import Case, responses
from tests.refusals.worlds import AUTHORIZED

RIGHT = b'{"model": "m", "input": "Hi"}'
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket"}
HANDSHAKE = {**UPGRADE, "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


def _body(says: str, code: str | None, data: bytes, **more: Any) -> Case:
    return Case(says, None, code, body=data, **more)


def _raw(says: str, code: str | None, status: int, data: bytes, **more: Any) -> Case:
    return Case(says, None, code, status, body=data, kind="raw", **more)


POST = b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n"

BODIES = (
    _body("send a JSON object", None, b""),
    _body("Send one JSON object in UTF-8", "invalid_json", b"{"),
    _body("more than 1000000 values, lists", "too_many_values", b"[%b]" % (b"0," * 1_000_001)),
    _body(
        "must be application/json by its Content-Type",
        "unsupported_media_type",
        RIGHT,
        status=415,
        headers={"Content-Type": "text/plain"},
        tells={"Accept": "application/json"},
    ),
    _body(
        "use gzip or deflate, or none",
        "unsupported_encoding",
        RIGHT,
        status=415,
        headers={"Content-Encoding": "br"},
        tells={"Accept-Encoding": "gzip, deflate"},
    ),
    _body("mend it, or send it without Content-Encoding", None, RIGHT, headers={"Content-Encoding": "gzip"}),
    _body(
        "mend it, or send it without Content-Encoding",
        None,
        gzip.compress(RIGHT)[:-1],
        headers={"Content-Encoding": "gzip"},
    ),
    _body(
        "send less, or raise server.body_limit_mib",
        "request_too_large",
        b" " * 1_048_577,
        status=413,
        world="small",
    ),
    _body(
        "have server.memory_mib raised, or ask for less (a smaller body, a shorter history)",
        "request_too_large",
        b'{"model": "m", "input": "%b"}' % (b"x" * 3_000_000),
        status=413,
        world="narrow",
    ),
    _raw(
        "send it faster, or less of it",
        "request_timeout",
        408,
        POST + b"Content-Length: 9\r\n\r\n{",
        world="impatient",
    ),
    _raw(
        "with Content-Length, or in whole chunks",
        "invalid_framing",
        400,
        POST + b"Transfer-Encoding: chunked\r\n\r\n80000\r\n" + b" " * 0x80000 + b"\r\nnonsense\r\n",
    ),
    _raw("over 128 headers: send less", "head_too_large", 431, POST + b"X: %b\r\n\r\n" % (b"x" * 9_000)),
    _raw("up to the empty line behind it", "request_timeout", 408, POST, world="strict with heads"),
    _raw("send a request of its version 1.1, without TLS", None, 400, b"\x16\x03\x01\r\n\r\n"),
)

PATHS = (
    Case("GET /openapi.json lists the paths", None, "not_found", 404, path="/v1/completions", body={}),
    Case(
        "GET /v1/models lists those that there are",
        "model",
        "model_not_found",
        404,
        path="/v1/models/none",
        method="GET",
    ),
    Case(
        "use POST",
        None,
        "method_not_allowed",
        405,
        path="/v1/responses",
        method="GET",
        tells={"Allow": "POST"},
    ),
    Case(
        "use HTTP, with POST",
        None,
        "upgrade_required",
        426,
        path="/v1/responses",
        method="GET",
        headers=UPGRADE,
        world="without sockets",
        tells={"Allow": "POST", "Upgrade": "HTTP/1.1"},
    ),
)

HOSTS = (
    Case(
        "have the name added to server.allowed_hosts",
        None,
        "host_not_allowed",
        403,
        path="/v1/models",
        method="GET",
        headers={"Host": "evil.example"},
    ),
)

KEYS = (
    Case(
        "Send yours in the header 'Authorization: Bearer <key>'",
        None,
        "invalid_api_key",
        401,
        "authentication_error",
        path="/v1/models",
        method="GET",
        world="tenants",
        tells={"WWW-Authenticate": "Bearer"},
    ),
    Case(
        "put the digest of a key into metrics.keys",
        None,
        "permission_denied",
        403,
        "permission_error",
        path="/metrics",
        method="GET",
        headers=AUTHORIZED,
        world="tenants",
    ),
    responses(
        "Leave it out, or have it added to the list",
        "tools[0].name",
        "tool_not_allowed",
        status=403,
        type="permission_error",
        headers=AUTHORIZED,
        world="tenants",
        tools=[{"type": "function", "name": "launch"}],
    ),
    responses(
        "Leave it out, or have it added to the list",
        "tools[0].type",
        "tool_not_allowed",
        status=403,
        type="permission_error",
        headers=AUTHORIZED,
        world="tenants",
        tools=[{"type": "local_shell"}],
    ),
    responses(
        "Try again in ",
        None,
        "rate_limit_exceeded",
        status=429,
        type="rate_limit_error",
        headers=AUTHORIZED,
        world="rarely",
        times=2,
        tells={"Retry-After": "60"},
        input=None,
    ),
)


def _inspector(says: str, code: str, status: int, path: str = "data/requests", **more: Any) -> Case:
    return Case(says, None, code, status, path=f"/inspector/{path}", method="GET", **more)


INSPECTOR = (
    _inspector("page alone", "origin_not_allowed", 403, headers={"Origin": "https://x.example"}),
    _inspector("into inspector.keys", "permission_denied", 403, type="permission_error", world="tenants"),
    _inspector(
        "into inspector.keys",
        "permission_denied",
        403,
        type="permission_error",
        headers={"X-Forwarded-For": "203.0.113.7"},
    ),
    _inspector("see inspector.enabled", "not_found", 404, world="without inspector"),
    _inspector("There is no such file of the inspector.", "not_found", 404, path="none.js"),
    _inspector("inspector.requests says how many are kept", "not_found", 404, path="data/request?id=0"),
    _inspector(
        "The store of this proxy has nothing by this id for this tenant.",
        "not_found",
        404,
        path="data/stored",
    ),
)

THEIR_KEYS = tuple(
    _raw(
        "Send one in plain ASCII",
        "invalid_api_key",
        401,
        POST + b"Authorization: Bearer sk-%b\r\nContent-Length: %d\r\n\r\n%b" % (odd, len(RIGHT), RIGHT),
        world="their key",
        type="authentication_error",
        tells={"WWW-Authenticate": "Bearer"},
    )
    for odd in (b"\xe9", "é".encode(), b"a\tb")
)

SOCKETS = (
    Case(
        "send Connection: Upgrade, Upgrade: websocket, Sec-WebSocket-Version: 13 and a Sec-WebSocket-Key",
        None,
        "invalid_handshake",
        method="GET",
        headers=UPGRADE,
    ),
    Case(
        "connect from a program, or from a page of this origin",
        None,
        "origin_not_allowed",
        403,
        method="GET",
        headers=HANDSHAKE | {"Origin": "https://x.example"},
    ),
)

NO_ROOM = (
    Case(
        "close one, or try again later",
        None,
        "server_is_overloaded",
        503,
        "server_error",
        method="GET",
        headers=HANDSHAKE,
        world="full",
        tells={"Retry-After": "1"},
    ),
    responses(
        "try again later",
        None,
        "server_is_overloaded",
        status=503,
        type="server_error",
        world="busy",
        tells={"Retry-After": "1"},
    ),
)

CASES = (*INSPECTOR, *BODIES, *PATHS, *HOSTS, *KEYS, *THEIR_KEYS, *SOCKETS, *NO_ROOM)
