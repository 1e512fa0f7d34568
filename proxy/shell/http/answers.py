"""Answers over HTTP that are no stream: one JSON body, a text, or an error.

A failure is a status with an error as its body, until the first byte of a stream has left; after that the stream itself
tells the failure (E1). Every answer carries the id of its request.
"""

import re
from collections.abc import Mapping
from typing import Any

from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response, StreamResponse

from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.core.ids import Mint
from proxy.core.masking.redact import masked
from proxy.shell.http.body import ACCEPTED_CODINGS

HttpRequest = BaseRequest
HttpAnswer = StreamResponse

SERVER = "responses-proxy"
"""It has no version, which would tell attackers what runs here (S34)."""

REQUEST_ID_HEADERS = ("x-client-request-id", "x-request-id")
SAFE_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
"""Such an id cannot end a header line or forge a log line (S13)."""

JSON = "application/json"
JSON_HEADERS = {"Content-Type": JSON}
HINT_HEADERS: Mapping[str | None, Mapping[str, str]] = {
    "invalid_api_key": {"WWW-Authenticate": "Bearer"},
    "unsupported_media_type": {"Accept": "application/json"},
    "unsupported_encoding": {"Accept-Encoding": ", ".join(ACCEPTED_CODINGS)},
}
"""Headers that HTTP asks for with some errors, by code: how to authenticate, and what a body may be. The two reasons
for 415 differ in their header."""


def request_id_of(headers: Mapping[str, str], mint: Mint) -> str:
    """Returns the id of the client, which both sides then find in their logs. Default: a new one."""
    for name in REQUEST_ID_HEADERS:
        given = headers.get(name)
        if given and SAFE_REQUEST_ID.fullmatch(given) and masked(given) == given:
            return given
    return mint.make("req")


def answer(body: Any, request_id: str, *, status: int = 200) -> Response:
    headers = _headers(request_id, JSON_HEADERS)
    return Response(body=jsontext.dumps(body), status=status, headers=headers)


def text(body: bytes, content_type: str, request_id: str) -> Response:
    return Response(body=body, headers=_headers(request_id, {"Content-Type": content_type}))


def _headers(request_id: str, kind: Mapping[str, str]) -> dict[str, str]:
    return {**kind, "Server": SERVER, "X-Request-Id": request_id}


def error_response(fault: Fault, body: Any, request_id: str) -> Response:
    """`body` is the fault in the envelope of the surface that was asked."""
    response = answer(body, request_id, status=fault.status)
    response.headers.update(fault.headers)
    response.headers.update(HINT_HEADERS.get(fault.code, {}))
    if not fault.retryable:
        response.headers["X-Should-Retry"] = "false"
    return response
