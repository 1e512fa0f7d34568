"""Writes what is no plain text in an item: images, sound and files as content parts, as far as the backend reads them.

Nothing is fetched here. A note replaces an image that the backend cannot read, because an agent's screenshots should
not end its session. A file that the backend cannot read is the client's mistake, and is refused.
"""

from typing import Any

from proxy.core.dialects.writing import data_urls
from proxy.core.dialects.writing.notes import MESSAGES, NO_FILE, NO_IMAGES, NO_LINKS, PARTS
from proxy.core.dialects.writing.unreadable import unreadable_file
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Audio, File, Image, Text
from proxy.core.profile import BackendProfile

ContentPart = str | dict[str, Any]
"""Text is kept as it is for as long as possible: nearly every message ends as one string."""

DETAILS = frozenset({"low", "high", "auto", "original"})


def content(blocks: list[list[ContentPart]]) -> str | list[dict[str, Any]]:
    """Joins the parts of some messages to the content of one: a string whenever it is only text, which every server
    reads."""
    if all(isinstance(part, str) for block in blocks for part in block):
        return MESSAGES.join(PARTS.join(block) for block in blocks)  # type: ignore[arg-type]  # all are strings
    return [listed(part) for block in blocks for part in block]


def listed(part: ContentPart) -> dict[str, Any]:
    return {"type": "input_text", "text": part} if isinstance(part, str) else part


def of_user(part: Text | Image | Audio | File, profile: BackendProfile, ledger: Ledger) -> ContentPart:
    """Raises ClientFault for a file that this backend cannot read."""
    match part:
        case Text():
            return part.text
        case Image():
            return _image(part, profile, ledger)
        case Audio():
            return {"type": "input_audio", "input_audio": {"data": part.data, "format": part.format}}
        case _:
            return _file(part, profile, ledger)


def of_tool(part: Text | Image | Audio | File, profile: BackendProfile, ledger: Ledger) -> ContentPart:
    """Writes what a tool returned. A note stands for an unreadable file, because the agent could not prevent it."""
    if isinstance(part, Text):  # nearly always
        return part.text
    try:
        return of_user(part, profile, ledger)
    except ClientFault:
        ledger.drop("file")
        return NO_FILE


def _image(image: Image, profile: BackendProfile, ledger: Ledger) -> ContentPart:
    if profile.images == "none" or (profile.images == "data" and not image.url.startswith("data:")):
        ledger.drop("image")
        return NO_IMAGES if profile.images == "none" else NO_LINKS
    detail = image.detail if image.detail in DETAILS else "auto"  # some servers want the word
    return {"type": "input_image", "image_url": image.url, "detail": detail}


def _file(file: File, profile: BackendProfile, ledger: Ledger) -> ContentPart:
    found = data_urls.read(file.data or "", file.path)
    if found and found.is_image:
        return _image(Image(file.data or ""), profile, ledger)
    if profile.files and file.data:
        return {"type": "input_file", "filename": file.name or "file", "file_data": file.data}
    if profile.files and file.url:
        return {"type": "input_file", "file_url": file.url}
    if profile.files and file.id:
        return {"type": "input_file", "file_id": file.id}
    if found and found.is_text:
        return f"{file.name or 'file'}:\n{found.text()}"
    raise unreadable_file(file, found)
