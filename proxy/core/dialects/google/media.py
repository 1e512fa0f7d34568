"""Images, sound and files as Gemini takes them: bytes in the request, or a link to them. Nothing is fetched here."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from proxy.core.dialects.writing import data_urls
from proxy.core.dialects.writing.content_parts import note_for_image
from proxy.core.dialects.writing.notes import NO_FILE
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Audio, File, Image
from proxy.core.profile import BackendProfile

GooglePart = dict[str, Any]

IN_RESULTS = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
"""These types may stand inside a tool's result."""

MEDIA_TYPES: Mapping[str, str] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "heic": "image/heic",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "csv": "text/csv",
    "html": "text/html",
    "mp3": "audio/mp3",
    "wav": "audio/wav",
    "mp4": "video/mp4",
}
"""The type by the ending of a file's name, where the client does not say it."""
UNTYPED = "application/octet-stream"


MediaOrNote = GooglePart | str
"""A string is a note that stands for what the backend cannot read."""


def of_user(part: Image | Audio | File, profile: BackendProfile, ledger: Ledger) -> MediaOrNote:
    """Raises ClientFault for a file that this backend cannot read."""
    match part:
        case Image():
            return _image(part, profile, ledger)
        case Audio():
            return {"inlineData": {"mimeType": f"audio/{part.format}", "data": part.data}}
        case _:
            return _file(part)


def of_tool(part: Image | Audio | File, profile: BackendProfile, ledger: Ledger) -> MediaOrNote:
    """Writes what a tool returned. A note stands for an unreadable file, because the agent could not prevent it."""
    try:
        return of_user(part, profile, ledger)
    except ClientFault:
        ledger.drop("file")
        return NO_FILE


def fits_result(part: GooglePart) -> bool:
    return part.get("inlineData", {}).get("mimeType") in IN_RESULTS


def _image(image: Image, profile: BackendProfile, ledger: Ledger) -> MediaOrNote:
    inline = _inline(image.url, image.url, image.path)
    note = note_for_image(profile, ledger, inside=inline is not None)
    return note or inline or _linked(image.url)


def _file(file: File) -> GooglePart:
    if file.data and (inline := _inline(file.data, file.name or "", file.path)):
        return inline
    if file.url:
        return _linked(file.url)
    what = "the id of a file at another service" if file.data is None else "no data URL"
    raise ClientFault(
        f"{file.path} cannot be read by the backend, for it is {what}: send a data URL, or a link as file_url.",
        param=file.path,
        code="unsupported_content",
    )


def _inline(url: str, name: str, path: str) -> GooglePart | None:
    """Writes the bytes of a data URL; None for any other URL."""
    found = data_urls.read(url, path)
    if found is None:
        return None
    kind = found.media_type or _type_of(name) or UNTYPED
    if replace(found, media_type=kind).is_text and not kind.startswith("text/"):
        kind = "text/plain"  # readable as what it is, and refused by its own name
    return {"inlineData": {"mimeType": kind, "data": found.base64}}


def _linked(url: str) -> GooglePart:
    kind = _type_of(urlsplit(url).path)
    return {"fileData": {"fileUri": url} | ({"mimeType": kind} if kind else {})}


def _type_of(name: str) -> str | None:
    return MEDIA_TYPES.get(name.rpartition(".")[2].lower())
