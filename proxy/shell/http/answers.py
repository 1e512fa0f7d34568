"""Answers over HTTP: one JSON body, one error envelope, or one stream of server-sent events.

Until the first byte of a stream went out a failure is a status with an error as its body; from then on the stream
itself tells it (E1). Every answer, whoever refused what, carries the request's id.
"""

import re
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.core.ids import Mint
from proxy.core.masking.redact import masked
from proxy.shell.http.body import CODINGS

HttpRequest = web.BaseRequest
HttpAnswer = web.StreamResponse

SERVER = "responses-proxy"
"""Fixed, and without a version: what runs here is nobody's business (S34)."""

REQUEST_ID_HEADERS = ("x-client-request-id", "x-request-id")
SAFE_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
"""Nothing that could end a header line or forge a log line (S13)."""

JSON = "application/json"
JSON_HEADERS = {"Content-Type": JSON}
WAYS_OUT: Mapping[str | None, Mapping[str, str]] = {
    "invalid_api_key": {"WWW-Authenticate": "Bearer"},
    "unsupported_media_type": {"Accept": "application/json"},
    "unsupported_encoding": {"Accept-Encoding": ", ".join(CODINGS)},
}
"""What HTTP wants to be told besides a status, by the code: how to show who asks, what a body may be. Which of the two
headers comes tells the two reasons for 415 apart."""


def request_id_of(headers: Mapping[str, str], mint: Mint) -> str:
    """The client's own, so that both sides can find the request in their logs; else one of ours."""
    for name in REQUEST_ID_HEADERS:
        given = headers.get(name)
        if given and SAFE_REQUEST_ID.fullmatch(given) and masked(given) == given:
            return given
    return mint.make("req")


def answer(body: Any, request_id: str, *, status: int = 200) -> web.Response:
    headers = _headers(request_id, JSON_HEADERS)
    return web.Response(body=jsontext.dumps(body), status=status, headers=headers)


def text(body: bytes, content_type: str, request_id: str) -> web.Response:
    return web.Response(body=body, headers=_headers(request_id, {"Content-Type": content_type}))


def _headers(request_id: str, kind: Mapping[str, str]) -> dict[str, str]:
    return {**kind, "Server": SERVER, "X-Request-Id": request_id}


def error_response(fault: Fault, body: Any, request_id: str) -> web.Response:
    """`body`: the fault in the envelope of the surface that was asked."""
    response = answer(body, request_id, status=fault.status)
    response.headers.update(fault.headers)
    response.headers.update(WAYS_OUT.get(fault.code, {}))
    if not fault.retryable:
        response.headers["X-Should-Retry"] = "false"
    return response
