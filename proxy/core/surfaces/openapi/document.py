"""The description of the API for programs, as OpenAPI 3.1: each route with its requests and all its answers."""

from typing import Any, Final

from proxy.core.surfaces.openapi.schemas import ANSWER_SCHEMAS, EVENT, OBJECT, REQUEST_SCHEMAS, STRING, ref

Described = dict[str, Any]

ERRORS: Final = {
    400: "Something in the request is wrong; `param` says where.",
    401: "No valid key was sent.",
    403: "Whoever asks may not have it.",
    404: "What the request names does not exist.",
    408: "The request took too long to arrive.",
    413: "The request is over a limit.",
    415: "Its media type or encoding is not spoken here.",
    429: "The limit of the tenant, or of the backend, is reached.",
    502: "The backend could not be reached, or failed.",
    503: "The backend is overloaded or spared, or the server is stopping.",
    504: "The backend did not answer in time.",
}


def _json(schema: Described) -> Described:
    return {"application/json": {"schema": schema}}


def _errors(*statuses: int) -> Described:
    return {
        str(status): {"description": ERRORS[status], "content": _json(ref("Error"))} for status in statuses
    }


def _answer(content: Described) -> Described:
    return {"200": {"description": "The answer.", "content": content}}


def _ask(summary: str, request: str, answer: str, *, streams: bool = True) -> Described:
    """A route that answers with one body, or with a stream if `stream` is true."""
    stream = {"text/event-stream": {"schema": EVENT}} if streams else {}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": _json(ref(request))},
            "responses": _answer(_json(ref(answer)) | stream) | _errors(*ERRORS),
        }
    }


def _look(summary: str, content: Described, *errors: int) -> Described:
    return {"get": {"summary": summary, "responses": _answer(content) | _errors(*errors)}}


def _never(summary: str) -> Described:
    return {"summary": summary, "responses": _errors(401, 404)}


ID: Final = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
NOT_STORED = "Nothing is stored here, so there is nothing to find."

DOCUMENT: Final[Described] = {
    "openapi": "3.1.0",
    "info": {
        "title": "responses-proxy",
        "version": "1",
        "description": "The Responses API, and two forms of Chat Completions, in front of any backend.",
    },
    "security": [{}, {"bearer": []}, {"key": []}],
    "paths": {
        "/v1/responses": _ask("A response", "ResponsesRequest", "Response"),
        "/v1/responses/compact": _ask(
            "A conversation made shorter", "CompactionRequest", "Compaction", streams=False
        ),
        "/v1/responses/{id}": {
            "parameters": [ID],
            "get": _never(NOT_STORED),
            "post": _never(NOT_STORED),
            "delete": _never(NOT_STORED),
        },
        "/v1/chat/completions": _ask("A chat completion", "ChatRequest", "Completion"),
        "/native/v1/chat/completions": _ask(
            "A chat completion with parsed arguments, checked strictly", "NativeRequest", "Completion"
        ),
        "/v1/models": _look("All models", _json(ref("Models")), 401),
        "/v1/models/{id}": {"parameters": [ID], **_look("One model", _json(ref("Model")), 401, 404)},
        "/healthz": _look("Does the process live?", _json(ref("Status"))),
        "/readyz": _look("Does it take requests?", _json(ref("Status")), 503),
        "/metrics": _look("What was counted, for Prometheus", {"text/plain": {"schema": STRING}}, 401, 403),
        "/openapi.json": _look("This description", _json(OBJECT), 401),
    },
    "components": {
        "schemas": REQUEST_SCHEMAS | ANSWER_SCHEMAS,
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer"},
            "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
        },
    },
}
