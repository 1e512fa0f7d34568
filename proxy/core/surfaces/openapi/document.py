"""The description of the API for programs, as OpenAPI 3.1: each route with its requests and all its answers."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from proxy.core.surfaces.openapi.kept_schemas import INCLUDE, KEPT_ANSWERS, KEPT_REQUESTS, PAGE, STREAM
from proxy.core.surfaces.openapi.schemas import ANSWER_SCHEMAS, EVENT, OBJECT, STRING, ref, request_schemas

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
    500: "What is kept of it cannot be read.",
    502: "The backend could not be reached, or failed.",
    503: "The backend is overloaded or spared, the store does not answer, or the server is stopping.",
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


def _get(summary: str, content: Described, *errors: int) -> Described:
    return {"get": {"summary": summary, "responses": _answer(content) | _errors(*errors)}}


# ── what is kept ──


def _named(*names: str) -> Described:
    """The parameters in a path."""
    text = {"type": "string", "minLength": 1}
    return {"parameters": [{"name": name, "in": "path", "required": True, "schema": text} for name in names]}


def _queried(schemas: Mapping[str, Described]) -> Described:
    return {"parameters": [{"name": name, "in": "query", "schema": schemas[name]} for name in schemas]}


def _kept(summary: str, answer: str, *, streams: bool = False, **more: Any) -> Described:
    """Something that is kept is read or changed."""
    stream = {"text/event-stream": {"schema": EVENT}} if streams else {}
    return {
        "summary": summary,
        "responses": _answer(_json(ref(answer)) | stream) | _errors(400, 401, 404, 408, 413, 415, 500, 503),
        **more,
    }


def _sent(schema: str, *, required: bool = True) -> Described:
    return {"requestBody": {"required": required, "content": _json(ref(schema))}}


KEPT: Final[Described] = {
    "/v1/responses/{id}": {
        **_named("id"),
        "get": _kept("A stored response", "StoredResponse", streams=True, **_queried(INCLUDE | STREAM)),
        "delete": _kept("Delete it", "DeletedResponse"),
    },
    "/v1/responses/{id}/cancel": {
        **_named("id"),
        "post": _kept("End its work in the background", "StoredResponse"),
    },
    "/v1/responses/{id}/input_items": {
        **_named("id"),
        "get": _kept("What it was asked", "StoredItems", **_queried(PAGE | INCLUDE)),
    },
    "/v1/conversations": {
        "post": _kept("A new conversation", "Conversation", **_sent("NewConversation", required=False)),
    },
    "/v1/conversations/{id}": {
        **_named("id"),
        "get": _kept("A conversation", "Conversation"),
        "post": _kept("Replace its metadata", "Conversation", **_sent("NewMetadata")),
        "delete": _kept("Delete it", "DeletedConversation"),
    },
    "/v1/conversations/{id}/items": {
        **_named("id"),
        "get": _kept("Its items", "StoredItems", **_queried(PAGE | INCLUDE)),
        "post": _kept("Add items", "StoredItems", **_queried(INCLUDE), **_sent("NewItems")),
    },
    "/v1/conversations/{id}/items/{item}": {
        **_named("id", "item"),
        "get": _kept("One of its items", "StoredItem", **_queried(INCLUDE)),
        "delete": _kept("Take it out", "Conversation"),
    },
}


@cache
def document() -> Described:
    return {
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
            "/v1/responses/input_tokens": _ask(
                "How many tokens the input of a response would have",
                "InputTokensRequest",
                "InputTokens",
                streams=False,
            ),
            **KEPT,
            "/v1/chat/completions": _ask("A chat completion", "ChatRequest", "Completion"),
            "/native/v1/chat/completions": _ask(
                "A chat completion with parsed arguments, checked strictly", "NativeRequest", "Completion"
            ),
            "/v1/models": _get("All models", _json(ref("Models")), 401),
            "/v1/models/{id}": {**_named("id"), **_get("One model", _json(ref("Model")), 401, 404)},
            "/healthz": _get("Does the process live?", _json(ref("Status"))),
            "/readyz": _get("Does it take requests?", _json(ref("Status")), 503),
            "/metrics": _get(
                "What was counted, for Prometheus", {"text/plain": {"schema": STRING}}, 401, 403
            ),
            "/openapi.json": _get("This description", _json(OBJECT), 401),
        },
        "components": {
            "schemas": request_schemas() | KEPT_REQUESTS | ANSWER_SCHEMAS | KEPT_ANSWERS,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }
