"""What is no plain text in a message, in Chat's words."""

from typing import Any

from proxy.core.dialects.writing.content_parts import ContentParts
from proxy.core.model import File, Image

IMAGE_DETAILS = frozenset({"low", "high"})
"""`auto` is the default, and most servers do not know other words."""


def _image(image: Image) -> dict[str, Any]:
    detail = {"detail": image.detail} if image.detail in IMAGE_DETAILS else {}
    return {"type": "image_url", "image_url": {"url": image.url, **detail}}


def _file(file: File) -> dict[str, Any] | None:
    if file.data:
        return {"type": "file", "file": {"filename": file.name or "file", "file_data": file.data}}
    return {"type": "file", "file": {"file_id": file.id}} if file.id else None


CONTENT = ContentParts("text", _image, _file)
