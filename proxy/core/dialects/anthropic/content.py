"""Text, images and files as content blocks of the Messages API, as far as there is one for them.

Nothing is fetched here. What the user sent and the API has no block for is refused by name. In the result of a tool a
note stands for it, since the agent could not prevent it.
"""

from typing import Any

from proxy.core.dialects.writing import data_urls
from proxy.core.dialects.writing.data_urls import DataUrl
from proxy.core.dialects.writing.notes import UNREADABLE
from proxy.core.errors import ClientFault, Incompatible
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import shown
from proxy.core.model import Audio, File, Image, UserPart

Block = dict[str, Any]

IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
PDF = "application/pdf"


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def of_user(part: UserPart) -> Block | None:
    """Gives None for text without a visible character, which the API refuses. Raises ClientFault for what the API has
    no block for."""
    match part:
        case str():
            return text(part) if part.strip() else None
        case Image():
            return _image(part.url, part.path)
        case Audio():
            raise _cannot("audio", "its transcript", part.path)
        case _:
            return _file(part)


def of_tool(part: UserPart, ledger: Ledger) -> Block | None:
    """Writes what a tool returned: a note stands for what the API has no block for."""
    try:
        return of_user(part)
    except ClientFault:
        ledger.drop("tool_output_part")
        return text(UNREADABLE)


def _cannot(feature: str, instead: str, path: str) -> Incompatible:
    feature = shown(feature)
    return Incompatible(
        f"{path} cannot be read by the backend, for it is {feature}: send {instead} instead.",
        param=path,
        code="unsupported_content",
        details={"incompatible_features": [feature]},
    )


def _image(url: str, path: str) -> Block:
    data = data_urls.read(url, path)
    if data is None:
        return {"type": "image", "source": {"type": "url", "url": url}}
    if data.media_type not in IMAGES:
        raise _cannot(data.media_type or "an image without a type", "a jpeg, png, gif or webp", path)
    return {"type": "image", "source": _base64(data)}


def _file(file: File) -> Block:
    data = data_urls.read(file.data or "", file.path)
    if data and data.is_image:
        return _image(file.data or "", file.path)
    title = {"title": file.name} if file.name else {}
    return {"type": "document", "source": _source(file, data), **title}


def _source(file: File, data: DataUrl | None) -> Block:
    if data and data.media_type == PDF:
        return _base64(data)
    if data and data.is_text:
        return {"type": "text", "media_type": "text/plain", "data": data.text()}
    if data or file.data:
        kind = data.media_type if data and data.media_type else "a file without a type"
        raise _cannot(kind, "its text", file.path)
    if file.url:
        return {"type": "url", "url": file.url}
    if file.id:
        return {"type": "file", "file_id": file.id}
    raise _cannot("an empty file", "its text", file.path)


def _base64(data: DataUrl) -> Block:
    return {"type": "base64", "media_type": data.media_type, "data": data.base64}
