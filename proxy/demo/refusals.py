"""How the demo says no: in OpenAI's words, with the place in the request that is at fault."""

from typing import Any

import orjson
from pydantic import ValidationError

from proxy.demo.wire import ChatRequest


class Refused(Exception):
    """An answer other than 200, in OpenAI's words."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


def read(body: bytes) -> ChatRequest:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(f"We could not parse the JSON body of your request: {error}") from error
    try:
        return ChatRequest.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        got = f" (got {first['input']!r:.80})" if isinstance(first["input"], str | int | float) else ""
        raise Refused(
            first["msg"] + got,
            param=path(first["loc"], value, missing=first["type"] == "missing"),
        ) from error


def path(loc: tuple[int | str, ...], document: Any, *, missing: bool) -> str | None:
    """pydantic's location, e.g. ('messages', 1, 'user', 'content'), as OpenAI writes it: messages[1].content.

    Steps into a union name its branch (a role, a type, a class), not a place in the document: those are left out.
    """
    text = ""
    for position, step in enumerate(loc):
        if isinstance(step, int):
            text += f"[{step}]"
            document = document[step]
        elif isinstance(document, dict) and step in document:
            text += f".{step}"
            document = document[step]
        elif missing and position == len(loc) - 1:
            text += f".{step}"
    return text.removeprefix(".") or None
