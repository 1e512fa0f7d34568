"""Bytes in JSON, exactly: as text where they are text, so that people can read them."""

from base64 import b64decode, b64encode
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, PlainSerializer

from proxy.core import jsontext


def blob(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def unblob(value: Any) -> bytes:
    match value:
        case {"text": str(text)}:
            return text.encode("utf-8", "surrogatepass")
        case {"base64": str(coded)}:
            return b64decode(coded, validate=True)
        case bytes():
            return value
        case _:
            raise ValueError("bytes stand as 'text' or as 'base64'")


def _json(data: bytes) -> bytes:
    jsontext.strict(data)
    return data


def _json_list(data: bytes) -> bytes:
    if not isinstance(jsontext.strict(data), list):
        raise ValueError("a list is wanted")
    return data


Data = Annotated[bytes, BeforeValidator(unblob), PlainSerializer(blob)]
JsonData = Annotated[Data, AfterValidator(_json)]
JsonList = Annotated[Data, AfterValidator(_json_list)]
