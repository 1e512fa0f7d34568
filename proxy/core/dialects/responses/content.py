"""What is no plain text in an item, in the API's words."""

from typing import Any

from proxy.core.dialects.writing.content_parts import ContentParts
from proxy.core.model import File, Image

IMAGE_DETAILS = frozenset({"low", "high", "auto", "original"})


def _image(image: Image) -> dict[str, Any]:
    detail = image.detail if image.detail in IMAGE_DETAILS else "auto"  # some servers want the word
    return {"type": "input_image", "image_url": image.url, "detail": detail}


def _file(file: File) -> dict[str, Any] | None:
    if file.data:
        return {"type": "input_file", "filename": file.name or "file", "file_data": file.data}
    if file.url:
        return {"type": "input_file", "file_url": file.url}
    return {"type": "input_file", "file_id": file.id} if file.id else None


CONTENT = ContentParts("input_text", _image, _file)
